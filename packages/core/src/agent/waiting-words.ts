/** What the person typed while the model works, until it enters the history. */
export class WaitingWords {
  #steering: string[] = [];
  #queued: string[] = [];
  #wake: () => void = () => {};

  /** Enters with the next request of the running turn. */
  steer(text: string): void {
    this.#steering.push(text);
    this.#wake();
  }

  /** Enters when the model has ended its turn. */
  queue(text: string): void {
    this.#queued.push(text);
    this.#wake();
  }

  /** Resolves with the next words; a later wait takes the place of an earlier one. */
  arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  takeSteering(): string[] {
    const words = this.#steering;
    this.#steering = [];
    return words;
  }

  /** The oldest one, so that each queued prompt gets its own turn. */
  takeQueued(): string | undefined {
    return this.#queued.shift();
  }

  takeAll(): string[] {
    const words = [...this.takeSteering(), ...this.#queued];
    this.#queued = [];
    return words;
  }
}
