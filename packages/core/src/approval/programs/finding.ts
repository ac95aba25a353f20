/** A word that a program gets. */
export interface Argument {
  readonly value: string;
  /** The shell replaces it with names of files, where any match. */
  readonly isGlob: boolean;
}

/**
 * Why a command needs an approval. `unknown`: it is not known to be read-only. `launch`: a word can make the
 * program start or write something of its own choice. `outside`: it reaches out of the root. `destructive`:
 * work that nobody can bring back. `protected`: it writes a file that runs code later.
 */
export interface Finding {
  readonly nature: "unknown" | "launch" | "outside" | "destructive" | "protected";
  readonly what: string;
  /** The last word that a rule must spell out to cover this. */
  readonly upTo: number;
}

/** What may be asked about the place in which a command runs. */
export interface Reach {
  /** Why a path is not plainly inside the root, or null. */
  outside(path: string, isGlob: boolean): string | null;
  /** A setting that makes git run a program of the repository's choice, or null. */
  repositoryProgram(): string | null;
}

/** Judges the words of a program, the first being its name. No finding means: read-only, and inside the root. */
export type ProgramReader = (words: readonly Argument[], reach: Reach) => readonly Finding[];

export function pathFinding(word: Argument, upTo: number, reach: Reach): Finding[] {
  const what = reach.outside(word.value, word.isGlob);
  return what === null ? [] : [{ nature: "outside", what, upTo }];
}

export function unknownFinding(what: string, upTo = 0): Finding {
  return { nature: "unknown", what, upTo };
}

export function launchFinding(what: string, upTo: number): Finding {
  return { nature: "launch", what, upTo };
}
