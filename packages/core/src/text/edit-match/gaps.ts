/** The blanks between two tokens that stand on different lines, by whom they belong to. */
export interface Gap {
  /** Whether a line ends in it; otherwise everything is in `indent`. */
  readonly vertical: boolean;
  /** Blanks at the end of the line before. */
  readonly trail: string;
  /** The line end and the blank lines after it. */
  readonly breaks: string;
  /** What the next line begins with. */
  readonly indent: string;
}

export function splitGap(gap: string): Gap {
  const last = gap.lastIndexOf("\n");
  if (last < 0) return { vertical: false, trail: "", breaks: "", indent: gap };
  const trail = /^[^\r\n]*/.exec(gap)?.[0] ?? "";
  return {
    vertical: true,
    trail,
    breaks: gap.slice(trail.length, last + 1),
    indent: gap.slice(last + 1),
  };
}

export function lineFeeds(text: string): string {
  return text.includes("\r") ? text.replaceAll("\r\n", "\n") : text;
}

export function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The line end used around `at`, so that what is written there does not mix. */
export function lineEndAt(content: string, at: number): string {
  const after = content.indexOf("\n", at);
  const near = after >= 0 ? after : content.lastIndexOf("\n", at);
  return near > 0 && content[near - 1] === "\r" ? "\r\n" : "\n";
}

export function withLineEnd(text: string, lineEnd: string): string {
  return text.includes("\n") ? text.replace(/\r?\n/g, lineEnd) : text;
}

/** Beside what is changed, blank lines that the old text has wrong: the edit may be about them as well. */
export function miscountsBlankLines(before: string, file: string): boolean {
  const [o, f] = [before, file].map(countLineFeeds);
  return o !== f && o !== 0 && f !== 0;
}
