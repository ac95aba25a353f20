/** What a hook wants the model to know, set apart from what others say. */
export function hookWords(text: string): string {
  return `[From a hook of the user] ${text}`;
}
