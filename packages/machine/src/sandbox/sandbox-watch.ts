import { type FSWatcher, watch } from "node:fs";
import type { TakenBack } from "./taken-back.ts";
import { beforeVouching } from "./vouched-files.ts";

const FIRST_MS = 250;
const LONGEST_MS = 2000;
const SHORTEST_MS = 20;
/** Looking takes at most this part of the time. */
const PART = 20;
const MOST_WATCHED = 50;

/** Looks again and again while a command runs: soon after something happened in the folders that count most. */
export class SandboxWatch {
  readonly taken: TakenBack[] = [];
  readonly #look: (isGoingOn: boolean) => readonly TakenBack[];
  readonly #folders: readonly string[];
  readonly #watchers: FSWatcher[] = [];
  readonly #forget: () => void;
  #timer: NodeJS.Timeout;
  #cost = 0;
  #dueAt = 0;

  constructor(look: (isGoingOn: boolean) => readonly TakenBack[], folders: readonly string[]) {
    this.#look = look;
    this.#folders = folders.slice(0, MOST_WATCHED);
    this.#timer = this.#after(FIRST_MS);
    this.#forget = beforeVouching(() => this.look());
  }

  look(isGoingOn = true): readonly TakenBack[] {
    const started = performance.now();
    this.taken.push(...this.#look(isGoingOn));
    this.#cost = performance.now() - started;
    return this.taken;
  }

  /** The last look; there are no more after it. */
  close(): readonly TakenBack[] {
    clearTimeout(this.#timer);
    this.#forget();
    for (const watcher of this.#watchers.splice(0)) watcher.close();
    return this.look(false);
  }

  #after(milliseconds: number): NodeJS.Timeout {
    this.#dueAt = performance.now() + milliseconds;
    const timer = setTimeout(() => {
      if (this.#watchers.length === 0) this.#watchFolders();
      this.look();
      this.#timer = this.#after(Math.max(LONGEST_MS, this.#cost * PART));
    }, milliseconds);
    timer.unref();
    return timer;
  }

  #watchFolders(): void {
    for (const folder of this.#folders) {
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#soon());
        watcher.on("error", () => {});
        this.#watchers.push(watcher);
      } catch {
        // The looks from time to time remain.
      }
    }
  }

  #soon(): void {
    const wait = Math.max(SHORTEST_MS, this.#cost * PART);
    if (this.#dueAt <= performance.now() + wait) return;
    clearTimeout(this.#timer);
    this.#timer = this.#after(wait);
  }
}
