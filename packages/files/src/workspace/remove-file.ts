import { closeSync, constants, fstatSync, openSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { toWorkspaceError } from "../disk/system-error.ts";
import { closeCreatedFolders, openTargetFolder, removeCreatedFolders } from "../paths/target-folder.ts";
import { createChangedError, type OnChange } from "./replace-file.ts";

export interface Removal {
  /** The path as it was requested; only for messages. */
  readonly file: string;
  readonly real: string;
  readonly roots: readonly string[];
  /** Whether the file, open at its beginning, still has exactly the content that is to be removed. */
  readonly hasContent: (descriptor: number) => Promise<boolean>;
  /** The number of folders above it that are removed too, if they are empty. */
  readonly madeFolders: number;
  readonly onChange: OnChange;
}

/** Removes a file that still has the expected content. */
export async function removeFile(removal: Removal): Promise<void> {
  const { file, real, roots, hasContent, madeFolders, onChange } = removal;
  const folder = await openTargetFolder(real, roots);
  let kept: ReturnType<OnChange> | undefined;
  try {
    const target = folder.path(folder.name);
    kept = onChange({ real, present: target, coming: null, madeFolders });
    const descriptor = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!fstatSync(descriptor).isFile() || !(await hasContent(descriptor))) throw createChangedError(file);
    } finally {
      closeSync(descriptor);
    }
    unlinkSync(target);
  } catch (error) {
    kept?.forget();
    throw toWorkspaceError(error, file);
  } finally {
    await removeCreatedFolders(folder.createdFolders);
    closeSync(folder.descriptor);
  }
  for (let above = dirname(real), left = madeFolders; left > 0; above = dirname(above), left -= 1) {
    await removeEmptyFolder(above, roots);
  }
}

/** Does work at a path in the folder that the path names now, even if that folder is swapped a moment later. */
export async function withTargetFolder(
  { real, roots }: Pick<Removal, "real" | "roots">,
  work: (path: string) => void,
): Promise<void> {
  const folder = await openTargetFolder(real, roots);
  try {
    work(folder.path(folder.name));
    closeCreatedFolders(folder.createdFolders);
  } finally {
    closeSync(folder.descriptor);
  }
}

/** Works through the parent folder that was opened and checked, because the path may lead elsewhere by now. */
async function removeEmptyFolder(folder: string, roots: readonly string[]): Promise<void> {
  const around = await openTargetFolder(folder, roots).catch(() => null);
  if (around === null) return;
  await removeCreatedFolders([
    { parent: around.descriptor, path: around.path(around.name) },
    ...around.createdFolders,
  ]);
}
