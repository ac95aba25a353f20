/** One word of a command. */
export interface ShellWord {
  readonly text: string;
  /** What the program gets; null when it is known only at run time. */
  readonly value: string | null;
  /** The shell replaces it with the names of matching files, if there are any. */
  readonly isGlob: boolean;
  /** It becomes as many words as there are such files. */
  readonly isMany?: boolean;
  /** For a word without a value: text that may be shown, whatever it is. */
  readonly isAnyText?: boolean;
  /** For a word without a value: the top of the work tree as git prints it, followed by this path. */
  readonly belowTop?: string;
  /** For a word without a value: it is one line of this command's output, or some of its words. */
  readonly lineOf?: SimpleCommand;
}

export interface ShellAssignment {
  readonly text: string;
  readonly name: string;
  readonly value: string | null;
  /** It sets only a variable of this line, and that variable is certainly set afterwards. */
  readonly isOwn?: boolean;
}

export interface ShellRedirection {
  readonly text: string;
  /** `copy` joins two streams, `data` is text in the command itself. */
  readonly kind: "read" | "write" | "copy" | "data";
  /** The file, or for `data` the text; null when it is known only at run time. */
  readonly target: string | null;
  /** The file is one that this pattern matches. */
  readonly isGlob?: boolean;
  /** For `data` without a target: text that may be shown, whatever it is. */
  readonly isAnyText?: boolean;
  /** For `read` without a target: the file is one line of this command's output. */
  readonly lineOf?: SimpleCommand | undefined;
}

/** One simple command: a program with its words, or assignments or redirections alone. */
export interface SimpleCommand {
  readonly text: string;
  readonly words: readonly ShellWord[];
  readonly assignments: readonly ShellAssignment[];
  readonly redirections: readonly ShellRedirection[];
  /** Joined to all before it by `&&`: it runs only if they succeeded. */
  readonly followsSuccess: boolean;
  /** It runs in a subshell, for example in a pipeline, so its `cd` affects no other command. */
  readonly isApart: boolean;
  /** The simple command of the same pipeline whose output it reads. */
  readonly input?: SimpleCommand | undefined;
  /** Its output is split into words, each of which may be a pattern. */
  readonly isSplit?: boolean;
  /** Its output is read up to each NUL. */
  readonly isByNul?: boolean;
  /** A loop's body, read again for another word. */
  readonly isRepeat?: boolean;
  /** Why it is more than plain words. */
  readonly problems: readonly string[];
}

export interface ShellCommand {
  /** Every simple command, including those in substitutions, in the order in which they are written. */
  readonly commands: readonly SimpleCommand[];
  /** What the line contains besides simple commands; empty when there is nothing else. */
  readonly problems: readonly string[];
  /** false when some of it could not be parsed, so that there may be commands that are not listed. */
  readonly isWhole: boolean;
  /** Texts in it, if something in it may evaluate what is in a variable. */
  readonly evaluated: readonly string[];
}
