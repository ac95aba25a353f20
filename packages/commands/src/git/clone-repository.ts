import { findHelper, helperPath } from "../processes/helper-program.ts";

const LONGEST_MS = 120_000;
/** Runs nothing that comes with the repository, and never asks for a password. */
const ONLY_FILES = [
  ["core.hooksPath", process.platform === "win32" ? "NUL" : "/dev/null"],
  ["core.fsmonitor", "false"],
  ["protocol.ext.allow", "never"],
].flatMap(([key, value]) => ["-c", `${key}=${value}`]);

const COMMIT = /^[0-9a-f]{40}$/;

/** Downloads a repository, at a branch, a tag or a commit's whole id, to a new folder. Throws git's error. */
export async function cloneRepository(url: string, folder: string, at?: string): Promise<void> {
  const git = findHelper("git", process.env.PATH);
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
  const env = { ...process.env, PATH: helperPath(process.env.PATH), GIT_TERMINAL_PROMPT: "0" };
  const { waitForOutput } = await import("../processes/wait-for-output.ts");
  for (const step of steps) {
    const how = { cwd: process.cwd(), env, longestMs: LONGEST_MS };
    const { fault } = waitForOutput(git, [...ONLY_FILES, ...step], how);
    if (fault !== null) throw new Error(fault.trim());
  }
}
