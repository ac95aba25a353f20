import { renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  findProcess,
  identifySystem,
  mayBeRunning,
  type NotedProcess,
} from "@burin/commands/processes/process-table";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { withFallback } from "@burin/contract/with-fallback";
import { tryReadBytes, tryReadEntries } from "@burin/files/disk/disk-looks";
import { readText } from "@burin/files/disk/regular-file";
import { parseIndex, type Repository, type TreeRequest } from "@burin/files/tree";
import type { Content } from "./content.ts";
import type { CallNote } from "./journal-line.ts";
import type { StoredContents } from "./kept-contents.ts";
import type { RepositoryState, TreeState, TreeStates } from "./tree-state.ts";
import { createChangeId } from "./undo-journal.ts";

const OPEN_ENDING = ".open";
const LOOK_ENDING = ".look";
/** How often a call writes a sign of life. Someone else made any change that is clearly later than the last sign. */
export const SIGN_OF_LIFE_MS = 500;
/** If more than this share of a look has changed, the whole look is written again. */
const MAX_CHANGED = 0.25;
const MAX_BYTES = 256 * 1024 * 1024;

/** A path with its stamp, and its content if that is known. */
type LookLine = readonly [path: string, stamp: string, content: Content | null];

interface NotedRepository extends Pick<RepositoryState["look"], "head" | "stashes" | "indexModified"> {
  readonly repository: Repository;
  /** The paths of the repository's small files. */
  readonly files: readonly string[];
  readonly refs: readonly (readonly [string, string])[] | null;
}

/** The note on disk about a call that has begun, so that another Burin process can settle it after a kill. */
export interface OpenNote extends NotedProcess {
  readonly id: string;
  readonly call: CallNote;
  readonly writer: string;
  readonly request: Omit<TreeRequest, "watchIn">;
  /** The sizes of all journals at the start of the call. */
  readonly sizes: Readonly<Record<string, number>>;
  /** The name of the file with the complete look. `changed` and `gone` are the differences from it. */
  readonly look: string;
  readonly changed: readonly LookLine[];
  readonly gone: readonly string[];
  readonly at: number;
  readonly isWhole: boolean;
  readonly folders: readonly string[];
  /** The paths that were there, but which undo does not cover. */
  readonly missed?: readonly string[];
  readonly repositories: readonly NotedRepository[];
}

/** A look that was written completely. */
interface WrittenLook {
  readonly name: string;
  readonly lines: ReadonlyMap<string, string | Content>;
}

interface OpenCallsOptions {
  readonly folder: string;
  readonly kept: StoredContents;
  readonly states: TreeStates;
}

type NewNote = Pick<OpenNote, "id" | "call" | "writer" | "request" | "sizes">;

/** Notes on disk, before each call begins, what is there, as the difference from the last complete look. */
export class OpenCalls {
  readonly #needs: OpenCallsOptions;
  readonly #own: NotedProcess;
  readonly #open = new Set<string>();
  #look: WrittenLook | null = null;
  #signs: NodeJS.Timeout | undefined;

  constructor(needs: OpenCallsOptions) {
    this.#needs = needs;
    const started = findProcess(process.pid)?.started ?? "";
    this.#own = { pid: process.pid, started, ...identifySystem() };
  }

