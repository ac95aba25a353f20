import { type BigIntStats, closeSync, fstatSync, lstatSync } from "node:fs";
import {
  type FilePreview,
  type FileSnapshot,
  type FileWrite,
  type SeenExtent,
  type TextChange,
  WorkspaceError,
  type WriteResult,
} from "@burin/contract/machine/workspace";
import { lockPath } from "../disk/path-lock.ts";
import { hashBytes } from "../disk/regular-file.ts";
import { toWorkspaceError } from "../disk/system-error.ts";
import type { Access } from "../ignore/access.ts";
import { isSamePath, locatePath, openLocatedPath } from "../paths/paths.ts";
import { resolveTarget } from "../paths/target-folder.ts";
import { HeldFile, mayHaveChanged } from "./held-file.ts";
import { readAll, readFileSize } from "./read-opened.ts";
import type { ReadRecord } from "./read-record.ts";
import {
  type BeginWrite,
  createChangedError,
  createMemoryContent,
  type OnChange,
  type Replacement,
  replaceFile,
} from "./replace-file.ts";

/** Overwriting holds both contents in memory; larger files are refused. */
const MAX_CHANGED_BYTES = 256 * 1024 * 1024;

/** Of a file larger than this, only the edited part is decoded to text. */
const LARGE_BYTES = 10 * 1024 * 1024;

const MAX_KNOWN = 50;
/** The hash and text of what was just written. */
const MAX_KEPT_CHARACTERS = 2 * 1024 * 1024;

/**
 * Changes files. Each change is based on the content that the file had when the change was prepared. Loaded when the
 * first change is made.
 */
export class FileChanges {
  readonly #access: Access;
  readonly #record: ReadRecord;
  readonly #onChange: OnChange | undefined;
  readonly #beginWrite: BeginWrite | undefined;
  /** Holds the latest contents weakly: as long as someone has the snapshot, or until memory is needed. */
  readonly #held = new Map<string, WeakRef<HeldFile>>();
  readonly #used = new WeakMap<FileSnapshot, HeldFile>();
  /** What was written last, if it is small, because it is often changed again. */
  #last: HeldFile | null = null;

  constructor(
    access: Access,
    record: ReadRecord,
    { onChange, beginWrite }: Pick<Replacement, "onChange" | "beginWrite">,
  ) {
    this.#access = access;
    this.#record = record;
    this.#onChange = onChange;
    this.#beginWrite = beginWrite;
  }

  async snapshot(file: string, changes?: readonly TextChange[]): Promise<FileSnapshot> {
    const current = await this.#readCurrent(file);
    const isLarge = (current.bytes?.length ?? 0) > LARGE_BYTES;
    return this.#toSnapshot(changes && isLarge ? current.narrowToChanges(changes) : current);
  }

