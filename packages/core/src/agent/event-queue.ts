/** Hands values from callbacks to one async reader, in order; what was pushed is never lost. */
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

  /** What has been pushed and not read yet. */
  *taken(): Generator<T> {
    for (let value = this.#values.shift(); value !== undefined; value = this.#values.shift()) yield value;
  }

  /** Yields what is pushed until the work is over and the queue is empty; then gives the work's result. */
  async *during<R>(work: Promise<R>): AsyncGenerator<T, R> {
    let over = false;
    const end = () => {
      over = true;
      this.#wake?.();
    };
    work.then(end, end);
    for (;;) {
      yield* this.taken();
      // Between the last value and here others may have been pushed: whoever did so found nobody to wake.
      if (this.#values.length > 0) continue;
      if (over) return await work;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
