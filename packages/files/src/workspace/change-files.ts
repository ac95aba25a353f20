import { type BigIntStats, closeSync, fstatSync, lstatSync } from "node:fs";
import {
  type ChangedText,
  type FilePreview,
  type FileSnapshot,
  type FileWrite,
  type FileWritten,
  type Seen,
  WorkspaceError,
} from "@burin/contract/machine/workspace";
import { lockPath } from "../disk/path-lock.ts";
import { asWorkspaceError } from "../disk/system-error.ts";
import type { Access } from "../ignore/access.ts";
import { isSamePath, locate, openLocated } from "../paths/paths.ts";
import { realTarget } from "../paths/target-folder.ts";
import { HeldFile, isTouched } from "./held-file.ts";
import { readAll, sizeOfFile } from "./read-opened.ts";
import { hashOf, type ReadRecord } from "./read-record.ts";
import {
  type BeginWrite,
  changed,
  heldContent,
  type OnChange,
  type Replacement,
  replaceFile,
} from "./replace-file.ts";

/** Overwriting holds both contents in memory; larger files are refused. */
const MOST_CHANGED_BYTES = 256 * 1024 * 1024;

/** Of a file larger than this, only the edited part is decoded to text. */
const LARGE_BYTES = 10 * 1024 * 1024;

const MOST_KNOWN = 50;
/** Of what was just written. */
const MOST_KEPT_CHARACTERS = 2 * 1024 * 1024;

/**
 * Changes files, each change based on the file's content when the change was prepared. Loaded with the first
 * change.
 */
export class FileChanges {
  readonly #access: Access;
  readonly #record: ReadRecord;
  readonly #onChange: OnChange | undefined;
  readonly #beginWrite: BeginWrite | undefined;
  /** The content of the last versions, as long as somebody has the snapshot or the memory is not needed. */
  readonly #held = new Map<string, WeakRef<HeldFile>>();
  readonly #used = new WeakMap<FileSnapshot, HeldFile>();
  /** What was written last, if it is small: often it is changed once more. */
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

  async snapshot(file: string, changes?: readonly ChangedText[]): Promise<FileSnapshot> {
    const current = await this.#current(file);
    const isLarge = (current.bytes?.length ?? 0) > LARGE_BYTES;
    return this.#snapshotOf(changes && isLarge ? current.around(changes) : current);
  }

