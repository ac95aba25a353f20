/** What one way to call a program does on the network. Lists are words with spaces between. */
export interface NetworkRow {
  /** Names of programs that are called the same way. */
  readonly programs: string;
  /** The first word besides options must be one of these; `none` stands for none. */
  readonly subcommands?: string;
  /** Options that take the next word, before and behind the subcommand. */
  readonly values?: string;
  /** Words with which the program stays on this machine. */
  readonly offline?: string;
  /** Words of which one must be given; otherwise the program stays on this machine. */
  readonly only?: string;
  /**
   * Where it goes: to a package manager's registry and the addresses among its words; to `hosts` and those; to the
   * addresses of all its words; to the machine of the first one; to those that some words name as `host:path`; to a
   * git remote; to the server of `hostOption`.
   */
  readonly goesTo:
    | `registry ${string}`
    | "hosts"
    | "addresses"
    | "machine"
    | "files"
    | "remote"
    | "every remote"
    | "submodules"
    | "option"
    | "unknown";
  readonly hosts?: string;
  /** Options whose value is a host or an address. */
  readonly hostOption?: string;
  /** Options that lead to addresses which these words do not show. */
  readonly unseen?: string;
  /** Any word but an address is a folder, not the name of a remote. */
  readonly needsAddress?: boolean;
  /** true if the program cannot use the proxy: it does not speak HTTP, or uses the network of another process. */
  readonly noProxy?: boolean;
  /** true if the program uses the network only when something is missing on this machine. */
  readonly isPossible?: boolean;
  /** Where a project keeps the programs that the first word behind the options may name. */
  readonly programsIn?: string;
  readonly isSending?: boolean;
  /** What follows the command in a sentence. */
  readonly does: string;
  readonly example: string;
}

/** A command that a row is about. */
export interface NetworkCommand {
  readonly row: NetworkRow;
  /** The program, its subcommand, the others in order. */
  readonly words: readonly (string | null)[];
  /** The folder into which git itself changes. */
  readonly folder: string | null;
}

export const HELP_OPTIONS = "--help --version -h";
