import { realpathSync } from "node:fs";
import { relative } from "node:path";
import type { Settings } from "@burin/contract/settings/settings";
import { resolveBurinHome } from "../settings/load-settings.ts";

/** What undo cannot restore in a folder, as far as listing it shows. */
interface UndoGaps {
  /** true if the folder is too large to be listed. Then only edits can be undone. */
  readonly isTooLarge: boolean;
  /** true if a folder could not be read. */
  readonly hasUnreadable: boolean;
  /** true if there are more ignored files than undo covers. */
  readonly hasMoreIgnored: boolean;
  /** Files above 64 MB, and ignored files and folders that are too large or too deep. Relative to the folder. */
  readonly paths: readonly string[];
}

interface UndoLocation {
  readonly root: string;
  readonly settings: Pick<Settings, "files">;
  readonly environment: NodeJS.ProcessEnv;
}

/** Lists the folder as is done before each command. Reads no file's content. */
export async function findUndoGaps(
  { root, settings, environment }: UndoLocation,
  signal: AbortSignal,
): Promise<UndoGaps> {
  const { findUnrestorable, snapshotWork } = await import("@burin/files/tree");
  const real = realpathSync.native(root);
  const request = {
    roots: [real],
    settings: { ...settings.files, environment },
    except: resolveBurinHome(environment),
  };
  const look = await snapshotWork(request, signal);
  const { isTruncated, isComplete, hasMoreIgnored } = look;
  return {
    isTooLarge: isTruncated,
    hasUnreadable: !isTruncated && !isComplete,
    hasMoreIgnored,
    paths: [...findUnrestorable(look).keys()].map((path) => relative(real, path)),
  };
}
