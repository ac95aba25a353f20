/** Git's own file names and characters of a shell have no place in it. */
export function isTreeName(name: string): boolean {
  return /^[a-z0-9][\w.-]{0,59}$/i.test(name) && !name.endsWith(".lock") && !name.includes("..");
}
