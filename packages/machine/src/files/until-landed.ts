import type { FileWritten } from "@burin/contract/machine/file-change";
import { WorkspaceError } from "@burin/contract/machine/workspace";

/** Each lost race means that somebody else's edit has landed; so many at once are not meant. */
const MOST_TRIES = 100;

export interface Landing<Change> {
  readonly write: (change: Change) => Promise<FileWritten>;
  /** The same change made to what the file holds now; null where the change is for one content only. */
  readonly merge: ((change: Change, conflict: WorkspaceError) => Promise<Change>) | null;
}

/** Writes, and where somebody else was quicker, what became of the change for the file as it is then. */
export async function untilLanded<Change>(
  first: Change,
  { write, merge }: Landing<Change>,
): Promise<{ readonly written: FileWritten; readonly done: Change }> {
  for (let change = first, tries = 1; ; tries += 1) {
    try {
      return { written: await write(change), done: change };
    } catch (error) {
      const isRace = error instanceof WorkspaceError && error.code === "changed_on_disk";
      if (!isRace || merge === null || tries === MOST_TRIES) throw error;
      change = await merge(change, error);
    }
  }
}
