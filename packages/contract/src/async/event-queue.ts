interface Waiting<T> {
  readonly value: T;
  /** Set for a value whose giver waits for the consumer. */
  readonly giver?: { readonly goOn: () => void; readonly stop: (reason: Error) => void };
}

/** Passes values to one async reader, in order and without loss. */
export class EventQueue<T> {
  #waiting: Waiting<T>[] = [];
  #wake: (() => void) | null = null;
  /** Why nobody reads any more. */
  #left: Error | null = null;

  push(value: T): void {
    this.#add({ value });
  }

  /** Resolves when the consumer has taken the value and wants the next one; rejects when it has stopped. */
  addAndWait(value: T): Promise<void> {
    if (this.#left) return Promise.reject(this.#left);
    return new Promise((goOn, stop) => this.#add({ value, giver: { goOn, stop } }));
  }

  get hasLostReader(): boolean {
    return this.#left !== null;
  }

  get size(): number {
    return this.#waiting.length;
  }

  takeAll(): T[] {
    return this.#waiting.splice(0).map(({ value }) => value);
  }

  /**
   * Yields values until the work has ended and the queue is empty; then returns the work's result. A reader that
   * stops early is reported to `onLeave`, and to each giver.
   */
  async *yieldDuring<R>(start: () => Promise<R>, onLeave: () => void = () => {}): AsyncGenerator<T, R> {
    let last: Waiting<T> | undefined;
    let isOver = false;
    const endWork = () => {
      isOver = true;
      this.#wake?.();
    };
    const work = start();
    work.then(endWork, endWork);
    try {
      for (;;) {
        for (last = this.#waiting.shift(); last; last = this.#waiting.shift()) {
          yield last.value;
          last.giver?.goOn();
        }
        if (isOver) return await work;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.#left = new Error("The consumer of the events has stopped.");
      onLeave();
      for (const { giver } of [...(last ? [last] : []), ...this.#waiting.splice(0)]) giver?.stop(this.#left);
    }
  }

  #add(waiting: Waiting<T>): void {
    this.#waiting.push(waiting);
    this.#wake?.();
  }
}
