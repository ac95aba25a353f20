import type { Workspace } from "@burin/contract/machine/workspace";
import type { WorkspaceSettings } from "@burin/files/workspace/node-workspace";
import type { GitUse, RepositoryFault } from "@burin/shell-judge";
import type { FactsOptions, TreeFacts } from "./processes/command-surroundings.ts";
import type { CommandsOptions } from "./shell/command-request.ts";
import type { CommandSandbox, MachineCommands } from "./shell/machine-commands.ts";

export type { CommandSandbox, FactsOptions, MachineCommands };

/**
 * A computer as tools and approval see it: files, commands, and facts about the paths in a command. createToolbox
 * and createSession accept another one, for example a container, a remote machine or an editor with unsaved files.
 * All requests and answers are plain data.
 */
export interface Machine {
  /** Opens the folders to work in. Each result is for one agent, which has seen some files and others not. */
  openFiles(root: string, includeDirectories: readonly string[], settings: WorkspaceSettings): Workspace;
  openCommands(options: CommandsOptions): MachineCommands;
  /** Opens the facts for one decision. */
  openFacts(ground: FactsOptions): Promise<PathFacts>;
}

type Awaitable<T> = T | Promise<T>;

/** The facts about paths that approval needs. Paths are absolute. */
export interface PathFacts {
  /** Whether the path, or any file that a shell pattern matches, is really outside the roots. */
  leadsOutside(path: string, isPattern: boolean): Awaitable<boolean>;
  /** The real location of the path, or of each file that the pattern matches. */
  realPaths(path: string, isPattern: boolean): Awaitable<readonly string[]>;
  /** Returns the absolute paths of all files below a folder; null when there are too many. */
  filesBelow(folder: string): Awaitable<readonly string[] | null>;
  /** Returns what is in the tree below a folder; null when it is too large. */
  treeBelow(folder: string): Awaitable<TreeFacts | null>;
  /**
   * Names in git's index there, and in the commits that the words name, with spaces or special characters; null
   * when git does not answer.
   */
  oddNamesInGit(folder: string, words: readonly string[]): Awaitable<readonly string[] | null>;
  /**
   * The paths of everything whose content git keeps there: in the index, in all commits, and in what the words name;
   * null when git does not answer, or when a word names content that has no path.
   */
  pathsInGit(folder: string, words: readonly string[]): Awaitable<readonly string[] | null>;
  /** The project's folder in which the program would be found, if it is nowhere else; otherwise null. */
  projectFolderOf(program: string): Awaitable<string | null>;
  /**
   * The top of the work tree that contains the folder, as git reports it, or null. Without this method, a `git
   * rev-parse` in a command leads to more questions.
   */
  workTreeOf?(folder: string): Awaitable<string | null>;
  /** What git would do in that folder beyond what the command's words say, or null. */
  repositoryFault(directory: string, use: GitUse): Awaitable<RepositoryFault | null>;
}
