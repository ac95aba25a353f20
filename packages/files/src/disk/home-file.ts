import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { SettingsError } from "@burin/contract/settings/settings";
import { describeError } from "@burin/contract/text/error-message";
import { resolvePossiblyMissing } from "./disk-looks.ts";
import { makeFolders, randomName } from "./own-files.ts";
import { lockPath, PathLockError } from "./path-lock.ts";
import { readText } from "./regular-file.ts";

/** Far more than any real settings, grants or answers take. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Returns the text of a file in the user's folder, or null when there is none. Throws SettingsError. */
export async function readHomeFile(path: string): Promise<string | null> {
  try {
    return readText(path, MAX_BYTES);
  } catch (error) {
    throw new SettingsError(`${path} cannot be read: ${describeError(error)}`);
  }
}

/**
 * Changes a file in the user's folder without loss: one process at a time, and after a crash the file has the old text
 * or the new one. `change` gets the current text; when it returns null or throws, the file stays as it is.
 */
export async function changeHomeFile(
  path: string,
  change: (text: string | null) => string | null,
): Promise<void> {
  await withExclusiveLock(path, async () => {
    const before = await readHomeFile(path);
    const after = change(before);
    if (after !== null && after !== before) await replaceHomeFile(resolvePossiblyMissing(path), after);
  });
}

/** Does work that no other process may do for this path at the same time. */
export async function withExclusiveLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    makeFolders(dirname(path));
  } catch (error) {
    throw createWriteError(path, error);
  }
  try {
    return await lockPath(resolvePossiblyMissing(path), work);
  } catch (error) {
    throw error instanceof PathLockError ? new SettingsError(error.message) : error;
  }
}

/** Replaces the file. After a crash it has the old text or the new one. Throws SettingsError. */
export async function replaceHomeFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomName(6)}.tmp`;
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
    await rm(temporary, { force: true }).catch(() => {});
    throw createWriteError(path, error);
  }
}

function createWriteError(path: string, error: unknown): SettingsError {
  return new SettingsError(`${path} cannot be written: ${describeError(error)}. It was left as it is.`);
}

interface ListRules<Item> {
  /** The only key in the file. */
  readonly key: string;
  readonly isItem: (value: unknown) => value is Item;
  /** The consequence when the file cannot be used. */
  readonly consequence: string;
}

/** A list that is the whole content of a file in the user's folder. A file that is not valid is left as it is. */
export class HomeList<Item> {
  readonly path: string;
  readonly #rules: ListRules<Item>;

  constructor(path: string, rules: ListRules<Item>) {
    this.path = path;
    this.#rules = rules;
  }

  /** Throws SettingsError. */
  async readItems(): Promise<readonly Item[]> {
    return this.#parseItems(await readHomeFile(this.path));
  }

  /** Writes nothing when the list stays the same. Throws SettingsError, and stores nothing, when it cannot write. */
  async changeItems(change: (items: readonly Item[]) => readonly Item[]): Promise<void> {
    await changeHomeFile(this.path, (text) => {
      const before = this.#parseItems(text);
      const after = change(before);
      return after === before ? text : `${JSON.stringify({ [this.#rules.key]: after }, null, 2)}\n`;
    });
  }

  #parseItems(text: string | null): readonly Item[] {
    if (text === null) return [];
    const { key, isItem, consequence } = this.#rules;
    const found = parseJson(text);
    const items = isRecord(found) ? found[key] : undefined;
    if (Array.isArray(items) && items.every(isItem)) return items;
    throw new SettingsError(
      `${this.path} is not valid, so ${consequence}. It was left as it is: fix it or delete it.`,
    );
  }
}
