import type { FileHelpers } from "@burin/contract/machine/file-helpers";
import type { Pattern } from "@burin/contract/patterns/pattern";
import { gitTopOf } from "../ignore/git-excludes.ts";
import type { Stretch } from "../ignore/walk.ts";
import { enginePattern } from "./engine-pattern.ts";

/** Where an engine searches. */
export interface EnginePlace {
  /** The searched folder; the engine's working directory. */
  readonly folder: string;
  /** Where to look for programs. */
  readonly environment: NodeJS.ProcessEnv;
  readonly helpers: FileHelpers;
}

/**
 * A program that says which files may contain a matching line. It may name too many files, never too few. The lines
 * themselves are found by one matcher, so all engines give the same hits in the same order.
 */
export interface Engine {
  readonly name: "ripgrep" | "git" | "grep";
  /** Whether it searches UTF-16 files with a byte order mark. */
  readonly readsUtf16: boolean;
  /** Whether a whole folder can be passed to it by its name. */
  readonly takesFolders: boolean;
  /** The files come in the order of their paths. Resolves to null when the program fails. */
  propose(stretches: readonly Stretch[], signal: AbortSignal): Promise<ReadonlySet<string> | null>;
}

/** Creates an engine for one search; null when its program is missing or cannot handle the pattern. */
export type EngineMaker = (pattern: Pattern, place: EnginePlace) => Engine | null;

const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

/** A child gets only what it needs to run: no other data, and nothing that could change what it does. */
function bareEnvironment({ environment, helpers }: EnginePlace): NodeJS.ProcessEnv {
  const { SystemRoot, PATH } = environment;
  return {
    SystemRoot,
    PATH: helpers.programPath(PATH),
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: process.platform === "win32" ? "NUL" : "/dev/null",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    // It searches files, not a repository, so it must not read settings that would name programs or never end.
    GIT_DIR: "/dev/null/none",
  };
}

/** Runs a program that prints names, each ended by a NUL; null when it failed. */
export async function namesFrom(
  [command, ...args]: readonly [string, ...string[]],
  place: EnginePlace,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | null> {
  const means = { env: bareEnvironment(place), signal, mostBytes: MOST_OUTPUT_BYTES };
  const request = { command, args, cwd: place.folder, ...means };
  const end = await place.helpers.runProgram(request).catch(() => null);
  // The programs do not report unreadable files; any error output is a fault of the call.
  const hasFailed = end?.exitCode == null || (end.exitCode > 1 && end.errors !== "");
  if (hasFailed || end.stopped !== null) return null;
  const names = end.output.toString("utf8").split("\0");
  names.pop();
  return new Set(names.map((name) => (name.startsWith("./") ? name.slice(2) : name)));
}

/** The names as arguments. A name that looks like an option or like standard input gets a folder in front. */
export function asArguments(stretches: readonly Stretch[]): string[] {
  const files = stretches.flatMap(({ folder, names }) => names.map((name) => folder + name));
  return files.map((file) => (file.startsWith("-") ? `./${file}` : file));
}

const GIT_GREP = ["git", "grep", "--no-index", "--no-textconv", "--no-color", "-lzaE"] as const;
const EVERYWHERE = ["--", ".", ":(exclude,glob)**/node_modules/**", ":(exclude,glob)**/.git/**"];

/**
 * Searches the files on disk, tracked or not. Long lists of paths are slow, so it searches the whole folder once,
 * and that is the result for each batch.
 */
export const gitGrep: EngineMaker = (pattern, place) => {
  const written = enginePattern(pattern, "extended");
  if (written === null || gitTopOf(place.folder) === null) return null;
  let all: ReturnType<Engine["propose"]> | undefined;
  return {
    name: "git",
    readsUtf16: false,
    takesFolders: true,
    propose: (_stretches, signal) =>
      (all ??= namesFrom([...GIT_GREP, "-e", written, ...EVERYWHERE], place, signal)),
  };
};

const GREP = ["grep", "-l", "-a", "-s", "--null", "-E"] as const;

export const systemGrep: EngineMaker = (pattern, place) => {
  const written = enginePattern(pattern, "extended");
  if (written === null) return null;
  return {
    name: "grep",
    readsUtf16: false,
    takesFolders: false,
    propose: (stretches, signal) =>
      namesFrom([...GREP, "-e", written, "--", ...asArguments(stretches)], place, signal),
  };
};
