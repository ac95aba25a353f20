import type { HttpAnswer } from "./http-request.ts";

/** Ends a connection on which nothing has come for too long. The time that the reader takes does not count. */
export class SilenceWatch {
  isOver = false;
  #isWaiting = true;
  readonly #timer: NodeJS.Timeout;

  constructor(silenceMs: number, connection: AbortController) {
    this.#timer = setTimeout(() => {
      if (!this.#isWaiting) {
        this.#timer.refresh();
        return;
      }
      this.isOver = true;
      connection.abort();
    }, silenceMs);
  }

  /** The same body; each piece counts as activity, even one without meaning. */
  async *listen(body: HttpAnswer["body"]): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of body) {
      this.#isWaiting = false;
      yield piece;
      this.#isWaiting = true;
      this.#timer.refresh();
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
