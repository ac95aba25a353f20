/** Why a page was not fetched, or not in full. `type` is stable and for programs, the message is for people. */
export class WebError extends Error {
  override readonly name = "WebError";
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}
