/** A hook's text for the model, marked with its source. */
export function hookWords(text: string): string {
  return `[From a hook of the user] ${text}`;
}
