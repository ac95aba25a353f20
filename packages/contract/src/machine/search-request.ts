export interface SearchRequest {
  /** In the dialect of `patterns/search-dialect.ts`. */
  readonly pattern: string;
  readonly caseSensitive: boolean;
  /** The pattern is the text itself. */
  readonly fixed: boolean;
  /** Only files whose path from the searched directory, or whose name, matches one of these globs. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly respectGitIgnore: boolean;
  /** Most hits given; for `namesOnly` most files. */
  readonly most: number;
  /** Lines shown before and after each hit. */
  readonly context: number;
  /** One hit a file is enough. */
  readonly namesOnly: boolean;
  /** Searched in the place of what these files hold, by their real paths: texts of an editor that are not saved. */
  readonly unsaved?: ReadonlyMap<string, string>;
}

export interface SearchLine {
  /** Counted from 1. */
  readonly number: number;
  /** Without its line end; a long one only in part, which its marks say. */
  readonly text: string;
  /** false for the lines around a hit. */
  readonly isHit: boolean;
}

export interface FileHits {
  /** From the searched directory, with `/`; the name alone when a file was searched. */
  readonly path: string;
  readonly lines: readonly SearchLine[];
}

export interface SearchResult {
  /** In the order of their paths by code point. */
  readonly files: readonly FileHits[];
  /** How many hits are in `files`. */
  readonly hits: number;
  /** There is at least one more hit than was asked for. */
  readonly hasMore: boolean;
  /** What was not searched and why, in words; empty when everything was. */
  readonly gaps: readonly string[];
  /** Something was left out because git ignores it. */
  readonly hasIgnored?: boolean;
}
