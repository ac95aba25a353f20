import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readText } from "@burin/core/internal";
import { type Queries, readTaskStates, type TaskState } from "./engine-tables.ts";
import { readRunName } from "./steps.ts";

const FILE = "standing.json";
const MAX_BYTES = 64 * 1024 * 1024;
/** The maximum number of tasks that are stored, the newest first. */
const MAX_TASKS = 5000;

/**
 * Stores the state of the tasks when this machine's database stops. Nothing can change until it is started again, so
 * nobody has to start it to see the state. `folder` is the database's folder.
 */
export async function saveStanding(folder: string, database: Queries): Promise<void> {
  const all = await readTaskStates(database, undefined);
  const states = all.slice(-MAX_TASKS);
  // Store each run completely or not at all.
  const cut =
    all.length > states.length ? new Set([readRunName(all.at(-MAX_TASKS - 1)?.id ?? "")]) : new Set();
  const kept = states.filter(({ id }) => !cut.has(readRunName(id)));
  await writeFile(join(folder, FILE), JSON.stringify(kept), { mode: 0o600 });
}

export async function forgetStanding(folder: string): Promise<void> {
  await rm(join(folder, FILE), { force: true });
}

/** Returns the stored tasks of all runs; null if nothing was stored. */
export function readStanding(folder: string): readonly TaskState[] | null {
  const path = join(folder, FILE);
  const text = existsSync(path) ? readText(path, MAX_BYTES) : null;
  return text === null ? null : JSON.parse(text);
}
