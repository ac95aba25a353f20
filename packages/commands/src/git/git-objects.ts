import { buildHelperPath, findHelper } from "../processes/helper-program.ts";
import { runGit } from "./git-programs.ts";

/** A git folder, and the environment that says where git itself is. */
export interface ObjectStore {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly content: Buffer;
}

const NEWLINE = 0x0a;

function readObjectBatch(
  { folder, environment: { PATH } }: ObjectStore,
  words: readonly string[],
  input: string,
): Buffer {
  const env = { PATH: buildHelperPath(PATH), GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  const all = ["--no-replace-objects", "--git-dir", folder, ...words];
  return runGit(all, { git: findHelper("git", PATH), cwd: "/", env, input }).output;
}

/** Reads the objects that exist under these ids. The content is not verified against the id. */
export function readObjects(git: ObjectStore, ids: readonly string[]): GitObject[] {
  if (ids.length === 0) return [];
  const output = readObjectBatch(git, ["cat-file", "--batch"], `${ids.join("\n")}\n`);
  const found: GitObject[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(NEWLINE, at);
    if (end === -1) break;
    const [id = "", type = "", size] = output.toString("latin1", at, end).split(" ");
    at = end + 1;
    if (size === undefined) continue;
    found.push({ id, type, content: output.subarray(at, at + Number(size)) });
    at += Number(size) + 1;
  }
  return found;
}

/** The ids of the newest commits and tags before these, as git lists them. */
export function listRecentCommits(git: ObjectStore, tips: readonly string[], maxCommits: number): string[] {
  const words = ["rev-list", "--stdin", "--ignore-missing", "-n", String(maxCommits)];
  const listed = readObjectBatch(git, words, `${tips.join("\n")}\n`)
    .toString("latin1")
    .trim();
  return [...tips, ...listed.split("\n").filter((line) => line !== "")];
}
