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

/** What every placeholder has somewhere; most texts have no such thing and need no closer look. */
const HINT =
  /\.\.|…|unchanged|unmodified|untouched|omitted|brevity|\b(?:same|here|is|was|before|above)\b\W*$/im;

/**
 * The first line of the new text that stands for lines left out and that the old text did not have: writing
 * it would lose them. A comment of nothing but dots counts only when the text also got shorter.
 */
export function newOmission(oldText: string, newText: string): string | null {
  if (!HINT.test(newText) || oldText.trim() === "") return null;
  const known = new Map<string, number>();
  for (const line of oldText.split("\n")) {
    if (omission(line) !== null) known.set(line.trim(), (known.get(line.trim()) ?? 0) + 1);
  }
  const isShorter = lineCount(newText) < lineCount(oldText);
  for (const line of newText.split("\n")) {
    const certainty = omission(line);
    if (certainty === null) continue;
    const left = known.get(line.trim()) ?? 0;
    if (left > 0) known.set(line.trim(), left - 1);
    else if (certainty === "certain" || isShorter) return line.trim();
  }
  return null;
}

function lineCount(text: string): number {
  return text.split("\n").length;
}
