import { closeSync, openSync, writeSync } from "node:fs";
import { readLog } from "./read-log.ts";
import { recordLine } from "./record-line.ts";
import { SessionError } from "./session-error.ts";
import { makeSessionFolder, type SessionPlace, sessionPath } from "./session-files.ts";
import { newSessionId } from "./session-id.ts";
import { TurnCount } from "./turn-count.ts";

export interface ForkOptions {
  readonly home: string;
  readonly root: string;
  readonly place: SessionPlace;
  /** The last turn of the model that the new session has; 0 keeps only the first prompt. */
  readonly turn: number;
}

/** Makes a new session of the beginning of another one, which stays as it is. Gives its id. */
export async function forkSession({ home, root, place, turn: last }: ForkOptions): Promise<string> {
  const lines: Buffer[] = [];
  const count = new TurnCount();
  let reached = 0;
  for (const { at, event, seen } of readLog(place.path)) {
    const { turn } = count.follow(event);
    const isNextPrompt = last > 0 && turn === last && event.type === "text" && event.role === "user";
    if (turn > last || isNextPrompt) break;
    reached = turn;
    const json = { event: JSON.stringify(event), seen: seen && JSON.stringify(seen) };
    lines.push(recordLine(lines.length + 1, at, json));
  }
  if (reached < last || lines.length === 0) {
    throw new SessionError(
      "unusable",
      `The session ${place.id} has ${reached} turns, so it has no turn ${last}.`,
    );
  }
  const id = newSessionId();
  await makeSessionFolder(home, root);
  const descriptor = openSync(sessionPath(home, root, id), "wx", 0o600);
  try {
    for (const line of lines) writeSync(descriptor, line);
  } finally {
    closeSync(descriptor);
  }
  return id;
}
