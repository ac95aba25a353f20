import type { Decision, FileDiff } from "@burin/core";
import { applyHunkParts } from "@burin/core/internal";
import { describeReviewedParts } from "../../commands/words-for-models.ts";
import type { PickedParts } from "../../ui/hunk-picker.ts";

/** The answer to an edit of which the user took some parts, and said something to some. */
export function buildDecision(diff: FileDiff, parts: PickedParts): Decision {
  const taken = parts.filter(({ isTaken }) => isTaken);
  const hasWords = parts.some(({ note }) => note !== "");
  const isWhole = taken.length === parts.length;
  if (isWhole && !hasWords) return { outcome: "once" };
  const reason = describeReviewedParts(
    parts.map(({ hunk, isTaken, note }) => ({ line: Number(/\+(\d+)/.exec(hunk)?.[1] ?? 0), isTaken, note })),
  );
  if (taken.length === 0) return { outcome: "cancel", reason };
  const hunks = taken.map(({ hunk }) => hunk);
  return { outcome: "edited", content: isWhole ? diff.newContent : applyHunkParts(diff, hunks), reason };
}
