/** How one line is indented: by the model in its old text, in the file, and (if it kept the line) in its new text. */
export interface IndentSample {
  readonly before: string;
  readonly file: string;
  readonly after?: string;
  /** The index of the token the line begins with. */
  readonly token: number;
}

/** Turns an indentation of the new text into the file's; undefined when the evidence does not settle it. */
type Reindent = (indent: string, nearToken: number) => string | undefined;

export interface Indentation {
  readonly reindent: Reindent;
  /** How the new text is indented: no mistake seen, like the file, like the mistaken old text, or cannot be told. */
  readonly style: "same" | "file" | "model" | "unclear";
  /** Whether it seems to be like the one in some lines and like the other in others. */
  readonly mixed: boolean;
}

/**
 * Learns from the lines that both sides have how the model's indentation differs from the file's. New text
 * that was already written in the file's own style is left alone.
 */
export function learnIndentation(
  samples: readonly IndentSample[],
  newIndents: readonly string[],
): Indentation {
  const off = samples.filter((sample) => sample.before !== sample.file);
  const style = off.length === 0 ? "same" : (styleByKind(off, newIndents) ?? styleOf(off, newIndents));
  if (style === "same" || style === "file") return { style, mixed: false, reindent: (indent) => indent };
  if (style === "unclear") return { style, mixed: isMixed(off), reindent: () => undefined };
  const rule = byPair(samples) ?? (() => undefined);
  const shift = byShift(samples) ?? byWidth(samples);
  const reindent: Reindent = (indent, nearToken) =>
    rule(indent) ?? (shift === undefined ? byNeighbours(samples, indent, nearToken) : shift(indent));
  return { style, mixed: false, reindent };
}

function isMixed(off: readonly IndentSample[]): boolean {
  return off.some(({ after, before }) => after === before) && off.some(({ after, file }) => after === file);
}

/**
 * Whose style the new text is in. Lines nested one level deeper by the change can look as if they were in the
 * file's style, so the outermost kept lines decide, and a new text that starts further left than the file's
 * own lines is not believed to be in the file's style.
 */
function styleOf(off: readonly IndentSample[], newIndents: readonly string[]): "model" | "file" | "unclear" {
  const compared = off.filter(({ after, before, file }) => after === before || after === file);
  const [first, last] = [compared[0], compared[compared.length - 1]];
  if (first === undefined || last === undefined) {
    return off.some(({ after }) => after !== undefined) ? "unclear" : "model";
  }
  if (first.after === first.before && last.after === last.before) return "model";
  const allFile = compared.every((sample) => sample.after === sample.file);
  const fileLeast = least(off.map((sample) => sample.file));
  const modelLeast = least(off.map((sample) => sample.before));
  const newLeast = least(newIndents);
  return allFile && (newLeast === fileLeast || newLeast !== modelLeast) ? "file" : "unclear";
}

/** Where one has tabs and the other spaces, the new text shows at once whose it has. */
function styleByKind(
  off: readonly IndentSample[],
  newIndents: readonly string[],
): "model" | "file" | undefined {
  const [given, file, fresh] = [off.map(({ before }) => before), off.map(({ file }) => file), newIndents].map(
    kindOf,
  );
  if (given === undefined || file === undefined || given === file) return undefined;
  return fresh === given ? "model" : fresh === file ? "file" : undefined;
}

/** What all indentations consist of. */
function kindOf(indents: readonly string[]): "\t" | " " | undefined {
  const all = indents.join("");
  return /^\t+$/.test(all) ? "\t" : /^ +$/.test(all) ? " " : undefined;
}

function least(indents: readonly string[]): number {
  return indents.reduce((low, indent) => Math.min(low, indent.length), Number.POSITIVE_INFINITY);
}

function byPair(samples: readonly IndentSample[]): ((indent: string) => string | undefined) | undefined {
  const pairs = new Map<string, string>();
  for (const { before, file } of samples) {
    if ((pairs.get(before) ?? file) !== file) return undefined;
    pairs.set(before, file);
  }
  return (indent) => pairs.get(indent);
}

