/** What was thrown, in words; anything can be thrown. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "an error that cannot be put in words";
  }
}
