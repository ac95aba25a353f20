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
import { messageOf } from "@burin/contract/text/error-message";
import { appendLine } from "@burin/files/disk/append-line";
import { entriesOf, lstatOf } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/make-folders";
import { openRegular } from "@burin/files/disk/regular-file";
import { NAMES_DESCRIPTORS } from "@burin/files/paths/paths";
import type { OnChange, PendingChange } from "@burin/files/workspace/replace-file";
import { projectName } from "../log/session-files.ts";
import { type Content, contentOf } from "./content.ts";
import type { FileChange, JournalLine } from "./journal-line.ts";
import { SECRET_PREFIX } from "./kept-contents.ts";

/** Up to this size the new bytes are kept too, so that lines can be merged. */
export const MOST_MERGED_BYTES = 8 * 1024 * 1024;
const MOST_COPIED_BYTES = 256 * 1024 * 1024;
const CHANGES_BETWEEN_PRUNES = 256;

export function undoFolder(home: string, root: string): string {
  return join(home, "undo", projectName(root));
}

/** Shared by sessions: ids come one after the other in the whole process. Folders whose ids were read. */
const continued = new Set<string>();
/** Shared by sessions: the time in the last id. */
let last = 0;
/** Sorts by time, also within one millisecond, when the clock is set back, and among ids that had a count for "00". */
export function newChangeId(folder: string): string {
  if (!continued.has(folder)) last = Math.max(last, latestIn(folder));
  continued.add(folder);
  last = Math.max(Date.now(), last + 1);
  return `${last.toString(36).padStart(9, "0")}00-${randomBytes(3).toString("hex")}`;
}

/** The time in the last id of a change or undo of which something is kept. */
function latestIn(folder: string): number {
  try {
    const ids = readdirSync(folder).map((name) => /^(?:undo-)?([0-9a-z]{9})00-/.exec(name)?.[1] ?? "");
    return Number.parseInt(ids.sort().at(-1) || "0", 36);
  } catch {
    return 0;
  }
}

/** Keeps the bytes around each change, where possible without a copy: the replaced file gets a second name. */
export class UndoJournal {
  readonly #folder: string;
  readonly #path: string;
  readonly #top: string;
  #changes = 0;

  /** `writer` is the id of the session that makes the changes, or another unique name. */
  constructor(home: string, root: string, writer: string) {
    this.#folder = undoFolder(home, root);
    this.#path = join(this.#folder, `${writer}.jsonl`);
    this.#top = join(home, "undo");
  }

  readonly onChange: OnChange = (change) => {
    const id = newChangeId(this.#folder);
    this.prune();
    try {
      makeFolders(this.#folder);
      const line = this.#keep(id, change);
      this.append(line);
      const isKept = line.before === null || line.before.kept !== undefined;
      const note = isKept ? null : "it is too large to be taken back with burin undo";
      return { note, forget: () => this.#forget(id) };
    } catch (error) {
      this.#removeKept(id);
      return { note: `it cannot be taken back with burin undo: ${messageOf(error)}`, forget: () => {} };
    }
  };

  /** Keeps the store within its limits; called before each change, it mostly does nothing. */
  prune(): void {
    if (this.#changes % CHANGES_BETWEEN_PRUNES === 0) pruneUndo(this.#top);
    this.#changes += 1;
  }

  append(line: JournalLine): void {
    makeFolders(this.#folder);
    appendLine(this.#path, line);
  }

  /** Of an undo that changed nothing. */
  remove(): void {
    rmSync(this.#path, { force: true });
  }

  #keep(id: string, { real, present, coming, madeFolders, hashes }: PendingChange): FileChange {
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
    const isKept = this.#secondName(path, name, stats) || this.#copy(path, name, stats);
    return { ...contentOf(path, stats, hash), ...(isKept ? { kept: name } : {}) };
  }

  /** Copies the new file: it stays in use, so a hard link would change with it. */
  #keepAfter(path: string, name: string, hash?: string): Content {
    const stats = statSync(path);
    const isKept = stats.size <= MOST_MERGED_BYTES && this.#copy(path, name, stats);
    return { ...contentOf(path, stats, hash), ...(isKept ? { kept: name } : {}) };
  }

  /** Not for a file with other names, through which it could still be changed. */
  #secondName(path: string, name: string, stats: Stats): boolean {
    if (stats.nlink > 1) return false;
    try {
      linkSync(path, join(this.#folder, name));
      return true;
    } catch {
      return false;
    }
  }

  #copy(path: string, name: string, stats: Stats): boolean {
    if (stats.size > MOST_COPIED_BYTES) return false;
    // The name may lead elsewhere by now.
    const from = openRegular(path, constants.O_NOFOLLOW);
    try {
      const opened = NAMES_DESCRIPTORS ? `/proc/self/fd/${from}` : path;
      copyFileSync(opened, join(this.#folder, name), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      return true;
    } finally {
      closeSync(from);
    }
  }

  #forget(id: string): void {
    try {
      this.append({ type: "forgotten", id });
    } catch {
      // Undo will find that the file never changed.
    }
    this.#removeKept(id);
  }

  #removeKept(id: string): void {
    for (const side of ["before", "after"]) rmSync(join(this.#folder, `${id}.${side}`), { force: true });
  }
}

/** A repository that was taken back is kept as the folder that it was. */
export const REPOSITORY_ENDING = ".repository";

/** The total size of what is kept for undo, over all projects. */
const MOST_KEPT_BYTES = 512 * 1024 * 1024;
const DAY_MS = 24 * 3600 * 1000;
const LONGEST_MS = 30 * DAY_MS;
/** Of files that often hold passwords. */
const LONGEST_SECRET_MS = 7 * DAY_MS;

/** Removes the oldest kept files until the rest is within the limits of size and age. Never throws. */
export function pruneUndo(folder: string, most = MOST_KEPT_BYTES, now = Date.now()): void {
  try {
    const files = filesBelow(folder).sort((one, other) => other.time - one.time);
    // A clock that is a month ahead makes nothing old by itself.
    const last = files.reduce((latest, { time }) => Math.max(latest, time || 0), 0);
    let total = 0;
    for (const { path, name, isJournal, bytes, time } of files) {
      if (!isJournal) total += bytes;
      const isOld =
        Math.min(now, last) - time > (name.startsWith(SECRET_PREFIX) ? LONGEST_SECRET_MS : LONGEST_MS);
      if (isOld || (!isJournal && total > most)) rmSync(path, { force: true, recursive: true });
    }
  } catch {
    // What cannot be removed stays.
  }
}

function filesBelow(folder: string) {
  return entriesOf(folder).flatMap((project) =>
    entriesOf(join(folder, project.name)).flatMap(({ name }) => {
      const path = join(folder, project.name, name);
      const stats = lstatOf(path);
      if (stats === null) return [];
      const isJournal = name.endsWith(".jsonl");
      const named = /^([0-9a-z]{9})00-/.exec(name)?.[1];
      const time = named === undefined ? stats.mtimeMs : Number.parseInt(named, 36);
      return { path, name, isJournal, bytes: stats.size, time };
    }),
  );
}
