import { createHash } from "node:crypto";
import { join, sep } from "node:path";
import {
  type FileSnapshot,
  type FileWrite,
  type Machine,
  nodeMachine,
  type Workspace,
  WorkspaceError,
} from "@burin/core/machine";

/** Access to files as the editor has them, saved or not. */
export interface EditorBuffers {
  /** Returns the editor's text of a file; null when the editor does not have the file. */
  readonly read: (path: string) => Promise<string | null>;
  readonly write: (path: string, text: string) => Promise<void>;
}

type Range = Parameters<Workspace["read"]>[1];
type SearchRequest = Parameters<Workspace["search"]>[1];
type SearchResult = Awaited<ReturnType<Workspace["search"]>>;

const VERSION_PREFIX = "editor:";
/** The maximum number of files that the editor is asked for, because some editors open each of them. */
const MAX_CHECKED_FILES = 100;
const MAX_ANSWER_MS = 60_000;

/** This computer's files, but with the editor's content for files that have unsaved changes. */
export function createEditorMachine(editor: EditorBuffers, maxMs = MAX_ANSWER_MS): Machine {
  const limitAnswerTime = <T>(answer: Promise<T>, what: string) =>
    new Promise<T>((resolve, reject) => {
      const late = `The editor did not say within ${maxMs / 1000} s ${what}.`;
      const rejectLateAnswer = () => reject(new WorkspaceError("io_error", late));
      AbortSignal.timeout(maxMs).addEventListener("abort", rejectLateAnswer);
      answer.then(resolve, reject);
    });
  const buffers: EditorBuffers = {
    read: (path) => limitAnswerTime(editor.read(path), `what it has of ${path}`),
    write: (path, text) => limitAnswerTime(editor.write(path, text), `whether it has written ${path}`),
  };
  return {
    ...nodeMachine,
    openFiles: (...given) => {
      const disk = nodeMachine.openFiles(...given);
      return createWorkspace(disk, new UnsavedFiles(buffers, disk));
    },
  };
}

/** Access is first checked on the disk. */
function createWorkspace(disk: Workspace, unsaved: UnsavedFiles): Workspace {
  return {
    root: disk.root,
    roots: disk.roots,
    resolve: (path) => disk.resolve(path),
    relative: (path) => disk.relative(path),
    list: (...given) => disk.list(...given),
    find: (...given) => disk.find(...given),
    findClosedFolder: (path) => disk.findClosedFolder?.(path) ?? Promise.resolve(null),
    openFolder: (path) => disk.openFolder?.(path) ?? Promise.resolve(path),
    search: (...given) => unsaved.search(...given),
    async read(file, range, signal) {
      const saved = await disk.read(file, range, signal);
      if (saved.kind !== "text") return saved;
      const { path, text } = await unsaved.readBoth(file);
      const shown = text === null ? saved : readLines(text, range);
      unsaved.noteShown(path, shown.linesCut === 0 && shown.text === text ? text : null);
      return shown;
    },
    async snapshot(file, changes) {
      const { saved, path, text } = await unsaved.readBoth(file, changes);
      if (text !== null) return unsaved.snapshot(path, text);
      return unsaved.wasOtherTextShown(path, saved.text) ? { ...saved, seen: "older" } : saved;
    },
    async preview(file, content, basis) {
      const { path: realPath, text } = await unsaved.readBoth(file);
      if (text === null) return disk.preview(file, content, basis);
      return { realPath, before: unsaved.snapshot(realPath, text), after: content };
    },
    async write(change, signal) {
      const { saved, path, text } = await unsaved.readBoth(change.file);
      const isUnsavedBasis = change.basis.startsWith(VERSION_PREFIX);
      if (text === null && !isUnsavedBasis) {
        if (!change.isBasisAgreed && unsaved.wasOtherTextShown(path, saved.text))
          throw createReadFirstError(change.file);
        unsaved.noteShown(path, null);
        return disk.write(change, signal);
      }
      if (text === null || !isUnsavedBasis) throw createChangedError(change.file);
      return unsaved.write(path, text, change);
    },
  };
}

/** Reads files with the editor's content, and records what the model has seen of them. */
class UnsavedFiles {
  readonly #buffers: EditorBuffers;
  readonly #shown = new Map<string, string>();
  readonly #disk: Workspace;
  /** Files that the model has seen or changed, latest last. */
  readonly #known = new Set<string>();

  constructor(buffers: EditorBuffers, disk: Workspace) {
    this.#buffers = buffers;
    this.#disk = disk;
  }

