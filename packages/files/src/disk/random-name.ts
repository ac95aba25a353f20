/** A unique name that cannot be guessed, in hexadecimal digits. Loads crypto, which fetches random bytes for many names. */
export function randomName(bytes = 8): string {
  const { randomUUID } = process.getBuiltinModule("node:crypto");
  return randomUUID()
    .replaceAll("-", "")
    .slice(0, 2 * bytes);
}
