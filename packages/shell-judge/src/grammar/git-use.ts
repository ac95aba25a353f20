/** What a git command is about to do in a folder. */
export interface GitUse {
  /** The command changes something, or talks to other machines. */
  readonly changes: boolean;
  readonly subcommand: string;
  /** It reads the files too, and so the submodules among them. */
  readonly readsFiles: boolean;
}

/** Why git would do more in a folder than its words say. */
export interface RepositoryFault {
  /** It would run a program that the repository names, or read outside the roots. */
  readonly nature: "program" | "outside";
  readonly what: string;
}
