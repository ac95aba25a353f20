import type { FactsGround } from "../processes/command-surroundings.ts";
import { runProgram } from "../processes/supervisor.ts";
import { ONLY_HERE } from "./git-programs.ts";
import { gitIn, gitRepositories } from "./git-repository.ts";

const STATUS = ["status", "--porcelain=v1", "--branch", "--no-renames", "--ignore-submodules=all"];
const LONGEST_MS = 5000;
const MOST_BYTES = 64 * 1024;
const MOST_LINES = 20;
const MOST_LINE_CHARACTERS = 200;

/** One line each as git prints it; null when git does not answer in time, or would run what the repository names. */
export async function uncommittedChanges(ground: FactsGround, signal: AbortSignal): Promise<string | null> {
  const [root = ""] = ground.roots;
  const { git, env } = gitIn(ground);
  // It does not look into submodules, so they need no check first.
  const use = { subcommand: "status", changes: false, readsFiles: false };
  if (git === null || gitRepositories(ground).repositoryFault(root, use) !== null) return null;
  const { exitCode, output, stopped } = await runProgram({
    command: git,
    args: STATUS,
    cwd: root,
    env: { ...env, ...ONLY_HERE, LC_ALL: "C", LANGUAGE: "" },
    mostBytes: MOST_BYTES,
    signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]),
  });
  const isWhole = exitCode === 0 && stopped === null;
  if (!isWhole && stopped !== "size") return null;
  const [, ...lines] = output.toString("utf8").trimEnd().split("\n");
  const shown = lines.slice(0, MOST_LINES).map((line) => line.slice(0, MOST_LINE_CHARACTERS));
  const more = isWhole ? lines.length - shown.length : "many";
  return [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join("\n");
}
