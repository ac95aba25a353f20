const COMMENT_START = /^(?:\/\/+|\/\*+|#+|--+|%+|;+|<!--|\{\s*\/\*+|'{3}|"{3}|\(\*|\*|rem\b)\s*/i;
const COMMENT_END = /\s*(?:\*+\/\s*\}?|-->|\*\)|'{3}|"{3})$/;
const BRACKETS = /^[[(<{]\s*(.*?)\s*[\])>}]$/;

const LEFT_OUT = String.raw`(?:(?:the\s+)?(?:rest|remainder)\b|remaining|existing|previous|earlier|original|other|same|unchanged|unmodified|omitted|truncated|snip(?:ped)?|keep|as\s+(?:before|above|is)|and\s+so\s+on|more\s+code|code)`;
const THING = String.raw`(?:\s+(?:of|the|this|that|your|all|existing|remaining|other|original|previous|file|files|code|contents?|text|document|page|class|component|module|script|functions?|methods?|imports?|implementation|logic|body|rows?|lines?|sections?|items?|entries|props|styles?|tests?|cases|definitions?|configuration|config|fields?))*`;
const KEPT = String.raw`(?:\s*[,:(-]?\s*(?:(?:code|content|file)\s+)?(?:(?:remains?|stays?|is|are|kept|left|goes|follows?)\s*)?(?:here|(?:the\s+)?same(?:\s+as\s+(?:before|above))?|unchanged|unmodified|untouched|omitted|as\s+(?:it\s+)?(?:is|was|before|above)|for\s+brevity)?\s*(?:\s*for\s+brevity)?\)?)`;
const PHRASE = new RegExp(`^${LEFT_OUT}${THING}${KEPT}$`, "i");
const KEPT_AT_END =
  /\b(?:unchanged|unmodified|untouched|omitted|the same|as (?:it )?(?:is|was|before)|here|for brevity)\)?$/i;

/**
 * How surely a line only stands for lines that were left out: "certain" for words that say so, "bare" for a
 * comment of nothing but dots, null for a line of content.
 */
export function omission(line: string): "certain" | "bare" | null {
  const trimmed = line.trim();
  if (trimmed.length === 0 || trimmed.length > 120) return null;
  const uncommented = trimmed.replace(COMMENT_START, "").replace(COMMENT_END, "").trim();
  const isComment = uncommented !== trimmed;
  const inside = BRACKETS.exec(uncommented)?.[1] ?? uncommented;
  const isBracketed = inside !== uncommented;
  const words = inside.replace(/^(?:\.{2,}|…)+\s*|\s*(?:\.{2,}|…)+$/g, "");
  const hasDots = words !== inside;
  if (words === "" && hasDots) return isComment ? "bare" : null;
  const phrase = (BRACKETS.exec(words)?.[1] ?? words).replace(/[.!]$/, "").trim();
  if (!PHRASE.test(phrase)) return null;
  // `...rest` in code spreads a value.
  const isSpread = !isComment && !isBracketed && !/\s/.test(phrase);
  if (hasDots) return isSpread ? null : "certain";
  return (isComment || isBracketed) && KEPT_AT_END.test(phrase) && /\s/.test(phrase) ? "certain" : null;
}

/** With one of these a placeholder without dots ends. */
const LAST_WORDS = new Set(
  "unchanged unmodified untouched omitted same is was before here brevity".split(" "),
);
const LONGEST_LAST_WORD = 10;
const LAST_LETTERS = new Set([...LAST_WORDS].map((word) => word.charCodeAt(word.length - 1)));

/** The lines that have what every placeholder has. All others, nearly all of a text, need no closer look. */
function* linesToJudge(text: string): Generator<string> {
  let [dots, ellipsis] = [text.indexOf(".."), text.indexOf("…")];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    if (dots !== -1 && dots < start) dots = text.indexOf("..", start);
    if (ellipsis !== -1 && ellipsis < start) ellipsis = text.indexOf("…", start);
    const hasDots = (dots !== -1 && dots < end) || (ellipsis !== -1 && ellipsis < end);
    if (hasDots || endsInLastWord(text, start, end)) yield text.slice(start, end);
    start = end + 1;
  }
}

/** Whatever signs follow upon the word. */
function endsInLastWord(text: string, start: number, end: number): boolean {
  let to = end;
  while (to > start && !isWordCode(text.charCodeAt(to - 1))) to -= 1;
  if (!LAST_LETTERS.has(text.charCodeAt(to - 1) | 0x20)) return false;
  let from = to;
  while (from > start && to - from <= LONGEST_LAST_WORD && isWordCode(text.charCodeAt(from - 1))) from -= 1;
  return to - from <= LONGEST_LAST_WORD && LAST_WORDS.has(text.slice(from, to).toLowerCase());
}

/** Letters and digits of ASCII, and the underscore. */
function isWordCode(code: number): boolean {
  if (code >= 0x61) return code <= 0x7a;
  return code >= 0x41 ? code <= 0x5a || code === 0x5f : code >= 0x30 && code <= 0x39;
}

/**
 * The first line of the new text that stands for lines left out and that the old text did not have: writing
 * it would lose them. A comment of nothing but dots counts only when the text also got shorter.
 */
export function newOmission(oldText: string, newText: string): string | null {
  if (oldText.trim() === "") return null;
  let known: Map<string, number> | null = null;
  let isShorter: boolean | null = null;
  for (const line of linesToJudge(newText)) {
    const certainty = omission(line);
    if (certainty === null) continue;
    known ??= omissionsIn(oldText);
    isShorter ??= lineCount(newText) < lineCount(oldText);
    const placeholder = line.trim();
    const left = known.get(placeholder) ?? 0;
    if (left > 0) known.set(placeholder, left - 1);
    else if (certainty === "certain" || isShorter) return placeholder;
  }
  return null;
}

/** How often each stands there. */
function omissionsIn(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of linesToJudge(text)) {
    if (omission(line) === null) continue;
    const placeholder = line.trim();
    counts.set(placeholder, (counts.get(placeholder) ?? 0) + 1);
  }
  return counts;
}

function lineCount(text: string): number {
  return text.split("\n").length;
}
