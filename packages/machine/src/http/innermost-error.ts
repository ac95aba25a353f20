/** Returns the error with the actual reason, inside the wrappers: `errors` has one attempt for each address. */
export function innermost(error: unknown): { code: string; message: string } {
  let current = error;
  let found = { code: "", message: String(error) };
  for (let depth = 0; depth < 8 && current instanceof Error; depth += 1) {
    const code: unknown = "code" in current ? current.code : undefined;
    const message = current.message || found.message;
    found = { code: typeof code === "string" ? code : found.code, message };
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return found;
}
