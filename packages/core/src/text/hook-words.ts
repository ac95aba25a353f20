export function markHookText(text: string): string {
  return `[From a hook of the user] ${text}`;
}
