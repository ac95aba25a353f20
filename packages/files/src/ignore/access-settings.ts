import type { IgnoreSettings } from "./ignore.ts";

export interface AccessSettings extends IgnoreSettings {
  /** Globs of paths, from a root, that no tool may open: the patterns of deny rules for reading. */
  readonly denied: readonly string[];
  /**
   * Folders outside the roots whose files may be read, such as the folder of long outputs. Their links are resolved.
   */
  readonly readable?: readonly string[];
  /** Real folders outside the roots that the user has opened for reading. The list grows. */
  readonly opened?: string[];
  /** Folders with secrets, which nobody can open for reading. */
  readonly closed?: readonly string[];
  /** Burin's own folder. Sandbox guards read there which protected files the user has changed. */
  readonly home?: string;
}

export const NO_ACCESS_SETTINGS: AccessSettings = { ignoreFileNames: [], ignore: [], denied: [] };
