import { rm, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { AgentEvent } from "@burin/contract/agent-event";
import { makeFolders } from "@burin/files/disk/own-files";
import { readErrorCode } from "@burin/files/disk/system-error";
import { formatRecordLine } from "./record-line.ts";
import type { Secrets } from "./redactor.ts";
import { resolveSessionPath } from "./session-files.ts";

/** A session of another program, to be imported. */
export interface ImportedSession {
  readonly home: string;
  readonly root: string;
  readonly id: string;
  /** The events with their times. The first one is a `session` event. */
  readonly events: Iterable<readonly [at: string, event: AgentEvent]>;
  /** The environment whose secrets are removed from the log. */
  readonly environment: NodeJS.ProcessEnv;
}

/** Returns the value without secrets, as a log would contain it. */
export async function redactSecrets<T>(value: T, secrets: Secrets): Promise<T> {
  const { Redactor } = await import("./redactor.ts");
  return new Redactor(secrets).redactValue(value) as T;
}

/** Writes the log of an imported session with the original dates. Returns false if the id exists already. */
export async function writeSession({
  home,
  root,
  id,
  events,
  environment,
}: ImportedSession): Promise<boolean> {
  const { Redactor } = await import("./redactor.ts");
  const redactor = new Redactor({ environment });
  const lines: Buffer[] = [];
  let last = new Date(0);
  for (const [at, event] of events) {
    last = new Date(at);
    const record = { n: lines.length + 1, at: last.toISOString(), event };
    lines.push(formatRecordLine(record, (value) => redactor.redactJson(value)));
  }
  const path = resolveSessionPath(home, root, id);
  makeFolders(dirname(path));
  try {
    await writeNewLog(path, () => writeFile(path, Buffer.concat(lines), { flag: "wx", mode: 0o600 }));
  } catch (error) {
    if (readErrorCode(error) === "EEXIST") return false;
    throw error;
  }
  await utimes(path, last, last);
  return true;
}

/** Writes a new log. Removes it if that fails, because half a session would be taken for a whole one. */
export async function writeNewLog(path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (readErrorCode(error) !== "EEXIST") await rm(path, { force: true });
    throw error;
  }
}
