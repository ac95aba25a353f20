/** Control characters except tab and newline. */
const CONTROLS = "\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f";
/** Characters that are invisible or rearrange the text: zero-width, bidi, fillers, tags, lone surrogates. */
const UNSEEN =
  "\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164" +
  "\\ud800-\\udfff\\ufeff\\uffa0\\ufff0-\\ufffb\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
/** Matches variation selectors, which choose how the previous character is drawn. Only emoji need them. */
const buildSelectorPattern = (orBefore = "", orAfter = "") =>
  `(?<![\\p{Extended_Pictographic}\\p{EMod}]${orBefore})[\\ufe0e\\ufe0f](?!\\u20e3${orAfter})|[\\ufe00-\\ufe0d]`;
/** Characters that look like spaces but do not separate words in a shell. */
const BLANKS = "\\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u2800\\u3000";

/** At the ends of the text, the neighboring characters are unknown: it may be a piece of a longer text. */
const HIDDEN = new RegExp(`[${CONTROLS}${UNSEEN}]|${buildSelectorPattern("|^", "|$")}`, "gu");
/** Every character of a command line that a reader would not see, or would mistake for another. */
const HIDDEN_IN_COMMANDS = new RegExp(`[${CONTROLS}${UNSEEN}${BLANKS}]|${buildSelectorPattern()}`, "gu");

/** Makes text from outside safe to show: escapes control characters and invisible ones, keeps tabs and newlines. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, escapeCharacter);
}

/** Makes a command safe to show. Unlike `visibleText`, also escapes unusual spaces. */
export function visibleCommand(text: string): string {
  return text.replace(HIDDEN_IN_COMMANDS, escapeCharacter);
}

/** Returns the code of the first hidden or misleading character of a command, or null. Emoji joiners are allowed. */
export function findHiddenCharacter(command: string): string | null {
  const [hidden] = command.replaceAll("\u200d", "").match(HIDDEN_IN_COMMANDS) ?? [];
  return hidden === undefined
    ? null
    : `U+${hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
