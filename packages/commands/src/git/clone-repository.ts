import { buildHelperPath, findHelper } from "../processes/helper-program.ts";

const TIMEOUT_MS = 120_000;
/** Runs nothing that comes with the repository, and never asks for a password. */
const SAFE_SETTINGS = [
  ["core.hooksPath", process.platform === "win32" ? "NUL" : "/dev/null"],
  ["core.fsmonitor", "false"],
  ["protocol.ext.allow", "never"],
].flatMap(([key, value]) => ["-c", `${key}=${value}`]);

const COMMIT = /^[0-9a-f]{40}$/;

export interface CloneOptions {
  /** A branch, a tag or a commit's whole id. */
  readonly at?: string | undefined;
  /** Where git is found, and what it gets. */
  readonly environment: NodeJS.ProcessEnv;
}

/** Downloads a repository to a new folder. Throws git's error. */
export async function cloneRepository(url: string, folder: string, options: CloneOptions): Promise<void> {
  const { at, environment } = options;
  const git = findHelper("git", environment.PATH);
  if (git === null) throw new Error("git was not found");
  const branch = at === undefined ? [] : [`--branch=${at}`];
  const steps =
    at !== undefined && COMMIT.test(at)
      ? [
          ["init", "--quiet", "--", folder],
          ["-C", folder, "fetch", "--quiet", "--depth=1", "--", url, at],
          ["-C", folder, "checkout", "--quiet", "FETCH_HEAD"],
        ]
      : [["clone", "--quiet", "--depth=1", ...branch, "--", url, folder]];
  const env = { ...environment, PATH: buildHelperPath(environment.PATH), GIT_TERMINAL_PROMPT: "0" };
  const { runProgramSync } = await import("../processes/wait-for-output.ts");
  for (const step of steps) {
    const how = { cwd: process.cwd(), env, longestMs: TIMEOUT_MS };
    const { fault } = runProgramSync(git, [...SAFE_SETTINGS, ...step], how);
    if (fault !== null) throw new Error(fault.trim());
  }
}
