import type { FileHelpers } from "@burin/contract/machine/file-helpers";
import type { Pattern } from "@burin/contract/patterns/pattern";
import { findWorkTreeTop } from "../disk/disk-looks.ts";
import type { WalkBatch } from "../ignore/walk.ts";
import { toEnginePattern } from "./engine-pattern.ts";

/** Where an engine searches. */
export interface EngineOptions {
  /** The searched folder; the engine's working directory. */
  readonly folder: string;
  /** The environment in which programs are searched for. */
  readonly environment: NodeJS.ProcessEnv;
  readonly helpers: FileHelpers;
}

/**
 * A program that proposes files that may contain a match. It may propose too many, never too few. One matcher finds the
 * lines, so all engines give the same hits in the same order.
 */
export interface Engine {
  readonly name: "ripgrep" | "git" | "grep";
  /** Whether it searches UTF-16 files with a byte order mark. */
  readonly canReadUtf16: boolean;
  /** Whether a whole folder can be passed to it by its name. */
  readonly canTakeFolders: boolean;
  /** Returns the proposed files in the order of their paths. Resolves to null when the program fails. */
  proposeFiles(stretches: readonly WalkBatch[], signal: AbortSignal): Promise<ReadonlySet<string> | null>;
}

/** Creates an engine for one search; null when its program is missing or cannot handle the pattern. */
export type CreateEngine = (pattern: Pattern, place: EngineOptions) => Engine | null;

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Builds a child process's environment with only the variables that it needs: nothing private, and nothing that could
 * change what it does.
 */
function buildBareEnvironment({ environment, helpers }: EngineOptions): NodeJS.ProcessEnv {
  const { SystemRoot, PATH } = environment;
  return {
    SystemRoot,
    PATH: helpers.programPath(PATH),
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: process.platform === "win32" ? "NUL" : "/dev/null",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    // Git searches plain files here, so it must not read a repository's settings, which could name programs or make it
    // hang.
    GIT_DIR: "/dev/null/none",
  };
}

/** Runs a program that prints names, each ended by a NUL; null when it failed. */
export async function listNamesFromProgram(
  [command, ...args]: readonly [string, ...string[]],
  place: EngineOptions,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | null> {
  const means = { env: buildBareEnvironment(place), signal, maxBytes: MAX_OUTPUT_BYTES };
  const request = { command, args, cwd: place.folder, ...means };
  const end = await place.helpers.runProgram(request).catch(() => null);
  // These programs do not report unreadable files, so any error output means that the call was wrong.
  const hasFailed = end?.exitCode == null || (end.exitCode > 1 && end.errors !== "");
  if (hasFailed || end.stopped !== null) return null;
  const names = end.output.toString("utf8").split("\0");
  names.pop();
  return new Set(names.map((name) => (name.startsWith("./") ? name.slice(2) : name)));
}

/** Formats the names as arguments. A name that looks like an option or like standard input gets a folder in front. */
export function formatArguments(stretches: readonly WalkBatch[]): string[] {
  const files = stretches.flatMap(({ folder, names }) => names.map((name) => folder + name));
  return files.map((file) => (file.startsWith("-") ? `./${file}` : file));
}

const GIT_GREP = ["git", "grep", "--no-index", "--no-textconv", "--no-color", "-lzaE"] as const;
const GIT_GREP_PATHS = ["--", ".", ":(exclude,glob)**/node_modules/**", ":(exclude,glob)**/.git/**"];

/**
 * Searches the files on disk, tracked or not. Git is slow with long lists of paths, so it searches the whole folder
 * once and returns that result for each batch.
 */
export const createGitGrep: CreateEngine = (pattern, place) => {
  const written = toEnginePattern(pattern, "extended");
  if (written === null || findWorkTreeTop(place.folder) === null) return null;
  let all: ReturnType<Engine["proposeFiles"]> | undefined;
  return {
    name: "git",
    canReadUtf16: false,
    canTakeFolders: true,
    proposeFiles: (_stretches, signal) =>
      (all ??= listNamesFromProgram([...GIT_GREP, "-e", written, ...GIT_GREP_PATHS], place, signal)),
  };
};

const GREP = ["grep", "-l", "-a", "-s", "--null", "-E"] as const;

export const createSystemGrep: CreateEngine = (pattern, place) => {
  const written = toEnginePattern(pattern, "extended");
  if (written === null) return null;
  return {
    name: "grep",
    canReadUtf16: false,
    canTakeFolders: false,
    proposeFiles: (stretches, signal) =>
      listNamesFromProgram([...GREP, "-e", written, "--", ...formatArguments(stretches)], place, signal),
  };
};
