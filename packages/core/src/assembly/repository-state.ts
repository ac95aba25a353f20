import { readGitState } from "./environment-facts.ts";

interface RepositoryRequest {
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** What git says about a folder, for the user: the branch, and a line for each uncommitted file. */
interface RepositoryState {
  readonly branch: string | null;
  /** null if git cannot say, or if asking git would run programs that the repository names. */
  readonly changes: string | null;
}

/** Reads the branch from git's files. Runs git itself only if that runs no program of the repository. */
export async function readRepositoryState(
  asked: RepositoryRequest,
  signal: AbortSignal,
): Promise<RepositoryState> {
  const { root, environment } = asked;
  const state = readGitState(root);
  if (state === null) return { branch: null, changes: null };
  const branch = /^the branch ([^\s,]+)/.exec(state)?.[1] ?? null;
  const { listUncommittedChanges } = await import("@burin/commands/git/git-work");
  const ground = { roots: [root], environment, passEnvironment: [] };
  return { branch, changes: await listUncommittedChanges(ground, signal).catch(() => null) };
}
