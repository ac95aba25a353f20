export function hookWords(text: string): string {
  return `[From a hook of the user] ${text}`;
}
