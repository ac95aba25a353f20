import { rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { messageOf } from "@burin/contract/text/error-message";
import { bytesOf, entriesOf, lstatOf } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/make-folders";
import { codeOf } from "@burin/files/disk/system-error";
import type { TreeRequest } from "@burin/files/tree";
import { readStamp, stampNow } from "@burin/files/tree";
import { type Content, isSame, repositoryContent } from "./content.ts";
import { changedState, packDropped, refChanges } from "./git-changes.ts";
import type { CallNote, FileChange, GitChange } from "./journal-line.ts";
import { JournalTails, type OthersChanges } from "./journal-tails.ts";
import { KeptContents } from "./kept-contents.ts";
import { type TreeState, TreeStates } from "./tree-state.ts";
import { newChangeId, UndoJournal, undoFolder } from "./undo-journal.ts";

/** Up to this size the new bytes are kept too, so that lines can be merged. */
const MOST_MERGED_BYTES = 8 * 1024 * 1024;
const MOST_NAMED = 5;
const OPEN_ENDING = ".open";
const MOST_NOTE_BYTES = 4096;

export interface TreeJournalNeeds {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  readonly root: string;
  /** The id of the session, or another unique name. */
  readonly writer: string;
  readonly request: TreeRequest;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Tells the user something. */
  readonly report: (message: string) => void;
}

interface OpenCall {
  readonly id: string;
  readonly call: CallNote;
  readonly state: TreeState;
  readonly tails: JournalTails;
  readonly file: string;
  wasShared: boolean;
}

interface Comparison {
  readonly earlier: ReadonlyMap<string, string>;
  readonly now: ReadonlyMap<string, string>;
  readonly after: TreeState;
  readonly others: OthersChanges;
}

/** Notes what calls change by other ways than the file tools, so that it can be taken back. */
export class TreeJournal {
  readonly #needs: TreeJournalNeeds;
  readonly #folder: string;
  readonly #states: TreeStates;
  readonly #journal: UndoJournal;
  readonly #kept: KeptContents;
  #turn: Promise<unknown> = Promise.resolve();
  #hasToldOfSize = false;

  constructor(needs: TreeJournalNeeds) {
    const { home, root, writer, request, environment } = needs;
    this.#needs = needs;
    this.#folder = undoFolder(home, root);
    this.#kept = new KeptContents(this.#folder);
    this.#states = new TreeStates({ request, environment, kept: this.#kept });
    this.#journal = new UndoJournal(home, root, writer);
  }

  /** Does the work of a call, and notes what it changed. Whatever goes wrong here, the work is done. */
  async around<T>(call: CallNote, work: () => Promise<T>): Promise<T> {
    const open = await this.#inTurn(() => this.#begin(call));
    try {
      return await work();
    } finally {
      if (open) await this.#inTurn(() => this.#end(open));
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T | null> {
    const turn = this.#turn.then(work).catch((error: unknown) => {
      if (!this.#needs.signal.aborted)
        this.#needs.report(
          `What this call changes cannot be taken back with burin undo: ${messageOf(error)}.`,
        );
      return null;
    });
    this.#turn = turn;
    return turn;
  }

  async #begin(call: CallNote): Promise<OpenCall | null> {
    makeFolders(this.#folder);
    this.#journal.prune();
    const state = await this.#states.lookBeforeCall(this.#needs.signal);
    if (state.work.isCut) return this.#tellOfSize();
    await this.#states.keepAll(state);
    const id = newChangeId(this.#folder);
    const file = join(this.#folder, `${id}${OPEN_ENDING}`);
    writeFileSync(file, JSON.stringify({ pid: process.pid }), { mode: 0o600 });
    return {
      id,
      call,
      state,
      tails: new JournalTails(this.#folder),
      file,
      wasShared: this.#areOthersOpen(file),
    };
  }

  #tellOfSize(): null {
    if (!this.#hasToldOfSize)
      this.#needs.report(
        "This folder is too large to be looked at before each call, so burin undo takes back edits here, but not what commands change.",
      );
    this.#hasToldOfSize = true;
    return null;
  }

  /** What a Burin that was killed has left does not count. */
  #areOthersOpen(file: string): boolean {
    const open = entriesOf(this.#folder).filter(({ name }) => name.endsWith(OPEN_ENDING));
    return open.some(({ name }) => {
      const path = join(this.#folder, name);
      if (path === file) return false;
      const noted = parseJson(bytesOf(path, MOST_NOTE_BYTES)?.toString("utf8") ?? "");
      const isAlive = isRecord(noted) && typeof noted.pid === "number" && isRunning(noted.pid);
      if (!isAlive) rmSync(path, { force: true });
      return isAlive;
    });
  }

  async #end(open: OpenCall): Promise<void> {
    const { id, call, state: before, tails, file } = open;
    // A session that is closed still notes what its last call did.
    const after = await this.#states.look(new AbortController().signal);
    if (after.work.isCut) return void this.#tellOfSize();
    const others = tails.read();
    const changes = await this.#fileChanges(before, after, others);
    const git = await this.#gitChanges(before, after, others);
    const isShared = open.wasShared || others.hasCalls || this.#areOthersOpen(file);
    if (changes.length > 0 || git.length > 0) {
      const at = new Date().toISOString();
      const line = { type: "changes" as const, id, at, call, changes, git };
      this.#journal.append(isShared ? { ...line, isShared } : line);
      this.#tellOfGaps(changes);
    }
    this.#states.forgetRecent(after);
    rmSync(file, { force: true });
  }

  #tellOfGaps(changes: readonly FileChange[]): void {
    const gaps = changes.filter(({ before }) => before !== null && isLost(before));
    if (gaps.length === 0) return;
    const named = gaps.slice(0, MOST_NAMED).map(({ file }) => `${file} (${this.#states.reasonFor(file)})`);
    const more = gaps.length > MOST_NAMED ? ` and ${gaps.length - MOST_NAMED} more` : "";
    this.#needs.report(`The old content of ${named.join(", ")}${more} cannot be taken back with burin undo.`);
  }

  /** A path that was not seen before is new, unless it was there and could not be seen. */
  async #fileChanges(before: TreeState, after: TreeState, others: OthersChanges): Promise<FileChange[]> {
    const [earlier, now] = [before.work.stamps, after.work.stamps];
    const differing = [...earlier].flatMap(([path, stamp]) => (now.get(path) === stamp ? [] : path));
    const added = [...now.keys()].filter((path) => !earlier.has(path));
    const isRuleChanged = [...differing, ...added].some(isIgnoreFile);
    const isSure = before.work.isWhole && !isRuleChanged;
    const gone = new Set(differing.flatMap((path) => (now.has(path) ? [] : inodeIn(earlier.get(path)))));
    const isNew = (path: string) =>
      (isSure && !after.work.ignored.has(path)) ||
      (lstatOf(path)?.birthtimeMs ?? 0) >= before.at ||
      inodeIn(now.get(path)).some((inode) => gone.has(inode));
    const fresh = added.filter(isNew);
    // Some are not looked at any more, for example because they are ignored by now.
    const stamps = new Map(now);
    for (const path of differing) {
      const stamp = now.get(path) ?? stampNow(path);
      if (stamp !== null) stamps.set(path, stamp);
    }
    const changes = await this.#changesOf([...differing, ...fresh], { earlier, now: stamps, after, others });
    return [...changes, ...newRepositories(before, after)].sort((one, other) =>
      one.file < other.file ? -1 : 1,
    );
  }

  async #changesOf(
    paths: readonly string[],
    { earlier, now, after, others }: Comparison,
  ): Promise<FileChange[]> {
    const contentIn = (stamps: ReadonlyMap<string, string>, path: string) => {
      const stamp = stamps.get(path);
      return stamp === undefined ? null : this.#states.contentThen(path, stamp);
    };
    const differing = paths.filter((path) => earlier.get(path) !== now.get(path)).sort();
    // Before what is there now is learned in its place.
    const contents = differing.map((path) => [path, contentIn(earlier, path)] as const);
    const present = differing.flatMap((path) => {
      const stamp = now.get(path);
      return stamp === undefined ? [] : [[path, stamp] as const];
    });
    await this.#states.learnContents(present, after, MOST_MERGED_BYTES);
    return contents.flatMap(([path, content]) => {
      const known = others.files.get(path);
      return changeOf(path, known === undefined ? content : known, contentIn(now, path)) ?? [];
    });
  }

  async #gitChanges(before: TreeState, after: TreeState, others: OthersChanges): Promise<GitChange[]> {
    const found: GitChange[] = [];
    for (const { reader, look: now } of after.repositories) {
      const earlier = before.repositories.find((one) => one.reader === reader)?.look;
      if (earlier === undefined) continue;
      const { repository } = reader;
      const files = await this.#changesOf(changedState(repository, { earlier, now }), {
        earlier: earlier.stamps,
        now: now.stamps,
        after,
        others,
      });
      const refs = refChanges(earlier.refs, now.refs, others.refs);
      if (files.length === 0 && refs.length === 0) continue;
      const change = { repository, files, refs };
      const file = `${newChangeId(this.#folder)}.pack`;
      const looks = { earlier, now, change };
      const isPacked = packDropped(this.#states.gitOf(reader), looks, join(this.#folder, file));
      found.push(isPacked ? { ...change, pack: file } : change);
    }
    return found;
  }
}

/** A call has made them, by git init or by a clone. */
function newRepositories(before: TreeState, after: TreeState): FileChange[] {
  return [...after.work.repositories].flatMap((path) => {
    const stats = before.work.repositories.has(path) ? null : lstatOf(path);
    if (!stats?.isDirectory() || stats.birthtimeMs < before.at || lstatOf(join(path, "HEAD")) === null)
      return [];
    return changeOf(path, null, repositoryContent(path, stats.mode)) ?? [];
  });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function isIgnoreFile(path: string): boolean {
  return /^\.(?:git|burin)ignore$/.test(basename(path));
}

/** Of a file or link. One that was moved keeps it. */
function inodeIn(stamp = ""): number[] {
  const { inode } = readStamp(stamp);
  return inode === 0 ? [] : [inode];
}

function changeOf(path: string, was: Content | null, is: Content | null): FileChange | null {
  const hasSameMode = was?.mode === is?.mode || was?.kind === "link";
  if (isSame(was, is) && hasSameMode) return null;
  return { type: "change", id: "", at: "", file: path, before: was, after: is, madeFolders: 0 };
}

/** Its bytes are nowhere. */
function isLost({ kind, kept, git }: Content): boolean {
  return kind === undefined && kept === undefined && git === undefined;
}
