import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  renameSync,
  rmSync,
  type Stats,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { tryReadEntries } from "@burin/files/disk/disk-looks";
import { makeFolders, randomName } from "@burin/files/disk/own-files";
import { openRegularFile } from "@burin/files/disk/regular-file";
import { HAS_DESCRIPTOR_PATHS } from "@burin/files/paths/paths";
import { type Content, hashDescriptor, readChunks } from "./content.ts";

/** The prefix of contents that are stored for a shorter time than others. */
export const SECRET_PREFIX = "secret-";
const PREFIX = "kept-";
/** Larger files are copied by the system, as clones where the file system supports it. */
const MAX_READ_BYTES = 1024 * 1024;

/** A store of file contents by their hash, each stored once. */
export class StoredContents {
  readonly folder: string;
  /** The names in the folder; null until it has been listed. */
  #present: Set<string> | null = null;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Lists the folder again, because another process may have removed something. */
  lookAgain(): void {
    this.#present = new Set(tryReadEntries(this.folder).map(({ name }) => name));
  }

  has(name: string): boolean {
    if (this.#present === null) this.lookAgain();
    return this.#present?.has(name) ?? false;
  }

  /** Stores the bytes of a file. Throws if they cannot be stored, or if they change while they are copied. */
  keepFile(path: string, isSecret: boolean): Content {
    const from = openRegularFile(path, constants.O_NOFOLLOW);
    try {
      const before = fstatSync(from);
      const copy = before.size <= MAX_READ_BYTES ? this.#copyByReading(from) : this.#copyBySystem(path, from);
      const { hash, write } = copy;
      const name = `${isSecret ? SECRET_PREFIX : PREFIX}${Buffer.from(hash, "base64").toString("base64url")}`;
      try {
        if (isWritten(before, fstatSync(from))) throw new Error("it changed while it was copied");
        if (this.has(name)) utimesSync(join(this.folder, name), new Date(), new Date());
        else write(join(this.folder, name));
      } finally {
        copy.drop();
      }
      this.#present?.add(name);
      return { bytes: before.size, mode: before.mode & 0o7777, hash, kept: name };
    } finally {
      closeSync(from);
    }
  }

  /** Stores bytes that are already in memory. Returns their name. */
  storeBytes(bytes: Buffer, isSecret = false): string {
    const hash = createHash("sha256").update(bytes).digest("base64url");
    const name = `${isSecret ? SECRET_PREFIX : PREFIX}${hash}`;
    if (!this.has(name)) this.#moveIntoPlace(bytes, join(this.folder, name));
    this.#present?.add(name);
    return name;
  }

  #copyByReading(from: number) {
    const bytes = Buffer.concat([...readChunks(from)].map((chunk) => Buffer.from(chunk)));
    const hash = createHash("sha256").update(bytes).digest("base64");
    return { hash, write: (path: string) => this.#moveIntoPlace(bytes, path), drop: () => {} };
  }

  #copyBySystem(path: string, from: number) {
    const temporary = this.#createTemporaryName();
    const opened = HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${from}` : path;
    const drop = () => rmSync(temporary, { force: true });
    try {
      copyFileSync(opened, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      chmodSync(temporary, 0o600);
      const copy = openRegularFile(temporary);
      try {
        return { hash: hashDescriptor(copy), write: (name: string) => renameSync(temporary, name), drop };
      } finally {
        closeSync(copy);
      }
    } catch (error) {
      drop();
      throw error;
    }
  }

  /** Writes under a temporary name first: after a crash, the final name has the whole content or does not exist. */
  #moveIntoPlace(bytes: Buffer, path: string): void {
    const temporary = this.#createTemporaryName();
    try {
      writeFileSync(temporary, bytes, { mode: 0o600, flag: "wx" });
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  #createTemporaryName(): string {
    makeFolders(this.folder);
    return join(this.folder, `copy-${randomName(6)}`);
  }
}

function isWritten(before: Stats, after: Stats): boolean {
  return before.size !== after.size || before.mtimeMs !== after.mtimeMs || before.ctimeMs !== after.ctimeMs;
}