  async preview(file: string, content: string, basis?: string): Promise<FilePreview> {
    const current = (this.#held.get(basis ?? "")?.deref() ?? (await this.#readCurrent(file))).matchVersion(
      basis,
    );
    if (current === null) throw createChangedError(file);
    const after = current.rewrite(file, content).text;
    return { realPath: current.realPath, before: this.#toSnapshot(current), after };
  }

  /** Changes a file while no other change of it runs, from reading it to renaming the new one. */
  async write(change: FileWrite, signal: AbortSignal): Promise<WriteResult> {
    const { roots } = this.#access;
    const real = resolveTarget(change.file, await locatePath(change.file, roots), roots);
    try {
      return await lockPath(real, () => this.#write(change, real, signal), { signal });
    } catch (error) {
      throw toWorkspaceError(error, change.file);
    }
  }

  async #write(change: FileWrite, real: string, signal: AbortSignal): Promise<WriteResult> {
    const { file, content, isBasisAgreed } = change;
    signal.throwIfAborted();
    // After a failure, forget what was known about the file.
    this.#last = null;
    const now = await this.#readUnlessKnown(file, { real, known: this.#held.get(change.basis)?.deref() });
    // The change must be based on a version of this file: the user and the rules have judged this file and no other.
    if (!now.isFileOf(change.basis) || !isSamePath(real, now.realPath)) throw createChangedError(file);
    const basis = now.matchVersion(change.basis);
    const current = basis ?? now;
    const wasBasis = basis !== null;
    if (isBasisAgreed && !wasBasis) throw createChangedError(file);
    const { bytes: before, stats } = current;
    const seen = this.#record.findSeenExtent(current.realPath, current);
    if (!isBasisAgreed && seen !== "all")
      throw seen === "older" ? createChangedError(file) : createNotReadError(file, seen);
    const { pieces: after, isSame, text } = current.rewrite(file, content);
    // Nothing will be written, so no later step would compare the bytes again.
    if (isSame && before !== null && !(await this.#read(file)).bytes?.equals(before))
      throw createChangedError(file);
    const isKnown = change.isWholeKnown || seen === "all";
    let whole = current.hash;
    let bytes: Buffer | undefined;
    const hashAndKeep = () => {
      whole = hashBytes(after);
      if (current.part !== null || content.length > MAX_KEPT_CHARACTERS) return;
      const pieces = [...after];
      bytes = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    };
    const { roots, environment, home, helpers } = this.#access;
    const keep = this.#onChange;
    const onChange: OnChange | undefined =
      keep && ((pending) => keep({ ...pending, hashes: { present: current.hash, coming: whole } }));
    const place = { file, real, roots, environment, home, helpers, onChange, beginWrite: this.#beginWrite };
    const rememberWritten = (now: BigIntStats) => {
      if (bytes === undefined) return;
      this.#last = HeldFile.fromWritten({ realPath: real, bytes, stats: now }, { hash: whole, text });
    };
    const fresh = {
      ...createMemoryContent(before, after, signal),
      meanwhile: hashAndKeep,
      settled: rememberWritten,
    };
    const notes = isSame ? [] : await replaceFile({ ...place, stats, content: fresh });
    this.#record.note(isKnown ? { file: real, whole } : { file: real });
    return { isNew: before === null, wasBasis, notes };
  }

  /** Returns the known content if the file still has it, so that nothing is computed twice. */
  async #readUnlessKnown(
    file: string,
    { real, known }: { readonly real: string; readonly known: HeldFile | undefined },
  ): Promise<HeldFile> {
    if (known?.stats && known.realPath === real) {
      const now = lstatSync(real, { bigint: true, throwIfNoEntry: false });
      if (now !== undefined && !mayHaveChanged(now, known.stats)) {
        this.#access.assertAllowed(file, real);
        return known;
      }
    }
    const current = await this.#read(file);
    const isSame = known !== undefined && known.bytes !== null && current.bytes?.equals(known.bytes);
    return isSame && known.realPath === current.realPath ? known : current;
  }

  #toSnapshot(current: HeldFile): FileSnapshot {
    const { bytes, realPath, text, part, version } = current;
    const seen = bytes === null ? "nothing" : this.#record.findSeenExtent(realPath, current);
    this.#held.delete(version);
    this.#held.set(version, new WeakRef(current));
    for (const oldest of [...this.#held.keys()].slice(0, -MAX_KNOWN)) this.#held.delete(oldest);
    const whole = { exists: bytes !== null, version, text, seen, bytes: bytes?.length ?? 0 };
    const snapshot = part === null ? whole : { ...whole, firstLine: part.firstLine };
    this.#used.set(snapshot, current);
    return snapshot;
  }

  /**
   * A file that was just written is not read again unless its stats show a change; each write compares all bytes
   * anyway.
   */
  async #readCurrent(file: string): Promise<HeldFile> {
    const last = this.#last;
    if (last === null) return this.#read(file);
    const { real } = await locatePath(file, this.#access.roots);
    return real === last.realPath ? this.#readUnlessKnown(file, { real, known: last }) : this.#read(file);
  }

  async #read(file: string): Promise<HeldFile> {
    const { roots } = this.#access;
    const located = await locatePath(file, roots);
    const opened = await openLocatedPath(located, roots);
    const realPath = opened?.realPath ?? resolveTarget(file, located, roots);
    try {
      this.#access.assertAllowed(file, realPath);
      if (opened === null) return new HeldFile({ realPath, bytes: null, stats: null });
      const size = readFileSize(opened.descriptor, file);
      if (size > MAX_CHANGED_BYTES) {
        throw new WorkspaceError(
          "too_large",
          `${file} has ${size} bytes; at most ${MAX_CHANGED_BYTES} can be changed here.`,
        );
      }
      // Read the stats before the content, so that a write in between is noticed later.
      const stats = fstatSync(opened.descriptor, { bigint: true });
      return new HeldFile({ realPath, bytes: await readAll(opened.descriptor, size), stats });
    } catch (error) {
      throw toWorkspaceError(error, file);
    } finally {
      if (opened !== null) closeSync(opened.descriptor);
    }
  }
}

export function createNotReadError(file: string, seen: SeenExtent): WorkspaceError {
  const what = seen === "part" ? "only a part of it has been read" : "it has not been read in full";
  return new WorkspaceError(
    "not_read",
    `${file} exists, and ${what} in this session, so it is not overwritten without asking. Read all of its lines with read_file first, then write again.`,
  );
}
