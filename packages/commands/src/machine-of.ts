import { posix } from "node:path";
import { type FileFunctions, openFunctionFiles } from "@burin/files/workspace/node-workspace";
import type { Machine, PathFacts } from "./machine.ts";
import { ODD_NAME, type TreeFacts } from "./processes/command-surroundings.ts";
import { type ExecFunction, execCommands, quotePosixWord } from "./shell/exec-commands.ts";

export type { ExecEnd, ExecFunction, ExecOptions } from "./shell/exec-commands.ts";

/** The functions that a machine is made of: four for its files, and one for commands. */
export interface MachineFunctions extends FileFunctions {
  /**
   * The function that runs a command line with the POSIX shell of that machine. Without it, there is no tool for
   * commands.
   */
  readonly exec?: ExecFunction;
}

const FILE_FUNCTIONS = ["readFile", "writeFile", "stat", "readdir"] as const;

/**
 * Makes a machine of a few functions: a bucket, a container, a computer far away. The tools work there as they do here:
 * they keep to the root, follow ignore files and deny rules, know what the model has read, and change a file only if it
 * is still what the model has seen. Undo does not cover such a machine.
 *
 * @example
 * const machine = machineOf({ readFile, writeFile, stat, readdir });
 * const toolbox = createToolbox({ root: "/project", machine });
 */
export function machineOf(functions: MachineFunctions): Machine {
  for (const name of FILE_FUNCTIONS)
    if (typeof functions?.[name] !== "function") throw new TypeError(`machineOf needs a function "${name}".`);
  const { exec } = functions;
  return {
    openFiles: (root, more, settings) => openFunctionFiles(functions, [root, ...more], settings),
    openCommands: (options) => execCommands(exec, options),
    openFacts: async ({ roots }) => createExecFacts(exec, roots),
  };
}

const TIME_LIMIT_MS = 10_000;
/** A tree with more files counts as unknown. */
const MAX_BELOW = 20_000;
const MAX_LINKS = 200;
/**
 * The pattern syntax that can be expanded here. A pattern with any other special character stays unexpanded, and so
 * unknown.
 */
const PLAIN_PATTERN = /^[\w./*?[\]@%+=:, -]*$/;
const UNKNOWN = "Git is not asked on this machine.";

/**
 * Asks the machine's shell for the facts that approval needs. Facts that it cannot give stay unknown, such as what git
 * would do, so that the user is asked.
 */
function createExecFacts(exec: ExecFunction | undefined, roots: readonly string[]): PathFacts {
  const runInShell = async (command: string): Promise<string> => {
    if (exec === undefined) throw new Error("This machine runs no commands.");
    const pieces: Buffer[] = [];
    const onOutput = (piece: Uint8Array | string) => void pieces.push(Buffer.from(piece as string));
    const signal = AbortSignal.timeout(TIME_LIMIT_MS);
    const { exitCode, stdout = "" } = await exec(command, { cwd: roots[0] ?? "/", signal, onOutput });
    if (exitCode !== 0)
      throw new Error(`The machine does not say where a path leads: exit code ${exitCode}.`);
    return Buffer.concat([...pieces, Buffer.from(stdout as string)]).toString("utf8");
  };
  const findReal = async (words: readonly string[], isPattern = false) => {
    // A pattern that matches nothing stands for itself.
    const there = isPattern ? '[ -e "$f" ] || [ -L "$f" ] || continue; ' : "";
    const each = `do ${there}readlink -f -- "$f" || printf "%s\\n" "$f"; done`;
    const text = await runInShell(`for f in ${words.join(" ")}; ${each}`);
    return text.split("\n").filter((line) => line !== "");
  };
  let known: Promise<readonly string[]> | undefined;
  const resolveRoots = () => (known ??= findReal(roots.map(quotePosixWord)));
  const realPaths = async (path: string, isPattern: boolean) =>
    findReal([quoteWord(path, isPattern)], isPattern);
  const findBelow = async (folder: string, kind = "") => {
    const text = await runInShell(
      `find ${quotePosixWord(folder)} ${kind} 2>/dev/null | head -n ${MAX_BELOW + 1}`,
    );
    const lines = text.split("\n").filter((line) => line !== "" && line !== folder);
    return lines.length > MAX_BELOW ? null : lines;
  };
  const surveyTree = async (folder: string): Promise<TreeFacts | null> => {
    const [all, folders, links] = await Promise.all(
      ["", "-type d", "-type l"].map((kind) => findBelow(folder, kind)),
    );
    if (!all || !folders || !links || links.length > MAX_LINKS) return null;
    const [tops, real] = await Promise.all([
      resolveRoots(),
      links.length === 0 ? [] : findReal(links.map(quotePosixWord)),
    ]);
    // A name with a line end looks like two lines here.
    if (real.length !== links.length) return null;
    const isFolder = new Set(folders);
    const odd = all.filter((path) => !isInFolder(path, folder) || ODD_NAME.test(posix.basename(path)));
    return {
      linksOut: links.filter((_, index) => !tops.some((top) => isInFolder(real[index] ?? "", top))),
      oddNames: odd.map((path) => ({ name: posix.basename(path), isFolder: isFolder.has(path) })),
    };
  };
  return {
    realPaths,
    leadsOutside: async (path, isPattern) => {
      const [found, tops] = await Promise.all([realPaths(path, isPattern), resolveRoots()]);
      return found.some((one) => !tops.some((top) => isInFolder(one, top)));
    },
    filesBelow: (folder) => findBelow(folder, "-type f"),
    treeBelow: surveyTree,
    oddNamesInGit: () => null,
    pathsInGit: () => null,
    projectFolderOf: () => null,
    repositoryFault: async () => {
      throw new Error(UNKNOWN);
    },
  };
}

function quoteWord(path: string, isPattern: boolean): string {
  if (!isPattern) return quotePosixWord(path);
  if (!PLAIN_PATTERN.test(path))
    throw new Error("The pattern has characters that the shell of the other machine may read differently.");
  return path.replace(/[^\w./*?[\]-]/g, "\\$&");
}

function isInFolder(path: string, folder: string): boolean {
  return (
    posix.isAbsolute(path) &&
    (path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`))
  );
}
