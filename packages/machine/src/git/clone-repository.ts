import { findHelper } from "../processes/helper-program.ts";

const LONGEST_MS = 120_000;
/** Runs nothing that comes with the repository, and never asks for a password. */
const ONLY_FILES = [
  ["core.hooksPath", process.platform === "win32" ? "NUL" : "/dev/null"],
  ["core.fsmonitor", "false"],
  ["protocol.ext.allow", "never"],
].flatMap(([key, value]) => ["-c", `${key}=${value}`]);

/** Downloads a repository, at a branch or tag, to a new folder. Throws git's error. */
export async function cloneRepository(url: string, folder: string, branch?: string): Promise<void> {
  const git = findHelper("git", process.env.PATH);
  if (git === null) throw new Error("git was not found");
  const at = branch === undefined ? [] : [`--branch=${branch}`];
  const words = [...ONLY_FILES, "clone", "--quiet", "--depth=1", ...at, "--", url, folder];
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0" };
  const { waitForOutput } = await import("../processes/wait-for-output.ts");
  const { fault } = waitForOutput(git, words, { cwd: process.cwd(), env, longestMs: LONGEST_MS });
  if (fault !== null) throw new Error(fault.trim());
}
