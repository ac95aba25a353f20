/** A name that nobody else has or guesses, in hexadecimal digits; what makes it is loaded with the first one. */
export function randomName(bytes = 8): string {
  return process.getBuiltinModule("node:crypto").randomBytes(bytes).toString("hex");
}
