/** Why nothing, or not all, was fetched. `type` is stable and made for programs, the message for readers. */
export class WebError extends Error {
  override readonly name = "WebError";
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}
