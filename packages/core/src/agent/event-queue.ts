/** Passes values from callbacks to one async reader, in order and without loss. */
export class EventQueue<T> {
  readonly #values: T[] = [];
  #wake: (() => void) | null = null;

  push(value: T): void {
    this.#values.push(value);
    this.#wake?.();
  }

  get size(): number {
    return this.#values.length;
  }

  *taken(): Generator<T> {
    for (let value = this.#values.shift(); value !== undefined; value = this.#values.shift()) yield value;
  }

  /** Yields values until the work has ended and the queue is empty; then returns the work's result. */
  async *during<R>(work: Promise<R>): AsyncGenerator<T, R> {
    let over = false;
    const end = () => {
      over = true;
      this.#wake?.();
    };
    work.then(end, end);
    for (;;) {
      yield* this.taken();
      // Values may have been pushed since the last one, when there was no waiting reader to wake.
      if (this.#values.length > 0) continue;
      if (over) return await work;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
