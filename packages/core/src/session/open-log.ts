import type { LogFile } from "./event-log.ts";
import type { PastSession } from "./past-session.ts";
import { Redactor } from "./redactor.ts";
import { sessionPath } from "./session-files.ts";
import { type SessionLock, takeLock } from "./session-lock.ts";

export interface LogPlace {
  readonly home: string;
  readonly root: string;
  readonly id: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Variables that hold secrets although their names are not known for it. */
  readonly secretNames: readonly string[];
  /** What is in the log already, of a session that is taken up again; its lock is held. */
  readonly past?: { readonly session: PastSession; readonly lock: SessionLock };
}

/** Opens the log of a session to be written to, by this process alone. */
export async function openLog({
  home,
  root,
  id,
  environment,
  secretNames,
  past,
}: LogPlace): Promise<LogFile> {
  const redactor = new Redactor(environment, secretNames);
  const path = past?.session.path ?? sessionPath(home, root, id);
  const lock = past?.lock ?? (await takeLock(path));
  return { path, jsonOf: (value) => redactor.json(value), onClose: () => lock.release() };
}
