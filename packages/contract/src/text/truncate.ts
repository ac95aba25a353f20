/** The maximum number of characters of one tool answer that the model gets. */
export const MAX_ANSWER_CHARACTERS = 100_000;

/** Keeps the head and tail of a text that is too long. A note between them says what is missing and how to get it. */
export function keepHeadAndTail(text: string, maxCharacters: number, hint: string): string {
  if (text.length <= maxCharacters) return text;
  const half = Math.floor(maxCharacters / 2);
  const head = text.slice(0, alignToCharacter(text, half));
  const tail = text.slice(alignToCharacter(text, text.length - half));
  const left = text.length - head.length - tail.length;
  return `${head}\n[... ${left} of ${text.length} characters left out; ${hint} ...]\n${tail}`;
}

/** Returns the position, or the one before it if the position is inside a surrogate pair. */
export function alignToCharacter(text: string, position: number): number {
  const unit = text.charCodeAt(position - 1);
  const next = text.charCodeAt(position);
  const splits = unit >= 0xd800 && unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff;
  return splits ? position - 1 : position;
}
