import type { AccessSettings } from "../ignore/access-settings.ts";
import type { ReadMemory } from "./read-record.ts";
import type { BeginWrite, OnChange } from "./replace-file.ts";

/** What a session tells the files of a machine: which may be used, and who wants to know of changes. */
export interface WorkspaceSettings extends AccessSettings {
  /** Resolves to a listener for each change of a file; called with the first change. */
  readonly openJournal?: () => Promise<OnChange>;
  /** Called before each write, so that what a crash leaves of it can be found. */
  readonly beginWrite?: BeginWrite;
  /** What the model has seen in an earlier process, and sees now. */
  readonly reads?: ReadMemory;
}
