/** A session that cannot be opened as requested. The message says what to do instead. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: "not_found" | "ambiguous" | "in_use" | "other_root" | "unusable";

  constructor(code: SessionError["code"], message: string) {
    super(message);
    this.code = code;
  }
}
