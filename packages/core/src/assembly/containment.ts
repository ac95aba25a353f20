import type { CommandSandbox } from "@burin/commands/machine";
import { isWithin } from "@burin/files/paths/paths";
import { findUnrestorable, snapshotWork, type TreeRequest } from "@burin/files/tree";

/** What commands cannot do, and what undo can restore. */
export interface Containment {
  readonly canRestore: (path: string) => boolean;
  /** Files and folders that undo could not restore and nobody can recreate. null if there are too many to mount. */
  readonly readOnly: readonly string[] | null;
}

export interface ContainmentOptions {
  /** null if nothing is stored for undo. */
  readonly request: TreeRequest | null;
  /** Whether the roots are copies, so that nothing in them needs undo. */
  readonly isCopy: boolean;
  readonly sandbox: () => Promise<CommandSandbox>;
  /** Whether a command of this session made the file or folder, and nobody else has changed it since. */
  readonly isMadeHere: (path: string, stamp: string) => boolean;
  readonly signal: AbortSignal;
}

/** The maximum number of paths that are protected, because each needs its own mount. */
const MAX_MOUNTS = 200;

/** Finds the containment for commands that run without a question. Returns a clause for the user if none may. */
export async function findContainment(needs: ContainmentOptions): Promise<Containment | string> {
  const { request, isCopy, sandbox, isMadeHere, signal } = needs;
  if (request === null && !isCopy) return "nothing is kept here for undo";
  const fact = await sandbox();
  if (fact.sandbox === null) return `commands run without a sandbox (${fact.reason})`;
  if (request === null) return { canRestore: () => true, readOnly: [] };
  const look = await snapshotWork(request, signal);
  const { isTruncated, hasMoreIgnored } = look;
  if (isTruncated) return "this folder is too large for undo";
  const lost = [...findUnrestorable(look)].flatMap(([path, stamp]) => (isMadeHere(path, stamp) ? [] : path));
  return {
    canRestore: (path) => !hasMoreIgnored && !lost.some((one) => isWithin(one, path)),
    readOnly: hasMoreIgnored || lost.length > MAX_MOUNTS ? null : lost,
  };
}
