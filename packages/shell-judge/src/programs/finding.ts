import type { GitUse, RepositoryFault } from "../grammar/git-use.ts";

/** A word that a program gets. */
export interface Argument {
  readonly value: string;
  /** The shell replaces it with names of files, where any match. */
  readonly isGlob: boolean;
  /** It becomes as many words as there are such files. */
  readonly isMany?: boolean;
  /** It stands for paths of which no more than this is known. */
  readonly below?: Below;
}

/** Paths of which is known in which folders they lie; `value` of the word is such a folder. */
export interface Below {
  readonly folders: readonly string[];
  /** Patterns, all of which the last part of each path matches. */
  readonly names: readonly string[];
  /** Links may be among them. */
  readonly hasLinks: boolean;
  /** They come as text, which a program takes apart at spaces and quotes. */
  readonly isText: boolean;
  /** Git prints them: besides those in the index, names in the commits that these words may name. */
  readonly inGit?: readonly string[];
}

/**
 * Why a command needs an approval. `unknown`: it is not known to be read-only. `launch`: a word can make the
 * program start or write something of its own choice. `outside`: it reaches out of the root. `destructive`:
 * work that nobody can bring back. `protected`: it writes a file that runs code later.
 */
export interface Finding {
  readonly nature: "unknown" | "launch" | "outside" | "destructive" | "protected";
  readonly what: string;
  /** The last word that a rule must spell out to cover this; `BEYOND_RULES` where words cannot. */
  readonly upTo: number;
}

/** For what no words of a rule speak of: only a rule for every command covers it. */
export const BEYOND_RULES = Number.POSITIVE_INFINITY;

/** What may be asked about the place in which a command runs. */
export interface Reach {
  /** Why a path is not plainly inside the root, or null. */
  outside(path: string, isGlob: boolean): string | null;
  /** Why paths that lie in a folder are not plainly inside the root although it is, or null. */
  plantedBelow(folder: string, below: Below): string | null;
  /** Whether a name that begins with a dash may take the place of the pattern. */
  mayBecomeOption(pattern: string): boolean;
  /** The folder of the project in which alone that program would be found, or null. */
  projectFolderOf(program: string): string | null;
  /** Why git would run a program of the repository's choice here, or read outside the root; or null. */
  repositoryFault(use: GitUse): RepositoryFault | null;
}

/** Judges the words of a program, the first being its name. No finding means: read-only, and inside the root. */
export type ProgramReader = (words: readonly Argument[], reach: Reach) => readonly Finding[];

export function pathFinding(word: Argument, upTo: number, reach: Reach): Finding[] {
  const { below, value, isGlob } = word;
  const folders = below?.folders ?? [value];
  const outside = folders.map((folder) => reach.outside(folder, isGlob)).find((what) => what !== null);
  if (outside) return [{ nature: "outside", what: outside, upTo }];
  if (below === undefined) return [];
  // A rule names the folder, and not what a repository has put into it.
  const planted = folders.map((folder) => reach.plantedBelow(folder, below)).find((what) => what !== null);
  return planted ? [{ nature: "outside", what: planted, upTo: BEYOND_RULES }] : [];
}

/** The same for a program that goes through all that is below a path, and follows links there. */
export function followedFinding(word: Argument, upTo: number, reach: Reach): Finding[] {
  if (word.isGlob) return [launchFinding(`what \`${word.value}\` matches is not checked for links`, upTo)];
  const named = word.below ?? { folders: [word.value], isText: false };
  return pathFinding({ ...word, below: { ...named, names: [], hasLinks: true } }, upTo, reach);
}

/** Of a word that has a meaning by its place: names of files would get it instead. */
export function manyFinding({ value, isMany }: Argument, upTo: number): Finding[] {
  return isMany
    ? [launchFinding(`\`${value}\` expands to file names, which could have a special meaning`, upTo)]
    : [];
}

/** Of a word that the program takes for instructions: no name of a file may be one. */
export function scriptFinding(word: Argument, upTo: number): Finding[] {
  return manyFinding({ ...word, isMany: word.isGlob || word.below !== undefined }, upTo);
}

export function unknownFinding(what: string, upTo = 0): Finding {
  return { nature: "unknown", what, upTo };
}

export function launchFinding(what: string, upTo: number): Finding {
  return { nature: "launch", what, upTo };
}

/** One row of a table for several names. */
export function alike<Row>(names: string, row: Row): Record<string, Row> {
  return Object.fromEntries(names.split(" ").map((name) => [name, row]));
}
