/** Matches a name without special characters of git or of a shell. */
export function isTreeName(name: string): boolean {
  return /^[a-z0-9][\w.-]{0,59}$/i.test(name) && !name.endsWith(".lock") && !name.includes("..");
}
