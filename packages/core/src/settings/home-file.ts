import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { messageOf } from "../text/error-message.ts";
import { SettingsError } from "./settings.ts";

/** How long others may take with the same file. */
const PATIENCE_MS = 5000;
/** A lock is held for milliseconds; one this old, of a process that is no more, was left by a crash. */
const STALE_MS = 2000;

/** The text of a file that belongs to the person, null when there is none. Throws SettingsError. */
export async function readHomeFile(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw new SettingsError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

/**
 * Changes such a file so that nothing is ever lost: one process at a time, and the old text or the new one
 * whatever happens. `change` is given the text as it is now; what it throws leaves the file as it was.
 */
export async function changeHomeFile(path: string, change: (text: string | null) => string): Promise<void> {
  await alone(path, async () => {
    const before = await readHomeFile(path);
    const after = change(before);
    if (after !== before) await replace(await realpath(path).catch(() => path), after);
  });
}

/** Does work that no other process may do at the same time for this path. */
export async function alone<T>(path: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unlock = await lock(`${path}.lock`);
  try {
    return await work();
  } finally {
    await unlock();
  }
}

async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new SettingsError(`${path} cannot be written: ${messageOf(error)}. It was left as it is.`);
  }
}

async function lock(path: string): Promise<() => Promise<void>> {
  const mark = `${process.pid} ${randomBytes(6).toString("hex")}\n`;
  for (const deadline = Date.now() + PATIENCE_MS; ; await pause(5 + Math.random() * 20)) {
    if (await isMade(path, mark)) return () => rm(path, { force: true });
    await breakStale(path);
    if (Date.now() > deadline) {
      throw new SettingsError(`${path} is held by another Burin. If none runs, delete it and try again.`);
    }
  }
}

/** The lock appears with its content, so that nobody reads one without an owner. */
async function isMade(path: string, mark: string): Promise<boolean> {
  const own = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(own, "wx", 0o600);
    await file.writeFile(mark).finally(() => file.close());
    await link(own, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw new SettingsError(`${path} cannot be made: ${messageOf(error)}`);
  } finally {
    await rm(own, { force: true });
  }
}

async function breakStale(path: string): Promise<void> {
  const seen = await readFile(path, "utf8").catch(() => null);
  const made = await stat(path).catch(() => null);
  if (seen === null || made === null || Date.now() - made.mtimeMs < STALE_MS || isAlive(seen)) return;
  const aside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await rename(path, aside);
    // Another may have broken it first and hold a new one: that one goes back.
    if ((await readFile(aside, "utf8")) !== seen) await link(aside, path);
  } catch {
    // Somebody else was quicker.
  } finally {
    await rm(aside, { force: true });
  }
}

function isAlive(mark: string): boolean {
  try {
    process.kill(Number.parseInt(mark, 10), 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
