import { afterTime } from "@burin/contract/async/wait";
import type { HttpAnswer } from "./http-request.ts";

/** Ends a connection on which nothing has come for too long. The time that the reader takes does not count. */
export class SilenceWatch {
  isOver = false;
  #isWaiting = true;
  #stop = () => {};
  readonly #silenceMs: number;
  readonly #connection: AbortController;

  constructor(silenceMs: number, connection: AbortController) {
    this.#silenceMs = silenceMs;
    this.#connection = connection;
    this.#begin();
  }

  /** The same body; each piece counts as activity, even one without meaning. */
  async *listen(body: HttpAnswer["body"]): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of body) {
      this.#isWaiting = false;
      yield piece;
      this.#isWaiting = true;
      this.#begin();
    }
  }

  #begin(): void {
    this.stop();
    this.#stop = afterTime(this.#silenceMs, () => {
      if (!this.#isWaiting) return this.#begin();
      this.isOver = true;
      this.#connection.abort();
    });
  }

  stop(): void {
    this.#stop();
  }
}
