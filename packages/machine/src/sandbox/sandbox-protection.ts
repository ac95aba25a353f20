import type { SandboxLimits } from "./sandbox.ts";
import { type Before, takeBackMade } from "./sandbox-guard.ts";
import { type Survey, Surveyor } from "./sandbox-survey.ts";
import { SandboxWatch } from "./sandbox-watch.ts";
import { sharedFiles } from "./shared-files.ts";

/** What looks after one command: what was there before it, and the looks at what it makes. */
interface Guard {
  readonly before: Before & Survey;
  readonly watch: SandboxWatch;
}

/** Keeps the commands of a session from leaving something behind that runs code later. */
export class Protection {
  readonly #limits: SandboxLimits;
  readonly #surveyor: Surveyor;

  constructor(limits: SandboxLimits) {
    this.#limits = limits;
    this.#surveyor = new Surveyor(limits.roots, limits.temporary);
  }

  begin(): Guard {
    const { roots, home } = this.#limits;
    const before = { since: Date.now(), ...this.#surveyor.look() };
    const ground = { surveyor: this.#surveyor, roots, home };
    const shared = sharedFiles(before.places.values());
    const look = (isGoingOn: boolean) => takeBackMade(before, { ...ground, shared, isGoingOn });
    const gitFolders = [...before.places.values()].filter(({ part }) => part === "git folder");
    const watched = [...roots, ...gitFolders.map(({ path }) => path)];
    return { before, watch: new SandboxWatch(look, watched) };
  }
}
