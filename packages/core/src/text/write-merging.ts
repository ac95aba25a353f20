import { WorkspaceError, type WriteResult } from "@burin/contract/machine/workspace";

/** The maximum number of attempts. Each retry means that another program wrote first, so this many cannot be real. */
const MAX_TRIES = 100;

export interface WriteAndMerge<Change> {
  readonly write: (change: Change) => Promise<WriteResult>;
  /** Applies the same change to the present content. null if the change is meant for one content only. */
  readonly merge: ((change: Change, conflict: WorkspaceError) => Promise<Change>) | null;
}

/** Writes a change. If another program wrote first, merges the same change into its content and tries again. */
export async function writeMerging<Change extends { readonly realPath: string } | null>(
  first: Change,
  { write, merge }: WriteAndMerge<Change>,
): Promise<{ readonly written: WriteResult; readonly done: Change }> {
  for (let change = first, tries = 1; ; tries += 1) {
    try {
      return { written: await write(change), done: change };
    } catch (error) {
      const isRace = error instanceof WorkspaceError && error.code === "changed_on_disk";
      if (!isRace || merge === null || tries === MAX_TRIES) throw error;
      const merged = await merge(change, error);
      // The user and the rules have judged one file, but the name may meanwhile lead to another.
      if (merged !== null && merged.realPath !== change?.realPath) throw error;
      change = merged;
    }
  }
}