  /**
   * Returns the file on disk and the editor's text; the text is null if it equals the saved content except for line
   * ends.
   */
  async readBoth(file: string, changes?: Parameters<Workspace["snapshot"]>[1]) {
    const saved = await this.#disk.snapshot(file, changes);
    const path = await this.#disk.resolve(file);
    const isWhole = saved.text !== null && saved.firstLine === undefined;
    const given = isWhole ? await this.#buffers.read(path) : null;
    const text = given === null ? null : keepLastLineEnd(given, saved.text ?? "");
    return {
      saved,
      path,
      text: text === null || normalizeLineEnds(text) === normalizeLineEnds(saved.text ?? "") ? null : text,
    };
  }

  /** Editors cannot list their open files, so they are asked for those that the model has seen and those with hits. */
  async search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const place = await this.#disk.resolve(path);
    const texts = new Map<string, string>();
    const asked = new Set<string>();
    const ask = async (files: readonly string[]) => {
      const news = files.filter((file) => !asked.has(file)).slice(0, MAX_CHECKED_FILES - asked.size);
      for (const file of news) asked.add(file);
      const answers = news.map(async (file) => {
        const { text } = await this.readBoth(file);
        if (text !== null) texts.set(file, text);
      });
      await Promise.allSettled(answers);
    };
    const known = [...this.#known].reverse();
    await ask(known.filter((file) => file === place || file.startsWith(place + sep)));
    for (;;) {
      const found = await this.#disk.search(path, { ...request, unsaved: texts }, signal);
      const { size } = texts;
      // When a single file is searched, its hits contain only the file's name.
      await ask(found.files.flatMap((file) => [place, join(place, file.path)]));
      if (texts.size === size) return found;
    }
  }

  /** The model last saw unsaved content that was discarded since, so it has not seen the saved content. */
  wasOtherTextShown(path: string, saved: string | null): boolean {
    const shown = this.#shown.get(path);
    return shown !== undefined && normalizeLineEnds(shown) !== normalizeLineEnds(saved ?? "");
  }

  noteShown(path: string, text: string | null): void {
    this.#known.delete(path);
    this.#known.add(path);
    if (text === null) this.#shown.delete(path);
    else this.#shown.set(path, text);
  }

  snapshot(path: string, text: string): FileSnapshot {
    const shown = this.#shown.get(path);
    const seen = shown === undefined ? "nothing" : shown === text ? "all" : "older";
    return { exists: true, version: formatVersion(path, text), text, seen, bytes: Buffer.byteLength(text) };
  }

  async write(path: string, text: string, { file, content, basis, isBasisAgreed, isWholeKnown }: FileWrite) {
    if (formatVersion(path, text) !== basis) throw createChangedError(file);
    if (!isBasisAgreed && this.#shown.get(path) !== text) throw createReadFirstError(file);
    await this.#buffers.write(path, content);
    this.noteShown(path, isWholeKnown ? content : null);
    return { isNew: false, wasBasis: true, notes: [] };
  }
}

function createChangedError(file: string): WorkspaceError {
  return new WorkspaceError("changed_on_disk", `${file} has changed since it was looked at. Read it again.`);
}

function createReadFirstError(file: string): WorkspaceError {
  return new WorkspaceError("not_read", `${file} was not read as it is now. Read it first.`);
}

function formatVersion(path: string, text: string): string {
  return VERSION_PREFIX + createHash("sha256").update(`${path}\0${text}`).digest("hex");
}

/** Editors that store lines instead of text often drop the last line end, so add it before they save. */
function keepLastLineEnd(text: string, saved: string): string {
  if (!saved.endsWith("\n") || text.endsWith("\n")) return text;
  return text + (text.includes("\r\n") ? "\r\n" : "\n");
}

function normalizeLineEnds(text: string): string {
  return text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

function readLines(
  text: string,
  { offset, limit, maxLineCharacters, maxCharacters = Number.POSITIVE_INFINITY }: Range,
) {
  const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const shown: string[] = [];
  let characters = 0;
  let linesCut = 0;
  for (const line of all.slice(offset, offset + limit)) {
    const isLong = line.trimEnd().length > maxLineCharacters;
    const kept = isLong ? `${line.slice(0, maxLineCharacters)}\n` : line;
    characters += kept.length;
    if (characters > maxCharacters && shown.length > 0) break;
    if (isLong) linesCut += 1;
    shown.push(kept);
  }
  const range = { firstLine: offset + 1, lastLine: offset + shown.length, totalLines: all.length };
  return { kind: "text" as const, text: shown.join(""), ...range, linesCut };
}
