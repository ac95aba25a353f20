/**
 * Returns a unique, unpredictable name in hexadecimal digits. Loads crypto, which fetches random bytes for many names
 * at once.
 */
export function randomName(bytes = 8): string {
  const { randomUUID } = process.getBuiltinModule("node:crypto");
  return randomUUID()
    .replaceAll("-", "")
    .slice(0, 2 * bytes);
}
