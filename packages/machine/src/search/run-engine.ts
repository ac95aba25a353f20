import type { Stretch } from "../files/walk.ts";
import { helperPath } from "../processes/helper-program.ts";
import { runProgram } from "../processes/supervisor.ts";
import type { Batch } from "./engine.ts";

const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

/** A child gets what it needs to run and nothing that could change what it does, or that is nobody's business. */
const BARE_ENVIRONMENT = {
  SystemRoot: process.env.SystemRoot,
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: process.platform === "win32" ? "NUL" : "/dev/null",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  // It searches files, not a repository, and so reads no settings that would name programs, or that never end.
  GIT_DIR: "/dev/null/none",
};

/** The names that the program prints, each ended by a NUL; null when it failed. */
export async function namesFrom(
  command: string,
  args: readonly string[],
  { folder, signal }: Pick<Batch, "folder" | "signal">,
): Promise<ReadonlySet<string> | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    const end = await runProgram({
      command,
      args,
      cwd: folder,
      env: { ...BARE_ENVIRONMENT, PATH: helperPath() },
      signal,
      onOutput: (chunk) => {
        chunks.push(chunk);
        bytes += chunk.length;
        return bytes <= MOST_OUTPUT_BYTES;
      },
    });
    // Unreadable files are not reported by the programs; what they do report is a fault of the call.
    if (end.stopped !== null || end.exitCode === null || (end.exitCode > 1 && end.errors !== "")) return null;
  } catch {
    return null;
  }
  const names = Buffer.concat(chunks).toString("utf8").split("\0");
  return new Set(names.filter((name) => name !== "").map(withoutDot));
}

/** Fewer files of one folder are named one by one. */
const FEWEST_FOR_A_FOLDER = 4;

/**
 * Whether the files can be told to an engine, one that does not descend, by the name of their folder: it
 * reads a folder quicker than it takes the names. Files that nobody asked for are not given it to read.
 */
export function isFolderEnough({ names, isWhole }: Stretch): boolean {
  return isWhole && names.length >= FEWEST_FOR_A_FOLDER;
}

/** The folders of the files, or their names where the folder holds others. */
export function asPlaces(stretches: readonly Stretch[]): string[] {
  const folders = stretches.filter(isFolderEnough).map(({ folder }) => `./${folder}`);
  return [...new Set(folders), ...asArguments(stretches.filter((stretch) => !isFolderEnough(stretch)))];
}

/** The names as arguments: one that looks like an option or like standard input is given a folder. */
export function asArguments(stretches: readonly Stretch[]): string[] {
  const files = stretches.flatMap(({ folder, names }) => names.map((name) => folder + name));
  return files.map((file) => (file.startsWith("-") ? `./${file}` : file));
}

function withoutDot(name: string): string {
  return name.startsWith("./") ? name.slice(2) : name;
}
