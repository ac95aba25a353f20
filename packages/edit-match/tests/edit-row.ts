import { applyReplacements, findEdit } from "../src/edit-match.ts";

/** One edit of a file, and what the file is to be afterwards. */
export interface EditRow {
  readonly what: string;
  readonly content: string;
  readonly old: string;
  readonly new: string;
  /** Absent where only a refusal is right. */
  readonly result?: string;
}

export function applyRow({ content, old, new: newText }: EditRow): string | undefined {
  const match = findEdit({ content, oldText: old, newText, expected: 1 });
  return match.status === "matched" ? applyReplacements(content, match.replacements) : undefined;
}
