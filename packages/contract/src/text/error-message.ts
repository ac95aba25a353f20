/** Describes what was thrown, which can be any value. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "an error without a readable message";
  }
}
