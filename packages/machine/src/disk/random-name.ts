/** A unique name that cannot be guessed, in hexadecimal digits. Loads crypto with the first call. */
export function randomName(bytes = 8): string {
  return process.getBuiltinModule("node:crypto").randomBytes(bytes).toString("hex");
}