  async preview(file: string, content: string, basis?: string): Promise<FilePreview> {
    const current = (this.#held.get(basis ?? "")?.deref() ?? (await this.#current(file))).as(basis);
    if (current === null) throw changed(file);
    const after = current.rewritten(file, content).text;
    return { realPath: current.realPath, before: this.#snapshotOf(current), after };
  }

  /** One at a time for each file, from reading it to renaming the new one. */
  async write(change: FileWrite, signal: AbortSignal): Promise<FileWritten> {
    const { roots } = this.#access;
    const real = realTarget(change.file, await locate(change.file, roots), roots);
    try {
      return await lockPath(real, () => this.#write(change, real, signal), { signal });
    } catch (error) {
      throw asWorkspaceError(error, change.file);
    }
  }

  async #write(change: FileWrite, real: string, signal: AbortSignal): Promise<FileWritten> {
    const { file, content, isBasisAgreed } = change;
    signal.throwIfAborted();
    // After a failure nothing is taken for known.
    this.#last = null;
    const now = await this.#upToDate(file, { real, known: this.#held.get(change.basis)?.deref() });
    // The user and the rules have judged the file that the basis is of.
    if (!now.isFileOf(change.basis) || !isSamePath(real, now.realPath)) throw changed(file);
    const basis = now.as(change.basis);
    const current = basis ?? now;
    const wasBasis = basis !== null;
    if (isBasisAgreed && !wasBasis) throw changed(file);
    const { bytes: before, stats } = current;
    const seen = this.#record.seen(current.realPath, current);
    if (!isBasisAgreed && seen !== "all") throw seen === "older" ? changed(file) : notRead(file, seen);
    const { pieces: after, isSame, text } = current.rewritten(file, content);
    // Nothing will be written, so nothing else would compare the bytes again.
    if (isSame && before !== null && !(await this.#read(file)).bytes?.equals(before)) throw changed(file);
    const isKnown = change.isWholeKnown || seen === "all";
    let whole = current.hash;
    let bytes: Buffer | undefined;
    const meanwhile = () => {
      whole = hashOf(after);
      if (current.part !== null || content.length > MOST_KEPT_CHARACTERS) return;
      const pieces = [...after];
      bytes = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    };
    const { roots, environment, home, helpers } = this.#access;
    const keep = this.#onChange;
    const onChange: OnChange | undefined =
      keep && ((pending) => keep({ ...pending, hashes: { present: current.hash, coming: whole } }));
    const place = { file, real, roots, environment, home, helpers, onChange, beginWrite: this.#beginWrite };
    const settled = (now: BigIntStats) => {
      if (bytes === undefined) return;
      this.#last = HeldFile.written({ realPath: real, bytes, stats: now }, { hash: whole, text });
    };
    const fresh = { ...heldContent(before, after, signal), meanwhile, settled };
    const notes = isSame ? [] : await replaceFile({ ...place, stats, content: fresh });
    this.#record.note(isKnown ? { file: real, whole } : { file: real });
    return { isNew: before === null, wasBasis, notes };
  }

  /** Returns the known content if the file still has it, so that nothing is computed twice. */
  async #upToDate(
    file: string,
    { real, known }: { readonly real: string; readonly known: HeldFile | undefined },
  ): Promise<HeldFile> {
    if (known?.stats && known.realPath === real) {
      const now = lstatSync(real, { bigint: true, throwIfNoEntry: false });
      if (now !== undefined && !isTouched(now, known.stats)) {
        this.#access.assertAllowed(file, real);
        return known;
      }
    }
    const current = await this.#read(file);
    const isSame = known !== undefined && known.bytes !== null && current.bytes?.equals(known.bytes);
    return isSame && known.realPath === current.realPath ? known : current;
  }

  #snapshotOf(current: HeldFile): FileSnapshot {
    const { bytes, realPath, text, part, version } = current;
    const seen = bytes === null ? "nothing" : this.#record.seen(realPath, current);
    this.#held.delete(version);
    this.#held.set(version, new WeakRef(current));
    for (const oldest of [...this.#held.keys()].slice(0, -MOST_KNOWN)) this.#held.delete(oldest);
    const whole = { exists: bytes !== null, version, text, seen, bytes: bytes?.length ?? 0 };
    const snapshot = part === null ? whole : { ...whole, firstLine: part.firstLine };
    this.#used.set(snapshot, current);
    return snapshot;
  }

  /** What was written last is not read again while nothing shows a change: a write compares all bytes once more. */
  async #current(file: string): Promise<HeldFile> {
    const last = this.#last;
    if (last === null) return this.#read(file);
    const { real } = await locate(file, this.#access.roots);
    return real === last.realPath ? this.#upToDate(file, { real, known: last }) : this.#read(file);
  }

  async #read(file: string): Promise<HeldFile> {
    const { roots } = this.#access;
    const located = await locate(file, roots);
    const opened = await openLocated(located, roots);
    const realPath = opened?.realPath ?? realTarget(file, located, roots);
    try {
      this.#access.assertAllowed(file, realPath);
      if (opened === null) return new HeldFile({ realPath, bytes: null, stats: null });
      const size = sizeOfFile(opened.descriptor, file);
      if (size > MOST_CHANGED_BYTES) {
        throw new WorkspaceError(
          "too_large",
          `${file} has ${size} bytes; at most ${MOST_CHANGED_BYTES} can be changed here.`,
        );
      }
      // Before reading: a write in between then shows later.
      const stats = fstatSync(opened.descriptor, { bigint: true });
      return new HeldFile({ realPath, bytes: await readAll(opened.descriptor, size), stats });
    } catch (error) {
      throw asWorkspaceError(error, file);
    } finally {
      if (opened !== null) closeSync(opened.descriptor);
    }
  }
}

function notRead(file: string, seen: Seen): WorkspaceError {
  const what = seen === "part" ? "only a part of it has been read" : "it has not been read in full";
  return new WorkspaceError(
    "not_read",
    `${file} exists, and ${what} in this session, so it is not overwritten without asking. Read all of its lines with read_file first, then write again.`,
  );
}
