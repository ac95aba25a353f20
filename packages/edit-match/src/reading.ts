import { decodeEntities, ENTITY } from "./fold.ts";
import { commonEnds } from "./learned.ts";
import { isHalf } from "./lines.ts";

/** The two texts, as they may be meant. */
export interface Reading {
  readonly oldText: string;
  readonly newText: string;
  /** The mistakes that were put right to get there. */
  readonly repairs: readonly string[];
}

/** A mistake that goes through a whole text, and the text without it; nothing where the text does not have it. */
interface Repair {
  readonly name: string;
  readonly read: (text: string, side: "old" | "new") => string | undefined;
  /** Where the mistake is one in single signs, what they look like. */
  readonly signs?: RegExp;
}

const INVISIBLE = "invisible characters";
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** A reading in which backslashes before some signs are too many; with `n` among them the text is one long line. */
function unescaping(signs: RegExp): Repair {
  const isOfOneLine = signs.source.includes("n");
  const read = (text: string) => {
    if (!/[nt]/.test(signs.source)) return text.replace(signs, "$1");
    const isOther = isOfOneLine && (text.trim().includes("\n") || !text.includes("\\n"));
    return isOther ? text : text.replace(signs, (_, sign) => ESCAPED[sign] ?? sign);
  };
  return { name: "escapes", read, signs };
}

