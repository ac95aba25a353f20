/** `EACCES: permission denied, open '/a/b'`, as Node writes what the system refused. */
const OF_SYSTEM = /^(E[A-Z0-9]{2,}): ([^,]+), \w+(?: '.*')?$/s;
const OF_SPAWN = /^spawn (.+) (E[A-Z0-9]+)$/s;

/** Describes what was thrown, which can be any value. Which file it was about is said around it. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
      .replace(OF_SYSTEM, "$2 ($1)")
      .replace(OF_SPAWN, "$1 could not be started ($2)");
  } catch {
    return "an error without a readable message";
  }
}
