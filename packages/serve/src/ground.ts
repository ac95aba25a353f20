import type { SessionOptions } from "@burin/core";

interface OpenedFolder {
  readonly options: SessionOptions;
  /** Messages for the user about the settings. */
  readonly notices: readonly string[];
}

/** What the command line passes to a server for other programs. */
export interface ServeOptions {
  readonly version: string;
  /** Opens these folders, of which the first is the root; default: the current folder. Throws SettingsError. */
  readonly open: (folders?: readonly string[]) => Promise<OpenedFolder>;
  /** The folder that Burin was started in or for. */
  readonly root: string;
  /** true if the user has named the root, so that a program must not name another one. */
  readonly isRootFixed: boolean;
  /** Informs the user outside the protocol. */
  readonly note: (text: string) => void;
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal;
}

export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
