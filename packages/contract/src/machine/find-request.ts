export interface FindRequest {
  /** A glob counted from the folder; one without any slash is compared with names at any depth. */
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly respectGitIgnore: boolean;
  /** How many of the newest are given. */
  readonly most: number;
}

export interface FoundFiles {
  /** Absolute paths, the newest first, those of one moment by path. */
  readonly files: readonly string[];
  readonly total: number;
  /** The time was over before everything was looked at. */
  readonly isPartial: boolean;
  readonly unreadableFolders: number;
  /** Something was left out because git ignores it. */
  readonly hasIgnored?: boolean;
}
