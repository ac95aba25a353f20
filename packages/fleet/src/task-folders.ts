import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createToolbox } from "@burin/core";
import { readText } from "@burin/core/internal";

const OWNER = "worker";
/** The session's `~/.burin` while it works on the task. */
export const SESSION_HOME = "home";
const MAX_OWNER_BYTES = 100;

/**
 * Gives each task a folder. A worker that was considered lost may still be running in one on this machine; the next
 * worker then uses another folder for the task.
 */
export class TaskFolders {
  readonly #folder: string;
  readonly #own = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async takeFolder(id: string): Promise<string> {
    for (let number = 1; ; number += 1) {
      const place = join(this.#folder, number === 1 ? id : `${id}.${number}`);
      if (this.#own.has(place) || this.#isTaken(place)) continue;
      this.#own.add(place);
      try {
        await this.#remove(place);
        await mkdir(place, { recursive: true, mode: 0o700 });
        await writeFile(join(place, OWNER), String(process.pid));
        return place;
      } catch (error) {
        await this.removeFolder(place);
        throw error;
      }
    }
  }

  async removeFolder(place: string): Promise<void> {
    await rm(place, { recursive: true, force: true });
    this.#own.delete(place);
  }

  /** Removes the folders of workers that are gone. All results are in the database. */
  async removeAbandonedFolders(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      const place = join(this.#folder, name);
      if (this.#readOwner(place) > 0 && !this.#isTaken(place)) await this.#remove(place);
    }
  }

  /** Removes a folder. Only the home in it records what a lost worker has left running, so that is ended first. */
  async #remove(place: string): Promise<void> {
    const home = join(place, SESSION_HOME);
    if (existsSync(home)) {
      const toolbox = createToolbox({ root: place, environment: { ...process.env, BURIN_HOME: home } });
      await toolbox.close();
    }
    await rm(place, { recursive: true, force: true });
  }

  #isTaken(place: string): boolean {
    const pid = this.#readOwner(place);
    return pid > 0 && pid !== process.pid && isAlive(pid);
  }

  /** Returns the process id of a folder's owner; 0 if it has none yet. */
  #readOwner(place: string): number {
    return Number(readText(join(place, OWNER), MAX_OWNER_BYTES) ?? 0);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
