import { closeSync, openSync } from "node:fs";
import { openRegularFile } from "@burin/files/disk/regular-file";
import type { Repository } from "@burin/files/tree";
import type { FactsOptions } from "../processes/command-surroundings.ts";
import { runProgram } from "../processes/supervisor.ts";
import { runProgramSync } from "../processes/wait-for-output.ts";
import { LOCAL_ONLY_ENVIRONMENT } from "./git-programs.ts";
import { createRepositoryInspector, findGit } from "./git-repository.ts";

const TIMEOUT_MS = 20_000;
/** The maximum number of bytes of objects that one git process prints. */
const MAX_PRINTED_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface RefChange {
  readonly name: string;
  /** null for a ref that does not exist. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface Blob {
  readonly id: string;
  readonly bytes: number;
}

/** What git does for undo. It runs no program of the repository, and fetches nothing. */
export class GitWork {
  readonly #repository: Repository;
  readonly #git: string | null;
  readonly #env: NodeJS.ProcessEnv;

  constructor(repository: Repository, ground: FactsOptions) {
    this.#repository = repository;
    const { git, env } = findGit(ground);
    this.#git = git;
    this.#env = { ...env, LC_ALL: "C", LANGUAGE: "" };
  }

  /** Calls `take` with each blob that the repository has. A large one is written to the file that `fileFor` names. */
  readBlobs(
    blobs: readonly Blob[],
    { take, fileFor }: { take: (id: string, bytes: Buffer) => void; fileFor: (id: string) => string },
  ): void {
    let group: string[] = [];
    let size = 0;
    const flush = () => {
      if (group.length > 0) this.#readBlobBatch(group, take);
      [group, size] = [[], 0];
    };
    for (const { id, bytes } of blobs) {
      if (bytes > MAX_PRINTED_BYTES) {
        this.#writeOutputToFile(["cat-file", "blob", id], fileFor(id));
        continue;
      }
      if (size + bytes > MAX_PRINTED_BYTES) flush();
      group.push(id);
      size += bytes;
    }
    flush();
  }

  #readBlobBatch(ids: readonly string[], take: (id: string, bytes: Buffer) => void): void {
    const { output } = this.#runGit(["cat-file", "--batch"], { input: `${ids.join("\n")}\n` });
    for (let at = 0; at < output.length; ) {
      const end = output.indexOf(NEWLINE, at);
      if (end === -1) return;
      const [id = "", type, size] = output.toString("latin1", at, end).split(" ");
      at = end + 1;
      if (size === undefined) continue;
      if (type === "blob" && at + Number(size) < output.length)
        take(id, output.subarray(at, at + Number(size)));
      at += Number(size) + 1;
    }
  }

  /**
   * Returns the paths whose content git converts between the work tree and its store; null when git does not answer.
   */
  listConverted(paths: readonly string[]): Set<string> | null {
    const words = ["check-attr", "-z", "--stdin", "filter", "working-tree-encoding", "ident", "eol"];
    const asking = ["--work-tree", this.#repository.top, ...words];
    const { output, fault } = this.#runGit(asking, { input: paths.map((path) => `${path}\0`).join("") });
    if (fault !== null) return null;
    const fields = output.toString("utf8").split("\0");
    const found = new Set<string>();
    for (let at = 0; at + 2 < fields.length; at += 3) {
      const [path = "", , value = ""] = fields.slice(at, at + 3);
      if (!["unspecified", "unset", "lf"].includes(value)) found.add(path);
    }
    return found;
  }

  /** Writes what is reachable from `ids` and from nothing in `others` to a pack. Returns what went wrong, or null. */
  pack(ids: readonly string[], others: readonly string[], file: string): string | null {
    const input = [...ids, "--not", ...others].map((line) => `${line}\n`).join("");
    return this.#writeOutputToFile(["pack-objects", "--revs", "--stdout", "-q"], file, input);
  }

  /** Gives the repository the objects of a pack. Returns what went wrong, or null. */
  unpack(file: string): string | null {
    const from = openRegularFile(file);
    try {
      return this.#runGit(["unpack-objects", "-q"], { from }).fault;
    } finally {
      closeSync(from);
    }
  }

  /** Changes all refs or none: none if one is not as expected. Returns what went wrong, or null. */
  updateRefs(changes: readonly RefChange[]): string | null {
    if (changes.length === 0) return null;
    const lines = changes.map(({ name, before, after }) => {
      if (after === null) return `delete ${name} ${before}`;
      return before === null ? `create ${name} ${after}` : `update ${name} ${after} ${before}`;
    });
    const input = ["start", ...lines, "prepare", "commit"].map((line) => `${line}\n`).join("");
    return this.#runGit(["update-ref", "--no-deref", "-m", "undo", "--stdin"], { input }).fault;
  }

  #buildArguments(words: readonly string[]): string[] {
    return ["--no-replace-objects", "--git-dir", this.#repository.gitDir, ...words];
  }

  #runGit(
    words: readonly string[],
    how: Pick<Parameters<typeof runProgramSync>[2], "input" | "from" | "to">,
  ) {
    if (this.#git === null) return { output: Buffer.alloc(0), fault: "there is no git outside the project" };
    const place = { cwd: this.#repository.top, env: this.#env, longestMs: TIMEOUT_MS };
    return runProgramSync(this.#git, this.#buildArguments(words), { ...place, ...how });
  }

  #writeOutputToFile(words: readonly string[], file: string, input?: string): string | null {
    const to = openSync(file, "w", 0o600);
    try {
      return this.#runGit(words, input === undefined ? { to } : { to, input }).fault;
    } finally {
      closeSync(to);
    }
  }
}

const LONGEST_CHECKOUT_MS = 300_000;

export interface GitAnswer {
  readonly output: Buffer;
  /** What went wrong, or null. */
  readonly fault: string | null;
}

/** Runs git as the user would, but without hooks. Throws where the repository names programs that git would run. */
export function openOwnGit(folder: string, environment: NodeJS.ProcessEnv) {
  const ground = { roots: [folder], environment, passEnvironment: [] };
  const { git, env } = findGit(ground);
  if (git === null) throw new Error("there is no git outside the project");
  const use = { subcommand: "diff", changes: false, readsFiles: true };
  const fault = createRepositoryInspector(ground).repositoryFault(folder, use);
  // A work tree keeps its state in another folder.
  if (fault?.nature === "program") throw new Error(`git would run what this repository names: ${fault.what}`);
  const ask = (words: readonly string[], cwd = folder): GitAnswer =>
    runProgramSync(git, words, {
      cwd,
      env: { ...env, LC_ALL: "C", LANGUAGE: "" },
      longestMs: LONGEST_CHECKOUT_MS,
    });
  const runOrThrow = (words: readonly string[], cwd = folder): Buffer => {
    const { output, fault: failed } = ask(words, cwd);
    if (failed !== null) throw new Error(`git ${words[0]}: ${failed.trim()}`);
    return output;
  };
  return { ask, must: runOrThrow };
}

export type OwnGit = ReturnType<typeof openOwnGit>;

const STATUS = ["status", "--porcelain=v1", "--branch", "--no-renames", "--ignore-submodules=all"];
const STATUS_TIMEOUT_MS = 5000;
const MAX_STATUS_BYTES = 64 * 1024;
const MAX_LINES = 20;
const MAX_LINE_CHARACTERS = 200;

/** One line each as git prints it; null when git does not answer in time, or would run what the repository names. */
export async function listUncommittedChanges(
  ground: FactsOptions,
  signal: AbortSignal,
): Promise<string | null> {
  const [root = ""] = ground.roots;
  const { git, env } = findGit(ground);
  // It does not look into submodules, so they need no check first.
  const use = { subcommand: "status", changes: false, readsFiles: false };
  if (git === null || createRepositoryInspector(ground).repositoryFault(root, use) !== null) return null;
  const { exitCode, output, stopped } = await runProgram({
    command: git,
    args: STATUS,
    cwd: root,
    env: { ...env, ...LOCAL_ONLY_ENVIRONMENT, LC_ALL: "C", LANGUAGE: "" },
    maxBytes: MAX_STATUS_BYTES,
    signal: AbortSignal.any([signal, AbortSignal.timeout(STATUS_TIMEOUT_MS)]),
  });
  const isWhole = exitCode === 0 && stopped === null;
  if (!isWhole && stopped !== "size") return null;
  const [, ...lines] = output.toString("utf8").trimEnd().split("\n");
  const shown = lines.slice(0, MAX_LINES).map((line) => line.slice(0, MAX_LINE_CHARACTERS));
  const more = isWhole ? lines.length - shown.length : "many";
  return [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join("\n");
}
