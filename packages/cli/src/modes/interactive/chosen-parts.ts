import type { Decision, FileDiff } from "@burin/core";
import { contentWithParts } from "@burin/core/internal";
import { partsInWords } from "../../commands/words-for-models.ts";
import type { ChosenParts } from "../../ui/hunk-picker.ts";

/** The answer to an edit of which the user took some parts, and said something to some. */
export function decisionFor(diff: FileDiff, parts: ChosenParts): Decision {
  const taken = parts.filter(({ isTaken }) => isTaken);
  const hasWords = parts.some(({ note }) => note !== "");
  const isWhole = taken.length === parts.length;
  if (isWhole && !hasWords) return { outcome: "once" };
  const reason = partsInWords(
    parts.map(({ hunk, isTaken, note }) => ({ line: Number(/\+(\d+)/.exec(hunk)?.[1] ?? 0), isTaken, note })),
  );
  if (taken.length === 0) return { outcome: "cancel", reason };
  const hunks = taken.map(({ hunk }) => hunk);
  return { outcome: "edited", content: isWhole ? diff.newContent : contentWithParts(diff, hunks), reason };
}
