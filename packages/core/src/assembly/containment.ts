import type { CommandSandbox } from "@burin/commands/machine";
import { isWithin } from "@burin/files/paths/paths";
import { lookAtWork, MOST_KEPT_BYTES, readStamp, type TreeRequest, type WorkLook } from "@burin/files/tree";

/** What commands cannot do, and what undo can give back. */
export interface Containment {
  readonly canRestore: (path: string) => boolean;
  /** What undo could not give back, and nobody can make again; null when these are more than can be mounted. */
  readonly readOnly: readonly string[] | null;
}

export interface ContainmentNeeds {
  /** null where nothing is kept for undo. */
  readonly request: TreeRequest | null;
  readonly sandbox: () => Promise<CommandSandbox>;
  readonly signal: AbortSignal;
}

/** Each is a mount of its own. */
const MOST_MOUNTS = 200;

/** What holds for a command that runs unasked now; or why none may, a clause for the user. */
export async function findContainment(needs: ContainmentNeeds): Promise<Containment | string> {
  const { request, sandbox, signal } = needs;
  if (request === null) return "nothing is kept here for undo";
  const fact = await sandbox();
  if (fact.sandbox === null) return `commands run without a sandbox (${fact.reason})`;
  const look = await lookAtWork(request, signal);
  const { isCut, hasMoreIgnored } = look;
  if (isCut) return "this folder is too large for undo";
  const lost = findUnkept(look);
  return {
    canRestore: (path) => !hasMoreIgnored && !lost.some((one) => isWithin(one, path)),
    readOnly: hasMoreIgnored || lost.length > MOST_MOUNTS ? null : lost,
  };
}

/** The files and folders that undo could not give back. */
export function findUnkept({ stamps, missed }: WorkLook): string[] {
  const large = [...stamps].flatMap(([path, stamp]) =>
    readStamp(stamp).bytes > MOST_KEPT_BYTES ? [path] : [],
  );
  return [...missed, ...large];
}
