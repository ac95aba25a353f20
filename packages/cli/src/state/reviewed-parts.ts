// The text that a model gets about a change that the user took in parts, and its way back to facts for the screen.

interface PartOfChange {
  /** The first line of the part in the new content. */
  readonly line: number;
  readonly isTaken: boolean;
  readonly note: string;
}

/**
 * Tells the model which parts of a change the user accepted and left out, and what the user said about them. The text is
 * English in every language of the app: models read it.
 */
export function describeReviewedParts(parts: readonly PartOfChange[]): string {
  const taken = parts.filter(({ isTaken }) => isTaken).length;
  const each = parts.map(({ line, isTaken, note }, index) => {
    const state = isTaken ? "taken" : "left out";
    return `part ${index + 1} (around line ${line}): ${state}${note === "" ? "" : `, with the words: ${note}`}`;
  });
  return `of this change I took ${taken} of ${parts.length} parts.\n${each.join("\n")}`;
}

/** Finds such a text in what the model got; null if there is none. */
export function readReviewedParts(text: string): readonly PartOfChange[] | null {
  const [, each = ""] =
    /of this change I took \d+ of \d+ parts\.\n((?:part \d+ \(around[\s\S]*)?)/.exec(text) ?? [];
  const found = each.matchAll(
    /^part \d+ \(around line (\d+)\): (taken|left out)(?:, with the words: (.*))?$/gm,
  );
  const parts = [...found].map(([, line, state, note = ""]) => {
    return { line: Number(line), isTaken: state === "taken", note };
  });
  return parts.length === 0 ? null : parts;
}
