/** Makes the ids of all calls in a session unique, even when a service, a subagent and the user number theirs alike. */
export class CallIds {
  readonly #taken = new Set<string>();

  /** Adds an id that is in use already, when a session is resumed. */
  reserveId(id: string): void {
    this.#taken.add(id);
  }

  assignId(wanted: string): string {
    let id = wanted;
    for (let count = 2; this.#taken.has(id); count += 1) id = `${wanted}_${count}`;
    this.#taken.add(id);
    return id;
  }

  createId(): string {
    return this.assignId(`call_${this.#taken.size + 1}`);
  }
}
