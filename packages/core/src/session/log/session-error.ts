import { messageOf } from "@burin/contract/text/error-message";
import { codeOf } from "@burin/files/disk/system-error";

/** A session that cannot be opened as requested. The message says what to do instead. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: "not_found" | "ambiguous" | "in_use" | "other_root" | "unusable";

  constructor(code: SessionError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** What the system refused, in words about the session; any other error stays as it is. */
export function asSessionError(error: unknown, what: string): unknown {
  if (error instanceof SessionError || codeOf(error) === undefined) return error;
  return new SessionError("unusable", `${what}: ${messageOf(error)}.`);
}
