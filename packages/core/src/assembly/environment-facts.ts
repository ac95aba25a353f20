import { existsSync } from "node:fs";
import { arch, type } from "node:os";
import { dirname, join, resolve } from "node:path";
import { chooseShell, findProgram } from "@burin/commands/processes/shell-program";
import { withFallback } from "@burin/contract/with-fallback";
import { readText } from "@burin/files/disk/regular-file";
import type { Home } from "./home.ts";

const MAX_HEAD_BYTES = 1024;
/** An ordinary branch name. Any other name might contain instructions to the model. */
const BRANCH = /^ref: refs\/heads\/([\w./@+-]{1,100})\s*$/;

/**
 * Returns one line of facts about the environment, which the model could otherwise only guess. It is given once, at the
 * start of a session, so that all requests of the session start with the same bytes.
 */
export function describeEnvironment(root: string, { PATH }: NodeJS.ProcessEnv, now = new Date()): string {
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  const shell = chooseShell(process.platform, (name) => findProgram(name, PATH));
  const state = readGitState(root);
  const git = state === null ? "" : `, git on ${state} when this began`;
  return `Today is ${day}. ${type()} ${arch()}, shell ${shell.title}${git}.`;
}

/** Files in git's folder that show unfinished work. */
const UNFINISHED: readonly (readonly [name: string, work: string])[] = [
  ["MERGE_HEAD", "a merge"],
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["BISECT_LOG", "a bisect"],
];

/**
 * Returns the branch and any unfinished work; null if there is no repository. Reads git's files directly, because git
 * itself could run programs that the repository names, and would delay the first request.
 */
export function readGitState(folder: string): string | null {
  for (let place = folder; ; place = dirname(place)) {
    const gitDir = findGitDir(place);
    const head = gitDir === null ? null : readHead(join(gitDir, "HEAD"));
    if (gitDir !== null && head !== null) {
      const work = UNFINISHED.find(([name]) => existsSync(join(gitDir, name)))?.[1];
      return `${describeHead(head)}${work === undefined ? "" : `, in the middle of ${work},`}`;
    }
    if (dirname(place) === place) return null;
  }
}

/** Returns git's folder for a work tree. In a linked work tree or a submodule, `.git` is a file that names it. */
function findGitDir(place: string): string | null {
  const entry = join(place, ".git");
  if (!existsSync(entry)) return null;
  const named = /^gitdir: (.+)$/m.exec(readHead(entry) ?? "")?.[1];
  return named === undefined ? entry : resolve(place, named.trim());
}

function describeHead(head: string): string {
  const branch = BRANCH.exec(head)?.[1];
  if (branch !== undefined) return `the branch ${branch}`;
  const commit = /^([0-9a-f]{12})[0-9a-f]{28,52}\s*$/.exec(head)?.[1];
  return commit === undefined ? "no branch" : `no branch, at the commit ${commit}`;
}

function readHead(path: string): string | null {
  return withFallback(null, () => readText(path, MAX_HEAD_BYTES));
}

/** The folders and the environment to examine, known when the tools are created. */
type GitNewsOptions = Pick<Home, "root" | "environment" | "variables"> & {
  readonly roots: readonly string[];
};

/**
 * Reports what was not committed when the session started, and where git is if that changed before a prompt. It asks git
 * in the background, so that no request waits. The model gets each report once, with the next request; from then on it
 * is in the history.
 */
export class GitNews {
  readonly #ground: GitNewsOptions;
  readonly #news: string[] = [];
  #state: string | null;
  #prompts = 0;

  constructor(ground: GitNewsOptions) {
    this.#ground = ground;
    this.#state = readGitState(ground.root);
  }

  /** Asks git. Never rejects. */
  async readGitFacts(signal: AbortSignal): Promise<void> {
    const { roots, environment, variables } = this.#ground;
    if (this.#state === null) return;
    try {
      const { listUncommittedChanges } = await import("@burin/commands/git/git-work");
      const lines = await listUncommittedChanges(
        { roots, environment, passEnvironment: variables.pass },
        signal,
      );
      if (lines === null) return;
      const told = lines === "" ? "nothing" : `\n${lines}`;
      this.#news.push(`[Not committed when this session began, by git status: ${told}]`);
    } catch {
      // Ignore failures: the model can still ask git itself.
    }
  }

  /** Returns the news for the model, each once; null otherwise. `prompts` counts the user's prompts so far. */
  takeNews(prompts: number): string | null {
    const state = prompts === this.#prompts ? this.#state : readGitState(this.#ground.root);
    if (state && state !== this.#state) this.#news.push(`[git is on ${state} now.]`);
    this.#state = state;
    this.#prompts = prompts;
    return this.#news.splice(0).join("\n") || null;
  }
}

/**
 * Builds the system prompt. It has the same bytes for the same roots, so that provider caches work from request to
 * request.
 */
export function buildSystemPrompt([root = "", ...more]: readonly string[]): string {
  const others = `\n- These folders can be used, too; name one as "path" to search it: ${more.join(", ")}`;
  return `You are Burin, a coding agent that works with tools in the folder ${root}.
- Look before you claim: list, search and read what the task is about.${more.length > 0 ? others : ""}
- Paths given to tools are absolute. You can only ask to read what is outside ${more.length > 0 ? "these folders" : "that folder"}.
- Call tools that do not depend on each other in one reply.
- After an error correct the call as it says; do not repeat it unchanged.
- Do what was asked, no more, then say in a few words what you did or found.`;
}
