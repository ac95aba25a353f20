/** A word that a program gets. */
export interface Argument {
  readonly value: string;
  /** true if the shell replaces the word with the names of matching files. */
  readonly isGlob: boolean;
  /** true if the word becomes as many words as there are matching files. */
  readonly isMany?: boolean;
  /** What is known about the paths that the word stands for. */
  readonly below?: PathSet;
}

/** Paths in known folders; the word's `value` is such a folder. */
export interface PathSet {
  readonly folders: readonly string[];
  /** Patterns, all of which match the last segment of each path. */
  readonly names: readonly string[];
  readonly hasLinks: boolean;
  /** true if the paths come as text, which a program splits at spaces and quotes. */
  readonly isText: boolean;
  /** Set for paths that git prints: names in the index, and names in the commits that these words may name. */
  readonly inGit?: readonly string[];
}

/**
 * Why a command needs an approval. `unknown`: it is not known to be read-only. `launch`: a word can make the
 * program start or write something else. `outside`: it reaches out of the root. `destructive`: it may destroy work
 * that cannot be restored. `protected`: it writes a file that runs code later.
 */
export interface Finding {
  readonly nature: "unknown" | "launch" | "outside" | "destructive" | "protected";
  readonly what: string;
  /** The last word that a rule must spell out to cover this; `BEYOND_RULES` when words cannot. */
  readonly upTo: number;
  /** The path of a file that the shell writes for it, which a rule of its own can cover. */
  readonly writes?: string;
  /** The path that the finding is about, as written. */
  readonly path?: string;
  /** The paths that would be deleted, as written. */
  readonly deletes?: readonly string[];
  /** true if it destroys only what git tracks or could track, which undo restores. */
  readonly isKept?: boolean;
}

/** The position of findings that no words of a rule can cover; only a rule for every command covers them. */
export const BEYOND_RULES = Number.POSITIVE_INFINITY;

/** What a git command is about to do in a folder. */
export interface GitUse {
  /** true if the command changes something or talks to other machines. */
  readonly changes: boolean;
  readonly subcommand: string;
  /** true if it reads files too, and thus the submodules among them. */
  readonly readsFiles: boolean;
}

/** Why git would do more in a folder than its words say. */
export interface RepositoryFault {
  /** `runs`: it would run a program that the repository names, or read outside the roots. */
  readonly nature: "program" | "outside";
  readonly what: string;
}

/** Questions about the place in which a command runs. */
export interface Reach {
  /** Returns the same questions for a subfolder into which the program itself changes. */
  moveTo(folder: string): Reach;
  /** Why a path is not certainly inside the root, or null. */
  explainOutside(path: string, isGlob: boolean): string | null;
  /** Why paths in a folder are not certainly inside the root although the folder is, or null. */
  explainPlanted(folder: string, below: PathSet): string | null;
  /** Whether the pattern may match a name that begins with a dash. */
  mayBecomeOption(pattern: string): boolean;
  /** Whether a file whose name matches may be in the folder, or above it in the project. */
  hasFileAbove(pattern: string): boolean;
  /** The project's folder in which that program would be found if it is nowhere else, or null. */
  findProjectFolder(program: string): string | null;
  /** Why git would run a program that the repository names, or read outside the root; or null. */
  repositoryFault(use: GitUse): RepositoryFault | null;
}

/** Judges the words of a program; the first one is its name. No findings mean: read-only, and inside the root. */
export type ProgramReader = (words: readonly Argument[], reach: Reach) => readonly Finding[];

export function judgePath(word: Argument, upTo: number, reach: Reach): Finding[] {
  const { below, value, isGlob } = word;
  const folders = below?.folders ?? [value];
  for (const path of folders) {
    const what = reach.explainOutside(path, isGlob);
    if (what !== null) return [{ nature: "outside", what, upTo, path }];
  }
  if (below === undefined) return [];
  // A rule covers the folder that the words name, but not a link that a repository has put in it.
  const planted = folders.map((folder) => reach.explainPlanted(folder, below)).find((what) => what !== null);
  return planted ? [{ nature: "outside", what: planted, upTo: BEYOND_RULES }] : [];
}

/** Like `judgePath`, for a program that visits everything below a path and follows links there. */
export function judgeFollowedPath(word: Argument, upTo: number, reach: Reach): Finding[] {
  if (word.isGlob)
    return [createLaunchFinding(`what \`${word.value}\` matches is not checked for links`, upTo)];
  const named = word.below ?? { folders: [word.value], isText: false };
  return judgePath({ ...word, below: { ...named, names: [], hasLinks: true } }, upTo, reach);
}

/**
 * Creates a finding for a word whose meaning depends on its position: file names in its place would shift the other
 * words.
 */
export function judgeExpandedWord({ value, isMany }: Argument, upTo: number): Finding[] {
  return isMany
    ? [createLaunchFinding(`\`${value}\` expands to file names, which could have a special meaning`, upTo)]
    : [];
}

/** Creates a finding for a word that the program interprets as instructions: it must not come from a file name. */
export function judgeScriptWord(word: Argument, upTo: number): Finding[] {
  return judgeExpandedWord({ ...word, isMany: word.isGlob || word.below !== undefined }, upTo);
}

export function createUnknownFinding(what: string, upTo = 0): Finding {
  return { nature: "unknown", what, upTo };
}

export function createLaunchFinding(what: string, upTo: number): Finding {
  return { nature: "launch", what, upTo };
}
