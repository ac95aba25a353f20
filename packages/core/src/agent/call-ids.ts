/** The ids of a session's calls, whoever makes them: what a service, a subagent or the user numbers alike is told apart. */
export class CallIds {
  readonly #taken = new Set<string>();

  /** An id that was given out before, in a session that is resumed. */
  add(id: string): void {
    this.#taken.add(id);
  }

  /** The id itself where it is free. */
  take(wanted: string): string {
    let id = wanted;
    for (let count = 2; this.#taken.has(id); count += 1) id = `${wanted}_${count}`;
    this.#taken.add(id);
    return id;
  }

  /** `call_1`, `call_2` and so on. */
  next(): string {
    return this.take(`call_${this.#taken.size + 1}`);
  }
}
