import { findHelper } from "../processes/helper-program.ts";

const LONGEST_MS = 120_000;
/** Nothing that comes with the repository is run, and nobody is asked for a password. */
const ONLY_FILES = [
  ["core.hooksPath", process.platform === "win32" ? "NUL" : "/dev/null"],
  ["core.fsmonitor", "false"],
  ["protocol.ext.allow", "never"],
].flatMap(([key, value]) => ["-c", `${key}=${value}`]);

/** Fetches the files of a repository, as they are on a branch or tag or where it stands, into a new folder. Throws what git says. */
export async function cloneRepository(url: string, folder: string, branch?: string): Promise<void> {
  const git = findHelper("git", process.env.PATH);
  if (git === null) throw new Error("git was not found");
  const at = branch === undefined ? [] : [`--branch=${branch}`];
  const words = [...ONLY_FILES, "clone", "--quiet", "--depth=1", ...at, "--", url, folder];
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0" };
  const { waitForOutput } = await import("../processes/run-process.ts");
  const { fault } = waitForOutput(git, words, { cwd: process.cwd(), env, longestMs: LONGEST_MS });
  if (fault !== null) throw new Error(fault.trim());
}
