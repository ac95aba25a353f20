/** One word of a command. */
export interface ShellWord {
  /** As written. */
  readonly text: string;
  /** What the program gets; null when only the running shell can know it. */
  readonly value: string | null;
  /** The shell replaces it with the names of matching files, where there are any. */
  readonly isGlob: boolean;
  /** It becomes as many words as there are such files. */
  readonly isMany?: boolean;
  /** Of a word without a value: text that may be shown, whatever it turns out to be. */
  readonly isAnyText?: boolean;
  /** Of a word without a value: it is one line of what this command prints. */
  readonly lineOf?: SimpleCommand;
}

export interface ShellAssignment {
  readonly text: string;
  readonly name: string;
  readonly value: string | null;
}

export interface ShellRedirection {
  readonly text: string;
  /** `copy` joins two streams, `data` feeds text that stands in the command itself. */
  readonly kind: "read" | "write" | "copy" | "data";
  /** The file, or for `data` the text; null when only the running shell can know it. */
  readonly target: string | null;
  /** The file is one that this pattern matches. */
  readonly isGlob?: boolean;
  /** Of `data` without a target: text that may be shown, whatever it turns out to be. */
  readonly isAnyText?: boolean;
}

/** One simple command: a program with its words, or assignments or redirections alone. */
export interface SimpleCommand {
  readonly text: string;
  readonly words: readonly ShellWord[];
  readonly assignments: readonly ShellAssignment[];
  readonly redirections: readonly ShellRedirection[];
  /** Joined to all before it by `&&`: it runs only if they succeeded. */
  readonly followsSuccess: boolean;
  /** It runs in a shell of its own, as in a pipeline, so the folder it goes to is nobody else's. */
  readonly isApart: boolean;
  /** The simple command of the same pipeline whose output it reads. */
  readonly input?: SimpleCommand | undefined;
  /** The body of a loop, read once more for another word. */
  readonly isRepeat?: boolean;
  /** Why it is more than plain words, in words. */
  readonly problems: readonly string[];
}

/** A command line taken apart. */
export interface ShellCommand {
  /** Every simple command, those in substitutions included, in the order in which they are written. */
  readonly commands: readonly SimpleCommand[];
  /** What the line holds besides simple commands, in words; empty when it is nothing but those. */
  readonly problems: readonly string[];
  /** false when some of it could not be read at all, so that there may be commands that are not listed. */
  readonly isWhole: boolean;
}
