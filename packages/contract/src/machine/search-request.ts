export interface SearchRequest {
  /** In the dialect of `patterns/search-dialect.ts`. */
  readonly pattern: string;
  readonly caseSensitive: boolean;
  /** The pattern is literal text. */
  readonly fixed: boolean;
  /** Only files whose path relative to the searched directory, or whose name, matches one of these globs. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly respectGitIgnore: boolean;
  /** Most hits returned; with `namesOnly`, most files. */
  readonly most: number;
  /** Lines shown before and after each hit. */
  readonly context: number;
  /** One hit per file is enough. */
  readonly namesOnly: boolean;
  /** Unsaved texts from an editor, by real path; searched instead of what these files hold on disk. */
  readonly unsaved?: ReadonlyMap<string, string>;
}

export interface SearchLine {
  /** Counted from 1. */
  readonly number: number;
  /** Without the line end. A long line is shortened, which marks in it show. */
  readonly text: string;
  /** false for the lines around a hit. */
  readonly isHit: boolean;
}

export interface FileHits {
  /** Relative to the searched directory, with `/`; only the name when a single file was searched. */
  readonly path: string;
  readonly lines: readonly SearchLine[];
}

export interface SearchResult {
  /** Sorted by path, by code point. */
  readonly files: readonly FileHits[];
  /** The number of hits in `files`. */
  readonly hits: number;
  /** There is at least one more hit than requested. */
  readonly hasMore: boolean;
  /** What was not searched and why, in words; empty when everything was searched. */
  readonly gaps: readonly string[];
  /** Something was left out because git ignores it. */
  readonly hasIgnored?: boolean;
}