const REPAIRS: readonly Repair[] = [
  { name: INVISIBLE, read: (text) => text.replace(/[\u200b\u2060\ufeff\u00ad]/g, "") },
  { name: "code fences", read: (text) => withoutFence(text)?.concat("\n") },
  { name: "line numbers", read: (...said) => withoutNumbers(said, /^(?: *L?\d+ ?(?:→|\||\t)| *L?\d+:)/) },
  { name: "line numbers", read: (...said) => withoutNumbers(said, /^(?: *L?\d+ ?[:|] )/) },
  { name: "diff markers", read: withoutMarkers },
  { name: "diff markers", read: (text, side) => text.replace(side === "old" ? /^-/gm : /^\+/gm, "") },
  unescaping(/\\(["'`$])/g),
  unescaping(/\\(")/g),
  unescaping(/\\(\\)/g),
  unescaping(/\\(["\\])/g),
  unescaping(/\\(["'`\\])/g),
  unescaping(/\\(n)/g),
  unescaping(/\\([nt])/g),
  unescaping(/\\([ntr"'`\\/])/g),
  unescaping(/\\(t)/g),
  { name: "HTML entities", read: decodeEntities, signs: ENTITY },
];

const MOST_READINGS = 24;

const FOREIGN: readonly (readonly [signs: RegExp, plain: string])[] = [
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
  [/[\u200b\u2060\ufeff\u00ad]/g, ""],
];

/** Blanks that look like plain ones, or like nothing, are a slip in a text for a file that has none. */
export function withoutForeign(content: string, { oldText, newText }: Reading): Reading {
  const foreign = FOREIGN.filter(([signs]) => oldText.search(signs) >= 0 && content.search(signs) < 0);
  const plain = (text: string) => foreign.reduce((read, [signs, sign]) => read.replace(signs, sign), text);
  return { oldText: plain(oldText), newText: plain(newText), repairs: foreign.length > 0 ? [INVISIBLE] : [] };
}

/** The texts as they are, and without each mistake that the old one has; two at once as well. */
export function readingsOf(first: Reading, leaveOut: readonly string[]): Reading[] {
  const readings: Reading[] = [first];
  const isKnown = ({ oldText, newText }: Reading) =>
    readings.some((known) => known.oldText === oldText && known.newText === newText);
  for (const one of readings) {
    if (one.repairs.length === 2) break;
    for (const fresh of furtherReadings(one, leaveOut)) {
      if (readings.length < MOST_READINGS && !isKnown(fresh)) readings.push(fresh);
    }
  }
  return readings;
}

function furtherReadings(one: Reading, leaveOut: readonly string[]): Reading[] {
  return REPAIRS.flatMap((repair) => {
    if (leaveOut.includes(repair.name) || one.repairs.includes(repair.name)) return [];
    const oldText = repair.read(one.oldText, "old");
    if (oldText === undefined || oldText === one.oldText || oldText.trim() === "") return [];
    const repairs = [...one.repairs, repair.name];
    return newTextsOf(one, oldText, repair).map((newText) => ({ oldText, newText, repairs }));
  });
}

/** The new text has the mistake as well when it is nearer to the old text with it than to the one without it. */
function newTextsOf(
  { oldText, newText }: Reading,
  read: string,
  { name, read: repair, signs }: Repair,
): string[] {
  // A line that stays has no marker.
  const isKept = (line: string) => line.startsWith("-") && oldText.split("\n").includes(line);
  if (name === "diff markers" && newText.split("\n").some(isKept)) return [];
  const fresh = repair(newText, "new");
  if (fresh === undefined || fresh === newText) return [newText];
  // The two texts have other markers.
  if (name === "diff markers") return [fresh];
  if (signs !== undefined && splitsString(oldText, read, fresh)) return [];
  const [withIt, without] = [nearness(newText, oldText, read), nearness(newText, read, oldText)];
  if (withIt !== without) return withIt > without ? [fresh] : [newText];
  return signs !== undefined && !hasBoth(newText, signs, repair) ? [fresh] : [fresh, newText];
}

/** Whether the text has a sign with the mistake and without it. */
function hasBoth(text: string, signs: RegExp, read: Repair["read"]): boolean {
  const rest = text.replace(signs, "").trim();
  return (text.match(signs) ?? []).some((sign) => rest.includes(read(sign, "new") ?? sign));
}

/** A line break amid new text between quotes was an escape that is meant. */
function splitsString(oldText: string, read: string, fresh: string): boolean {
  if (oldText.trim().includes("\n")) return false;
  const had = new Set(read.split("\n"));
  const lines = fresh.split("\n");
  const isOpen = (line: string, quote: string) => !had.has(line) && isHalf(line, quote);
  return ['"', "'"].some((quote) =>
    lines.some((line, at) => at > 0 && isOpen(line, quote) && isOpen(lines[at - 1] ?? "", quote)),
  );
}

/** How much of a text is in `one` and not in `other`. */
function nearness(text: string, one: string, other: string): number {
  const [own, foreign] = [one, other].map((known) => new Set(known.split("\n")));
  let shared = 0;
  for (const line of text.split("\n")) if (own?.has(line) && !foreign?.has(line)) shared += line.length;
  const { head, tail } = commonEnds(text, one);
  return shared + head + tail;
}

export function withoutFence(text: string): string | undefined {
  return /^\s*(`{3,}|~{3,})[\w+.-]*\n([\s\S]*?)\n?[ \t]*\1[ \t]*\n?$/.exec(text)?.[2];
}

/** When all lines but blank ones have one, and they count on; in the new text new lines may have none. */
function withoutNumbers([text, side]: readonly [string, "old" | "new"], prefix: RegExp): string | undefined {
  const lines = text.split("\n");
  let last = Number.NaN;
  let numbered = 0;
  const read = lines.map((line) => {
    const found = prefix.exec(line) ?? (/^ *L?\d+[:|→]?$/.test(line) ? [line] : null);
    if (found === null) return line;
    const number = Number(/\d+/.exec(found[0] ?? "")?.[0]);
    if (numbered > 0 && number <= last) numbered = Number.NaN;
    last = number;
    numbered += 1;
    return line.slice(found[0]?.length);
  });
  const filled = lines.filter((line) => line.trim() !== "").length;
  return numbered > 0 && numbered >= (side === "old" ? filled : filled / 2) ? read.join("\n") : undefined;
}

function withoutMarkers(text: string, side: "old" | "new"): string | undefined {
  const lines = text.split("\n");
  const mark = side === "old" ? "-" : "+";
  const isMarked = lines.every((line) => line === "" || line[0] === " " || line[0] === mark);
  return isMarked && lines.some((line) => line[0] === mark)
    ? lines.map((line) => line.slice(1)).join("\n")
    : undefined;
}
