import { gitStateOf } from "./environment-facts.ts";
import type { Home } from "./home.ts";

/** Where it is looked from, which is known when the tools are made. */
type Ground = Pick<Home, "environment" | "variables"> & { readonly roots: readonly string[] };

/**
 * What was not committed when the session began. Git is asked aside, so that no request waits for it, and the model is
 * told with the first request behind its answer; from then on the history holds it.
 */
export class GitNews {
  readonly #ground: Ground;
  #isAsked = false;
  #told: string | null = null;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** Asks git, the first time. Never rejects. */
  async look(signal: AbortSignal): Promise<void> {
    const { roots, environment, variables } = this.#ground;
    if (this.#isAsked || gitStateOf(roots[0] ?? "") === null) return;
    this.#isAsked = true;
    try {
      const { uncommittedChanges } = await import("@burin/machine/git/uncommitted-changes");
      const lines = await uncommittedChanges({ roots, environment, passEnvironment: variables.pass }, signal);
      if (lines !== null) this.#told = lines === "" ? "nothing" : `\n${lines}`;
    } catch {
      // Without it the model asks for itself.
    }
  }

  /** What is new, in words for the model, once. */
  take(): string | null {
    const told = this.#told;
    this.#told = null;
    return told === null ? null : `[Not committed when this session began, by git status: ${told}]`;
  }
}