/** The same blanks put before every line, or taken from every line. */
function byShift(samples: readonly IndentSample[]): ((indent: string) => string | undefined) | undefined {
  const first = samples.find((sample) => sample.before !== sample.file);
  if (first === undefined) return undefined;
  const added = first.file.endsWith(first.before)
    ? first.file.slice(0, first.file.length - first.before.length)
    : "";
  if (added !== "" && samples.every(({ before, file }) => file === added + before)) {
    return (indent) => added + indent;
  }
  const taken = first.before.endsWith(first.file)
    ? first.before.slice(0, first.before.length - first.file.length)
    : "";
  if (taken !== "" && samples.every(({ before, file }) => before === taken + file)) {
    return (indent) => (indent.startsWith(taken) ? indent.slice(taken.length) : undefined);
  }
  return undefined;
}

/** Another unit (tabs for spaces, two for four), perhaps shifted as well: widths on one straight line. */
function byWidth(samples: readonly IndentSample[]): ((indent: string) => string | undefined) | undefined {
  const from = unitsOf(samples.map((sample) => sample.before));
  const to = unitsOf(samples.map((sample) => sample.file));
  if (from === undefined || to === undefined) return undefined;
  const points = samples.map(({ before, file }) => ({ x: from.widthOf(before), y: to.widthOf(file) }));
  const low = points.reduce((a, b) => (b.x < a.x ? b : a));
  const high = points.reduce((a, b) => (b.x > a.x ? b : a));
  const slope = low.x === high.x ? soleSlope(low) : (high.y - low.y) / (high.x - low.x);
  if (slope === undefined || slope <= 0) return undefined;
  const yOf = (x: number) => low.y + (x - low.x) * slope;
  const sameSign = from.write(1) === to.write(1);
  if (sameSign && slope !== 1 && (yOf(0) !== 0 || to.write(1) === "\t")) return undefined;
  if (points.some(({ x, y }) => Math.abs(yOf(x) - y) > 1e-9)) return undefined;
  return (indent) => {
    if (!from.fits(indent)) return to.fits(indent) ? indent : undefined;
    const y = yOf(from.widthOf(indent));
    if (y < 0) return undefined;
    const whole = Math.floor(y + 1e-9);
    const rest = Math.round((y - whole) / slope);
    if (rest === 0) return to.write(whole);
    return to.write(1) === "\t" ? to.write(whole) + " ".repeat(rest) : undefined;
  };
}

/** One line alone tells the unit only when it is indented on both sides. */
function soleSlope({ x, y }: { x: number; y: number }): number | undefined {
  return x > 0 && y > 0 ? y / x : undefined;
}

interface Units {
  readonly widthOf: (indent: string) => number;
  readonly fits: (indent: string) => boolean;
  readonly write: (width: number) => string;
}

function unitsOf(indents: readonly string[]): Units | undefined {
  const sign = indents.some((indent) => indent.includes("\t")) ? "\t" : " ";
  const fits = (indent: string) => (sign === "\t" ? /^\t*$/ : /^ *$/).test(indent);
  if (!indents.every(fits)) return undefined;
  return { widthOf: (indent) => indent.length, fits, write: (width) => sign.repeat(width) };
}

/** No rule for all lines: the nearest known lines above and below must agree on what to add or take. */
function byNeighbours(
  samples: readonly IndentSample[],
  indent: string,
  nearToken: number,
): string | undefined {
  const above = samples.findLast((sample) => sample.token <= nearToken);
  const below = samples.find((sample) => sample.token > nearToken);
  if (above === undefined || below === undefined) return undefined;
  const answer = relativeTo(above, indent);
  return answer === relativeTo(below, indent) ? answer : undefined;
}

function relativeTo({ before, file }: IndentSample, indent: string): string | undefined {
  if (indent.startsWith(before)) return file + indent.slice(before.length);
  const less = before.slice(indent.length);
  return before.startsWith(indent) && file.endsWith(less)
    ? file.slice(0, file.length - less.length)
    : undefined;
}
