import { realpathSync } from "node:fs";
import { relative } from "node:path";
import type { Settings } from "@burin/contract/settings/settings";
import { burinHome } from "../settings/load-settings.ts";

/** What undo cannot give back in a folder, as far as a look can tell. */
export interface UndoGaps {
  /** The folder is too large to be looked at: only edits can be taken back. */
  readonly isTooLarge: boolean;
  /** A folder could not be read. */
  readonly hasUnreadable: boolean;
  /** There are more ignored files than are covered. */
  readonly hasMoreIgnored: boolean;
  /** Files above 64 MB, and ignored files and folders that are too large or too deep; relative to the folder. */
  readonly paths: readonly string[];
}

interface Place {
  readonly root: string;
  readonly settings: Pick<Settings, "files">;
  readonly environment: NodeJS.ProcessEnv;
}

/** Looks as it is done before each command, and reads no file. */
export async function findUndoGaps(
  { root, settings, environment }: Place,
  signal: AbortSignal,
): Promise<UndoGaps> {
  const [{ lookAtWork }, { findUnkept }] = await Promise.all([
    import("@burin/files/tree"),
    import("./containment.ts"),
  ]);
  const real = realpathSync.native(root);
  const request = {
    roots: [real],
    settings: { ...settings.files, environment },
    except: burinHome(environment),
  };
  const look = await lookAtWork(request, signal);
  const { isCut, isWhole, hasMoreIgnored } = look;
  return {
    isTooLarge: isCut,
    hasUnreadable: !isCut && !isWhole,
    hasMoreIgnored,
    paths: findUnkept(look).map((path) => relative(real, path)),
  };
}
