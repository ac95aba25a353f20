/** Why a server did not do what was asked. Stable: programs switch on it. */
export type McpErrorCode =
  | "mcp_unavailable"
  | "mcp_needs_login"
  | "mcp_connection_lost"
  | "mcp_timeout"
  | "mcp_failed";

/** A failure of a server, in words for the model and the person. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly code: McpErrorCode;

  constructor(code: McpErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The innermost reason: connections fail with an error that only says so and has the reason as its cause. */
export function reasonOf(error: unknown): string {
  let innermost = error;
  for (let depth = 0; depth < 8 && innermost instanceof Error && innermost.cause !== undefined; depth += 1) {
    innermost = innermost.cause;
  }
  if (innermost instanceof AggregateError && innermost.errors.length > 0)
    return reasonOf(innermost.errors[0]);
  return innermost instanceof Error ? innermost.message : String(innermost);
}
