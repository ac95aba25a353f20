import { lineAround, lineTextAt, type Tokens } from "./tokens.ts";

/** What may follow a backslash in a string; in a pattern anything may. */
const IN_STRINGS = /^[nrtbfvux0-7"'`$\\]/;

const LETTER = /^[A-Za-z]/;

/**
 * How the file writes a backslash that only the new text has, where the old text lost some of the file's: as it writes
 * those that were kept on the same line, if these are all alike and the new one may be what they are. Before a sign it
 * may be one of two that stood for a backslash, as in `[^\\]`.
 */
export function escapeOnLine(
  after: Tokens,
  index: number,
  samples: readonly { readonly file: string; readonly after: number | undefined }[],
): string | undefined {
  const { first, last } = lineAround(after, index);
  const beside = samples.filter(
    ({ after: own = -1 }) => own >= first && own <= last && after.keys[own] === "\\",
  );
  const [form, ...others] = new Set(beside.map(({ file }) => file));
  if (form === undefined || others.length > 0) return undefined;
  const isPlain = (at: number) => IN_STRINGS.test(after.keys[at + 1] ?? "");
  if (form !== "\\") return isPlain(index) ? undefined : form;
  const isPattern = beside.some(({ after: own = -1 }) => !isPlain(own));
  return LETTER.test(after.keys[index + 1] ?? "") && (isPattern || isPlain(index)) ? form : undefined;
}

/**
 * Whether a quote is one that opens or closes a string of its line, and none that lost its backslash within one: each
 * string of the line stands between blanks or signs, as `"a": "b",`, which `"a "b" c"` does not.
 */
export function quotesString(tokens: Tokens, index: number): boolean {
  const quote = tokens.keys[index] ?? "";
  const [first = "", ...parts] = lineTextAt(tokens, index).split(quote);
  const outside = [first, ...parts.filter((_, at) => at % 2 === 1)];
  const inside = parts.filter((_, at) => at % 2 === 0);
  const last = outside.length - 1;
  return (
    outside.length === inside.length + 1 &&
    inside.every((part) => part !== "") &&
    outside.every((part, at) => (at === 0 || CLOSES.test(part)) && (at === last || OPENS.test(part)))
  );
}

const CLOSES = /^(?:$|[\s,;:)\]}.])/;
const OPENS = /(?:^|[\s(,:[{=])$/;
