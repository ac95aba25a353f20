export interface FindRequest {
  /** A glob relative to the folder; one without a slash is compared with names at any depth. */
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly respectGitIgnore: boolean;
  /** How many of the newest files are returned. */
  readonly most: number;
}

export interface FoundFiles {
  /** Absolute paths, newest first; files of the same time are sorted by path. */
  readonly files: readonly string[];
  readonly total: number;
  /** The time limit was reached before everything was searched. */
  readonly isPartial: boolean;
  readonly unreadableFolders: number;
  /** Something was left out because git ignores it. */
  readonly hasIgnored?: boolean;
}
