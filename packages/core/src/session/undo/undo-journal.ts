import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  readdirSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { describeError } from "@burin/contract/text/error-message";
import { tryLstat, tryReadEntries } from "@burin/files/disk/disk-looks";
import { appendLine, makeFolders } from "@burin/files/disk/own-files";
import { openRegularFile } from "@burin/files/disk/regular-file";
import { HAS_DESCRIPTOR_PATHS } from "@burin/files/paths/paths";
import type { OnChange, PendingChange } from "@burin/files/workspace/replace-file";
import { buildProjectFolderName } from "../log/project-name.ts";
import { type Content, describeFile } from "./content.ts";
import type { FileChange, JournalLine } from "./journal-line.ts";
import { SECRET_PREFIX } from "./kept-contents.ts";

/** The largest new content that is stored too, so that lines can be merged. */
export const MAX_MERGED_BYTES = 8 * 1024 * 1024;
const MAX_COPIED_BYTES = 256 * 1024 * 1024;
const CHANGES_BETWEEN_PRUNES = 256;

export function resolveUndoFolder(home: string, root: string): string {
  return join(home, "undo", buildProjectFolderName(root));
}

/**
 * Creates an id. Ids sort by time, even within one millisecond or when the clock is set back. Earlier versions wrote a
 * count in place of "00"; their ids sort correctly too.
 */
class ChangeIds {
  /** The folders whose ids were read. */
  readonly #continued = new Set<string>();
  /** The time in the last id. */
  #last = 0;

  next(folder: string): string {
    if (!this.#continued.has(folder)) this.#last = Math.max(this.#last, findLatestTime(folder));
    this.#continued.add(folder);
    this.#last = Math.max(Date.now(), this.#last + 1);
    return `${this.#last.toString(36).padStart(9, "0")}00-${randomBytes(3).toString("hex")}`;
  }
}

/** Shared by sessions: ids come one after the other in the whole process. */
const changeIds = new ChangeIds();

export function createChangeId(folder: string): string {
  return changeIds.next(folder);
}

/** Returns the time in the last id of a change or undo of which something is stored. */
function findLatestTime(folder: string): number {
  try {
    const ids = readdirSync(folder).map((name) => /^(?:undo-)?([0-9a-z]{9})00-/.exec(name)?.[1] ?? "");
    return Number.parseInt(ids.sort().at(-1) || "0", 36);
  } catch {
    return 0;
  }
}

/** Stores the bytes before and after each change, if possible without a copy: as a second name of the old file. */
export class UndoJournal {
  readonly #folder: string;
  readonly #path: string;
  readonly #top: string;
  #changes = 0;

  /** `writer` is the id of the session that makes the changes, or another unique name. */
  constructor(home: string, root: string, writer: string) {
    this.#folder = resolveUndoFolder(home, root);
    this.#path = join(this.#folder, `${writer}.jsonl`);
    this.#top = join(home, "undo");
  }

