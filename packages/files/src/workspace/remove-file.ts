import { closeSync, constants, fstatSync, openSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { asWorkspaceError } from "../disk/system-error.ts";
import { closeMade, openTargetFolder, removeMade } from "../paths/target-folder.ts";
import { changed, type OnChange } from "./replace-file.ts";

export interface Removal {
  /** The path as it was requested; only for messages. */
  readonly file: string;
  readonly real: string;
  readonly roots: readonly string[];
  /** Whether the file, open at its beginning, still has exactly the content that is to be removed. */
  readonly isOf: (descriptor: number) => Promise<boolean>;
  /** The number of folders above it that are removed too, if they are empty. */
  readonly madeFolders: number;
  readonly onChange: OnChange;
}

/** Removes a file that still has the expected content. */
export async function removeFile(removal: Removal): Promise<void> {
  const { file, real, roots, isOf, madeFolders, onChange } = removal;
  const folder = await openTargetFolder(real, roots);
  let kept: ReturnType<OnChange> | undefined;
  try {
    const target = folder.path(folder.name);
    kept = onChange({ real, present: target, coming: null, madeFolders });
    const descriptor = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!fstatSync(descriptor).isFile() || !(await isOf(descriptor))) throw changed(file);
    } finally {
      closeSync(descriptor);
    }
    unlinkSync(target);
  } catch (error) {
    kept?.forget();
    throw asWorkspaceError(error, file);
  } finally {
    await removeMade(folder.made);
    closeSync(folder.descriptor);
  }
  for (let above = dirname(real), left = madeFolders; left > 0; above = dirname(above), left -= 1) {
    await removeEmpty(above, roots);
  }
}

/** Does something at a path in exactly the folder that the path names now, whatever it names a moment later. */
export async function workAt(
  { real, roots }: Pick<Removal, "real" | "roots">,
  work: (path: string) => void,
): Promise<void> {
  const folder = await openTargetFolder(real, roots);
  try {
    work(folder.path(folder.name));
    closeMade(folder.made);
  } finally {
    closeSync(folder.descriptor);
  }
}

/** By the folder around it that was opened and checked: by now its path may lead elsewhere. */
async function removeEmpty(folder: string, roots: readonly string[]): Promise<void> {
  const around = await openTargetFolder(folder, roots).catch(() => null);
  if (around === null) return;
  await removeMade([{ parent: around.descriptor, path: around.path(around.name) }, ...around.made]);
}
