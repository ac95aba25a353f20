import { rm, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { AgentEvent } from "@burin/contract/agent-event";
import { makeFolders } from "@burin/files/disk/make-folders";
import { codeOf } from "@burin/files/disk/system-error";
import { recordLine } from "./record-line.ts";
import type { Secrets } from "./redactor.ts";
import { sessionPath } from "./session-files.ts";

/** A session that happened in another program. */
export interface ToldSession {
  readonly home: string;
  readonly root: string;
  readonly id: string;
  /** The events with their times; the first is a `session` event. */
  readonly events: Iterable<readonly [at: string, event: AgentEvent]>;
  /** Its secrets are not written. */
  readonly environment: NodeJS.ProcessEnv;
}

/** The value as a log would have it. */
export async function withoutSecrets<T>(value: T, secrets: Secrets): Promise<T> {
  const { Redactor } = await import("./redactor.ts");
  return new Redactor(secrets).value(value) as T;
}

/** Writes the session's log with the original dates. Returns false, and writes nothing, when the id exists. */
export async function writeSession({ home, root, id, events, environment }: ToldSession): Promise<boolean> {
  const { Redactor } = await import("./redactor.ts");
  const redactor = new Redactor({ environment });
  const lines: Buffer[] = [];
  let last = new Date(0);
  for (const [at, event] of events) {
    last = new Date(at);
    const record = { n: lines.length + 1, at: last.toISOString(), event };
    lines.push(recordLine(record, (value) => redactor.json(value)));
  }
  const path = sessionPath(home, root, id);
  makeFolders(dirname(path));
  try {
    await newLog(path, () => writeFile(path, Buffer.concat(lines), { flag: "wx", mode: 0o600 }));
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
  await utimes(path, last, last);
  return true;
}

/** Removes what a full disk leaves of a log: half a session would be taken for a whole one. */
export async function newLog(path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (codeOf(error) !== "EEXIST") await rm(path, { force: true });
    throw error;
  }
}
