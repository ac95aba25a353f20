import { describeError } from "@burin/contract/text/error-message";
import { readErrorCode } from "@burin/files/disk/system-error";

/** A session that cannot be opened as requested. The message says what to do instead. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: "not_found" | "ambiguous" | "in_use" | "other_root" | "unusable";

  constructor(code: SessionError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Converts a system error to a SessionError about the session. Returns any other error unchanged. */
export function toSessionError(error: unknown, what: string): unknown {
  if (error instanceof SessionError || readErrorCode(error) === undefined) return error;
  return new SessionError("unusable", `${what}: ${describeError(error)}.`);
}
