import type { Pattern } from "@burin/contract/patterns/pattern";
import type { Stretch } from "../files/walk.ts";
import { helperPath } from "../processes/helper-program.ts";

/** Where an engine is to look. */
export interface EnginePlace {
  /** The searched folder; the engine runs in it. */
  readonly folder: string;
  /** Where programs are looked for. */
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * A program that says which files may hold a line that matches. It may name too many, never too few: the
 * lines themselves are found by one matcher, so that all engines give the same hits in the same order.
 */
export interface Engine {
  readonly name: "ripgrep" | "git" | "grep";
  /** Whether it looks into UTF-16 files that bear a byte order mark. */
  readonly readsUtf16: boolean;
  /** Whether the files of a whole folder are told to it by the name of the folder, or not at all. */
  readonly takesFolders: boolean;
  /** The files are given in the order of their paths. null when the program cannot do it. */
  propose(stretches: readonly Stretch[], signal: AbortSignal): Promise<ReadonlySet<string> | null>;
}

/** Makes an engine for one search; null when its program is not there or the pattern is not for it. */
export type EngineMaker = (pattern: Pattern, place: EnginePlace) => Engine | null;

const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

/** A child gets what it needs to run and nothing that could change what it does, or that is nobody's business. */
function bareEnvironment({ SystemRoot, PATH }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    SystemRoot,
    PATH: helperPath(PATH),
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: process.platform === "win32" ? "NUL" : "/dev/null",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    // It searches files, not a repository, and so reads no settings that would name programs, or that never end.
    GIT_DIR: "/dev/null/none",
  };
}

/** Asks a program for names, which it prints, each ended by a NUL; null when it failed. */
export async function namesFrom(
  [command, ...args]: readonly [string, ...string[]],
  { folder, environment }: EnginePlace,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const onOutput = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes <= MOST_OUTPUT_BYTES;
  };
  const env = bareEnvironment(environment);
  const { runProgram } = await import("../processes/supervisor.ts");
  const end = await runProgram({ command, args, cwd: folder, env, signal, onOutput }).catch(() => null);
  // Unreadable files are not reported by the programs; what they do report is a fault of the call.
  const hasFailed = end?.exitCode == null || (end.exitCode > 1 && end.errors !== "");
  if (hasFailed || end.stopped !== null) return null;
  const names = Buffer.concat(chunks).toString("utf8").split("\0");
  names.pop();
  return new Set(names.map((name) => (name.startsWith("./") ? name.slice(2) : name)));
}

/** The names as arguments: one that looks like an option or like standard input is given a folder. */
export function asArguments(stretches: readonly Stretch[]): string[] {
  const files = stretches.flatMap(({ folder, names }) => names.map((name) => folder + name));
  return files.map((file) => (file.startsWith("-") ? `./${file}` : file));
}
