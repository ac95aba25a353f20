import { type FileWritten, WorkspaceError } from "@burin/contract/machine/workspace";

/** Each retry means that another program's edit came first; this many cannot be real. */
const MOST_TRIES = 100;

export interface Landing<Change> {
  readonly write: (change: Change) => Promise<FileWritten>;
  /** Makes the same change to the present content; null when the change is for one content only. */
  readonly merge: ((change: Change, conflict: WorkspaceError) => Promise<Change>) | null;
}

/** Writes. If another program wrote first, writes the same change merged into its content. */
export async function untilLanded<Change extends { readonly realPath: string } | null>(
  first: Change,
  { write, merge }: Landing<Change>,
): Promise<{ readonly written: FileWritten; readonly done: Change }> {
  for (let change = first, tries = 1; ; tries += 1) {
    try {
      return { written: await write(change), done: change };
    } catch (error) {
      const isRace = error instanceof WorkspaceError && error.code === "changed_on_disk";
      if (!isRace || merge === null || tries === MOST_TRIES) throw error;
      const merged = await merge(change, error);
      // The user and the rules have judged one file: the name may lead to another by now.
      if (merged !== null && merged.realPath !== change?.realPath) throw error;
      change = merged;
    }
  }
}
