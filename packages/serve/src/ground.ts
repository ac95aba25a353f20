import type { SessionOptions } from "@burin/core";

/** A folder to work in, with the settings that hold there. */
export interface OpenedFolder {
  readonly options: SessionOptions;
  /** What the user should know of the settings. */
  readonly notices: readonly string[];
}

/** What a face for other programs is given by the command line. */
export interface Ground {
  readonly version: string;
  /** Opens the folder that was started in, or these: the first is the root. Throws SettingsError. */
  readonly open: (folders?: readonly string[]) => Promise<OpenedFolder>;
  /** The folder that Burin was started in or for. */
  readonly root: string;
  /** The user has named the root, and no program may name another. */
  readonly isRootFixed: boolean;
  /** Tells the user, beside the protocol. */
  readonly note: (text: string) => void;
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
}
