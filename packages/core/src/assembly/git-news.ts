import { gitStateOf } from "./environment-facts.ts";
import type { Home } from "./home.ts";

/** The folders and environment to look from, known when the tools are made. */
type Ground = Pick<Home, "environment" | "variables"> & { readonly roots: readonly string[] };

/**
 * Reports what was not committed when the session started. Git is asked in the background, so that no request
 * waits for it; the model learns the result with the next request, and then it is in the history.
 */
export class GitNews {
  readonly #ground: Ground;
  #isAsked = false;
  #told: string | null = null;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** Asks git, the first time only. Never rejects. */
  async look(signal: AbortSignal): Promise<void> {
    const { roots, environment, variables } = this.#ground;
    if (this.#isAsked || gitStateOf(roots[0] ?? "") === null) return;
    this.#isAsked = true;
    try {
      const { uncommittedChanges } = await import("@burin/machine/git/uncommitted-changes");
      const lines = await uncommittedChanges({ roots, environment, passEnvironment: variables.pass }, signal);
      if (lines !== null) this.#told = lines === "" ? "nothing" : `\n${lines}`;
    } catch {
      // Without this, the model can still ask git itself.
    }
  }

  /** Returns the news for the model, once. */
  take(): string | null {
    const told = this.#told;
    this.#told = null;
    return told === null ? null : `[Not committed when this session began, by git status: ${told}]`;
  }
}