  readonly onChange: OnChange = (change) => {
    const id = createChangeId(this.#folder);
    this.dropOldEntries();
    try {
      makeFolders(this.#folder);
      const line = this.#keepChange(id, change);
      this.appendLine(line);
      const isKept = line.before === null || line.before.kept !== undefined;
      const note = isKept ? null : "it is too large to be taken back with burin undo";
      return { note, forget: () => this.#forget(id) };
    } catch (error) {
      this.#removeKept(id);
      return { note: `it cannot be taken back with burin undo: ${describeError(error)}`, forget: () => {} };
    }
  };

  /** Keeps the store within its limits. Called before each change; most calls do nothing. */
  dropOldEntries(): void {
    if (this.#changes % CHANGES_BETWEEN_PRUNES === 0) pruneUndo(this.#top);
    this.#changes += 1;
  }

  appendLine(line: JournalLine): void {
    makeFolders(this.#folder);
    appendLine(this.#path, line);
  }

  /** Removes the journal of an undo that changed nothing. */
  remove(): void {
    rmSync(this.#path, { force: true });
  }

  #keepChange(id: string, { real, present, coming, madeFolders, hashes }: PendingChange): FileChange {
    return {
      type: "change",
      id,
      at: new Date().toISOString(),
      file: real,
      before: present === null ? null : this.#keepBefore(present, `${id}.before`, hashes?.present),
      after: coming === null ? null : this.#keepAfter(coming, `${id}.after`, hashes?.coming),
      madeFolders,
    };
  }

  #keepBefore(path: string, name: string, hash?: string): Content {
    const stats = statSync(path);
    const isKept = this.#addSecondName(path, name, stats) || this.#copyFile(path, name, stats);
    return { ...describeFile(path, stats, hash), ...(isKept ? { kept: name } : {}) };
  }

  /** Stores the new file as a copy. It stays in use, so a hard link would change with it. */
  #keepAfter(path: string, name: string, hash?: string): Content {
    const stats = statSync(path);
    const isKept = stats.size <= MAX_MERGED_BYTES && this.#copyFile(path, name, stats);
    return { ...describeFile(path, stats, hash), ...(isKept ? { kept: name } : {}) };
  }

  /** Gives the old file a second name. Not for a file with other names, through which it could still be changed. */
  #addSecondName(path: string, name: string, stats: Stats): boolean {
    if (stats.nlink > 1) return false;
    try {
      linkSync(path, join(this.#folder, name));
      return true;
    } catch {
      return false;
    }
  }

  #copyFile(path: string, name: string, stats: Stats): boolean {
    if (stats.size > MAX_COPIED_BYTES) return false;
    // The name may meanwhile be a link.
    const from = openRegularFile(path, constants.O_NOFOLLOW);
    try {
      const opened = HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${from}` : path;
      copyFileSync(opened, join(this.#folder, name), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      return true;
    } finally {
      closeSync(from);
    }
  }

  #forget(id: string): void {
    try {
      this.appendLine({ type: "forgotten", id });
    } catch {
      // Without this line, undo finds that the file never changed.
    }
    this.#removeKept(id);
  }

  #removeKept(id: string): void {
    for (const side of ["before", "after"]) rmSync(join(this.#folder, `${id}.${side}`), { force: true });
  }
}

/** The ending of a repository that an undo removed: its folder is stored as it was. */
export const REPOSITORY_SUFFIX = ".repository";

/** The maximum number of bytes that are stored for undo, over all projects. */
const MAX_KEPT_BYTES = 512 * 1024 * 1024;
const DAY_MS = 24 * 3600 * 1000;
const LONGEST_MS = 30 * DAY_MS;
/** The longest time for files that often hold passwords. */
const LONGEST_SECRET_MS = 7 * DAY_MS;

/** Removes the oldest stored files until the rest is within the limits of size and age. Never throws. */
export function pruneUndo(folder: string, maxBytes = MAX_KEPT_BYTES, now = Date.now()): void {
  try {
    const files = listUndoFiles(folder).sort((one, other) => other.time - one.time);
    // Measure age from the latest file: otherwise a clock that is a month ahead would make everything old.
    const last = files.reduce((latest, { time }) => Math.max(latest, time || 0), 0);
    let total = 0;
    for (const { path, name, isJournal, bytes, time } of files) {
      if (!isJournal) total += bytes;
      const isOld =
        Math.min(now, last) - time > (name.startsWith(SECRET_PREFIX) ? LONGEST_SECRET_MS : LONGEST_MS);
      if (isOld || (!isJournal && total > maxBytes)) rmSync(path, { force: true, recursive: true });
    }
  } catch {
    // Files that cannot be removed stay.
  }
}

function listUndoFiles(folder: string) {
  return tryReadEntries(folder).flatMap((project) =>
    tryReadEntries(join(folder, project.name)).flatMap(({ name }) => {
      const path = join(folder, project.name, name);
      const stats = tryLstat(path);
      if (stats === null) return [];
      const isJournal = name.endsWith(".jsonl");
      const named = /^([0-9a-z]{9})00-/.exec(name)?.[1];
      const time = named === undefined ? stats.mtimeMs : Number.parseInt(named, 36);
      return { path, name, isJournal, bytes: stats.size, time };
    }),
  );
}
