/** Classes of characters; a run consists of characters of one class. */
const BLANK = 0;
const LETTER = 1;
const DIGIT = 2;
const SIGN = 3;
/** Of the characters of ASCII. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, unit) => classOf(String.fromCharCode(unit)));

/** Letters per token, roughly; a common word with the space before it is one token. */
const LETTERS_PER_TOKEN = 7;
const DIGITS_PER_TOKEN = 3;
/** Characters outside ASCII: a letter of a European or Semitic script, and one of the East Asian scripts. */
const OTHER_LETTER = 0.5;
const WIDE = 1.1;
export const MOST_PER_CHARACTER = WIDE;
const WIDE_FROM = 0x2e80;

/** Rather high; the service's count corrects it. A tokenizer would take longer to load than all else at a start. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let run = BLANK;
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 127) {
      tokens += unit >= WIDE_FROM ? WIDE : OTHER_LETTER;
      run = BLANK;
      length = 0;
      continue;
    }
    const kind = CLASSES[unit] ?? SIGN;
    if (kind !== run) {
      run = kind;
      length = 0;
    }
    length += 1;
    tokens += costOf(kind, length);
  }
  return Math.ceil(tokens);
}

/** What the next character of a run adds. A space before a word is free, and so are most line breaks. */
function costOf(kind: number, length: number): number {
  if (kind === LETTER) return length % LETTERS_PER_TOKEN === 1 ? 1 : 0;
  if (kind === DIGIT) return length % DIGITS_PER_TOKEN === 1 ? 1 : 0;
  if (kind === SIGN) return length % 2 === 1 ? 0.9 : 0.4;
  return length === 2 ? 0.7 : length > 16 && length % 16 === 0 ? 1 : 0.05;
}

function classOf(character: string): number {
  if (" \t\r\n".includes(character)) return BLANK;
  if (/[A-Za-z_]/.test(character)) return LETTER;
  return /\d/.test(character) ? DIGIT : SIGN;
}
