import { gitStateOf } from "./environment-facts.ts";

interface Asked {
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** What git says of a folder, for a user: the branch, and a line for each file that is not committed. */
export interface RepositoryState {
  readonly branch: string | null;
  /** null when git cannot say, or would run what the repository names. */
  readonly changes: string | null;
}

/** The branch is read from git's files; git itself is asked only where that runs nothing of the repository. */
export async function repositoryState(asked: Asked, signal: AbortSignal): Promise<RepositoryState> {
  const { root, environment } = asked;
  const state = gitStateOf(root);
  if (state === null) return { branch: null, changes: null };
  const branch = /^the branch ([^\s,]+)/.exec(state)?.[1] ?? null;
  const { uncommittedChanges } = await import("@burin/commands/git/git-work");
  const ground = { roots: [root], environment, passEnvironment: [] };
  return { branch, changes: await uncommittedChanges(ground, signal).catch(() => null) };
}
