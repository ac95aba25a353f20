import type { AccessSettings } from "../ignore/access-settings.ts";
import type { ReadMemory } from "./read-record.ts";
import type { BeginWrite, OnChange } from "./replace-file.ts";

/** What a session passes to a workspace: which files may be used, and who wants to know of changes. */
export interface WorkspaceSettings extends AccessSettings {
  /** Resolves to a listener for each change of a file; called with the first change. */
  readonly openJournal?: () => Promise<OnChange>;
  /** Called before each write, so that what a crash leaves of it can be found. */
  readonly beginWrite?: BeginWrite;
  /** The record of what the model has seen, in earlier processes and now. */
  readonly reads?: ReadMemory;
}