  /** Writes the note of a call. Returns the note's path. */
  beginCall(note: NewNote, state: TreeState): string {
    const { watchIn: _, settings, ...request } = note.request as TreeRequest;
    const { environment: __, ...rules } = settings;
    const path = join(this.#needs.folder, `${note.id}${OPEN_ENDING}`);
    const { at, work, repositories } = state;
    const whole: OpenNote = {
      ...this.#own,
      ...note,
      request: { ...request, settings: rules },
      ...this.#describeDifferences(state),
      at,
      isWhole: work.isComplete,
      folders: [...work.repositories],
      missed: [...work.missed.keys()],
      repositories: repositories.map(noteRepository),
    };
    writeWhole(path, JSON.stringify(whole));
    this.#open.add(path);
    this.#signs ??= setInterval(() => this.#touchOpenNotes(), SIGN_OF_LIFE_MS).unref();
    return path;
  }

  endCall(path: string): void {
    rmSync(path, { force: true });
    this.#open.delete(path);
    if (this.#open.size > 0) return;
    clearInterval(this.#signs);
    this.#signs = undefined;
  }

  /** Whether calls of others are running in this project. */
  hasOtherCalls(path: string): boolean {
    return listNotePaths(this.#needs.folder).some((one) => one !== path && isAlive(readNote(one)));
  }

  /** Removes the look. Called when no more calls will come. */
  close(): void {
    if (this.#open.size > 0 || this.#look === null) return;
    rmSync(join(this.#needs.folder, this.#look.name), { force: true });
    this.#look = null;
  }

  #touchOpenNotes(): void {
    const now = new Date();
    for (const path of this.#open) withFallback(undefined, () => utimesSync(path, now, now));
  }

  #describeDifferences(state: TreeState): Pick<OpenNote, "look" | "changed" | "gone"> {
    const { states, kept } = this.#needs;
    const lines = listLookLines(state, states);
    const last = this.#look !== null && kept.has(this.#look.name) ? this.#look : null;
    if (last !== null) {
      const changed = lines.filter(([path, stamp, content]) => last.lines.get(path) !== (content ?? stamp));
      const present = new Set(lines.map(([path]) => path));
      const gone = [...last.lines.keys()].filter((path) => !present.has(path));
      if (changed.length + gone.length <= lines.length * MAX_CHANGED)
        return { look: last.name, changed, gone };
    }
    return { look: this.#writeLook(lines), changed: [], gone: [] };
  }

  #writeLook(lines: readonly LookLine[]): string {
    const { folder, kept } = this.#needs;
    this.close();
    const name = `${createChangeId(folder)}.${process.pid}${LOOK_ENDING}`;
    writeWhole(join(folder, name), JSON.stringify(lines));
    kept.lookAgain();
    this.#look = { name, lines: new Map(lines.map(([path, stamp, content]) => [path, content ?? stamp])) };
    return name;
  }
}

function listLookLines({ work, repositories }: TreeState, states: TreeStates): LookLine[] {
  const all = [work.stamps, ...repositories.map(({ look }) => look.stamps)];
  return all.flatMap((stamps) =>
    [...stamps].map(([path, stamp]): LookLine => [path, stamp, states.findKnown(path, stamp)]),
  );
}

function noteRepository({ reader, look }: RepositoryState): NotedRepository {
  const { head, stashes, indexModified, refs, stamps } = look;
  const files = [...stamps.keys()];
  return { repository: reader.repository, files, refs: refs && [...refs], head, stashes, indexModified };
}

/** Writes a file under a temporary name first, so that the final name always has the whole content. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}-part`, text, { mode: 0o600 });
  renameSync(`${path}-part`, path);
}

function listNotePaths(folder: string): string[] {
  const names = tryReadEntries(folder).map(({ name }) => name);
  return names
    .filter((name) => name.endsWith(OPEN_ENDING))
    .sort()
    .map((name) => join(folder, name));
}

/** Returns null if the file is missing or is not a note. */
function readNote(path: string): OpenNote | null {
  const note = withFallback(null, () => parseJson(readText(path, MAX_BYTES) ?? ""));
  const isWhole = isRecord(note) && typeof note.pid === "number" && isRecord(note.request);
  return isWhole ? (note as unknown as OpenNote) : null;
}

function isAlive(note: OpenNote | null): boolean {
  return note !== null && mayBeRunning(note);
}

/** Returns the calls whose Burin process was killed, oldest first. */
export function findCutCalls(folder: string): { readonly path: string; readonly note: OpenNote | null }[] {
  return listNotePaths(folder)
    .map((path) => ({ path, note: readNote(path) }))
    .filter(({ note }) => !isAlive(note));
}

/** Removes looks of processes that have ended. */
export function removeOldLooks(folder: string): void {
  for (const { name } of tryReadEntries(folder)) {
    const pid = /\.(\d+)\.look(?:-part)?$/.exec(name)?.[1];
    if (pid !== undefined && findProcess(Number(pid)) === null) rmSync(join(folder, name), { force: true });
  }
}

/** Returns the state of the tree before the call, and fills `states` with the contents. null if the look is gone. */
export function recallState(
  { look, changed, gone, ...note }: OpenNote,
  { folder, states, kept }: OpenCallsOptions,
): TreeState | null {
  const written = withFallback(null, () => parseJson(readText(join(folder, look), MAX_BYTES) ?? ""));
  if (!Array.isArray(written)) return null;
  const lines = new Map((written as LookLine[]).map((line) => [line[0], line]));
  for (const path of gone) lines.delete(path);
  for (const line of changed) lines.set(line[0], line);
  for (const [path, stamp, content] of lines.values())
    if (content !== null) states.rememberContent(path, stamp, content);
  const repositories = note.repositories.map(({ repository, files, refs, ...rest }): RepositoryState => {
    const stamps = new Map<string, string>();
    for (const path of files) {
      const stamp = lines.get(path)?.[1];
      lines.delete(path);
      if (stamp !== undefined) stamps.set(path, stamp);
    }
    const path = join(repository.gitDir, "index");
    const index = recallIndex(states.findKnown(path, stamps.get(path) ?? ""), { repository, kept });
    const refsThen = refs && new Map(refs);
    return { reader: states.openReader(repository), look: { ...rest, stamps, refs: refsThen, index } };
  });
  const { at, isWhole, folders, missed = [] } = note;
  const stamps = new Map([...lines.values()].map(([path, stamp]) => [path, stamp]));
  const work = {
    stamps,
    isComplete: isWhole,
    repositories: new Set(folders),
    ignored: new Map(),
    missed: new Map(missed.map((path) => [path, ""])),
  };
  return { at, repositories, work: { ...work, isTruncated: false, hasMoreIgnored: false } };
}

function recallIndex(
  content: Content | null,
  { repository, kept }: { readonly repository: Repository; readonly kept: StoredContents },
): RepositoryState["look"]["index"] {
  if (content?.kept === undefined) return content === null ? new Map() : null;
  const bytes = tryReadBytes(join(kept.folder, content.kept), MAX_BYTES);
  return bytes && parseIndex(bytes, repository.idBytes);
}
