/** One word of a command. */
export interface ShellWord {
  readonly text: string;
  /** The text that the program gets; null when it is known only at run time. */
  readonly value: string | null;
  /** true if the shell replaces the word with the names of matching files, if there are any. */
  readonly isGlob: boolean;
  /** true if the word becomes as many words as there are matching files. */
  readonly isMany?: boolean;
  /** For a word without a value: true if the text may be shown, whatever it is. */
  readonly isAnyText?: boolean;
  /** For a word without a value: the top of the work tree as git prints it, followed by this path. */
  readonly belowTop?: string;
  /** For a word without a value: the command of whose output it is one line, or some words of a line. */
  readonly lineOf?: SimpleCommand;
}

export interface ShellAssignment {
  readonly text: string;
  readonly name: string;
  readonly value: string | null;
  /** true if the command only sets a variable of this line, and the variable is certainly set afterwards. */
  readonly isOwn?: boolean;
}

export interface ShellRedirection {
  readonly text: string;
  /** `copy` joins two streams, `data` is text in the command itself. */
  readonly kind: "read" | "write" | "copy" | "data";
  /** The file, or for `data` the text; null when it is known only at run time. */
  readonly target: string | null;
  /** true if the target is a pattern, and the file is one that it matches. */
  readonly isGlob?: boolean;
  /** For `data` without a target: true if the text may be shown, whatever it is. */
  readonly isAnyText?: boolean;
  /** For `read` without a target: the command of whose output the file's name is one line. */
  readonly lineOf?: SimpleCommand | undefined;
}

/** One simple command: a program with its words, or assignments or redirections alone. */
export interface SimpleCommand {
  readonly text: string;
  readonly words: readonly ShellWord[];
  readonly assignments: readonly ShellAssignment[];
  readonly redirections: readonly ShellRedirection[];
  /** true if `&&` joins the command to all commands before it: it runs only if they succeeded. */
  readonly followsSuccess: boolean;
  /** true if the command runs in a subshell, for example in a pipeline, so that its `cd` affects no other command. */
  readonly isApart: boolean;
  /** The simple command of the same pipeline whose output it reads. */
  readonly input?: SimpleCommand | undefined;
  /** true if its output is split into words, each of which may be a pattern. */
  readonly isSplit?: boolean;
  /** true if its output is read up to each NUL. */
  readonly isByNul?: boolean;
  /** true for a further reading of a loop's body with another word. The first reading is listed too. */
  readonly isRepeat?: boolean;
  /** Why the command is more than plain words. */
  readonly problems: readonly string[];
}

export interface ShellCommand {
  /** Every simple command, including those in substitutions, in the order in which they are written. */
  readonly commands: readonly SimpleCommand[];
  /** What the line contains besides simple commands; empty when there is nothing else. */
  readonly problems: readonly string[];
  /** false when a part could not be parsed, so that commands may be missing from the list. */
  readonly isWhole: boolean;
  /** The texts in the line, if something in it may evaluate the content of a variable. */
  readonly evaluated: readonly string[];
}
