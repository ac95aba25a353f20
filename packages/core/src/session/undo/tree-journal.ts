import { statSync } from "node:fs";
import { join, relative } from "node:path";
import { describeError } from "@burin/contract/text/error-message";
import { withFallback } from "@burin/contract/with-fallback";
import { tryLstat, tryReadEntries } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/own-files";
import { findUnrestorable, parseStamp, type TreeRequest } from "@burin/files/tree";
import type { Content } from "./content.ts";
import { describeCutCall, settleCutCalls } from "./cut-calls.ts";
import type { CallNote, FileChange } from "./journal-line.ts";
import { JournalTails } from "./journal-tails.ts";
import { StoredContents } from "./kept-contents.ts";
import { findCutCalls, OpenCalls } from "./open-calls.ts";
import { TreeChanges } from "./tree-changes.ts";
import { type TreeState, TreeStates } from "./tree-state.ts";
import { createChangeId, resolveUndoFolder, UndoJournal } from "./undo-journal.ts";

const MAX_NAMED = 5;
/** Where package managers of projects put programs that people start by name. */
const PROGRAM_FOLDERS = ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin"];

/** A stamp for each program, by its path, which changes when the program is written. */
type InstalledPrograms = ReadonlyMap<string, string>;

export interface TreeJournalOptions {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  readonly root: string;
  /** The id of the session, or another unique name. */
  readonly writer: string;
  readonly request: TreeRequest;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Reports a message to the user. */
  readonly report: (message: string) => void;
}

interface OpenCall {
  readonly id: string;
  readonly call: CallNote;
  readonly state: TreeState;
  readonly tails: JournalTails;
  readonly file: string;
  readonly programs: InstalledPrograms;
  wasShared: boolean;
}

/** Records what calls change by other means than the file tools, so that it can be undone. */
export class TreeJournal {
  readonly #needs: TreeJournalOptions;
  readonly #folder: string;
  readonly #states: TreeStates;
  readonly #journal: UndoJournal;
  readonly #changes: TreeChanges;
  readonly #open: OpenCalls;
  #turn: Promise<unknown> = Promise.resolve();
  /** The stamps of files that undo could not restore, but that only calls of this session wrote. */
  readonly #made = new Map<string, string>();
  #hasToldOfSize = false;

  constructor(needs: TreeJournalOptions) {
    const { home, root, writer, request, environment } = needs;
    this.#needs = needs;
    this.#folder = resolveUndoFolder(home, root);
    const kept = new StoredContents(this.#folder);
    this.#states = new TreeStates({ request, environment, kept });
    this.#changes = new TreeChanges(this.#states, this.#folder);
    this.#journal = new UndoJournal(home, root, writer);
    this.#open = new OpenCalls({ folder: this.#folder, kept, states: this.#states });
    needs.signal.addEventListener("abort", () => this.#open.close(), { once: true });
  }

  /** Does the work of a call and records what it changed. If recording fails, the work is done all the same. */
  async runRecorded<T>(call: CallNote, work: () => Promise<T>): Promise<T> {
    const open = await this.#inTurn(() => this.#beginCall(call));
    try {
      return await work();
    } finally {
      if (open) await this.#inTurn(() => this.#endCall(open));
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T | null> {
    const turn = this.#turn.then(work).catch((error: unknown) => {
      if (!this.#needs.signal.aborted)
        this.#needs.report(
          `What this call changes cannot be taken back with burin undo: ${describeError(error)}.`,
        );
      return null;
    });
    this.#turn = turn;
    return turn;
  }

  async #beginCall(call: CallNote): Promise<OpenCall | null> {
    makeFolders(this.#folder);
    this.#journal.dropOldEntries();
    await this.#settleCutCalls();
    const state = await this.#states.lookBeforeCall(this.#needs.signal);
    if (state.work.isTruncated) return this.#tellOfSize();
    await this.#states.keepAll(state);
    const id = createChangeId(this.#folder);
    const tails = new JournalTails(this.#folder);
    const { writer, request } = this.#needs;
    const file = this.#open.beginCall({ id, call, writer, request, sizes: tails.sizes }, state);
    const programs = readPrograms(request.roots);
    return { id, call, state, tails, file, programs, wasShared: this.#open.hasOtherCalls(file) };
  }

  /** Settles calls of killed Burin processes, so that their changes do not count as this call's. */
  async #settleCutCalls(): Promise<void> {
    if (findCutCalls(this.#folder).length === 0) return;
    for (const one of await settleCutCalls(this.#needs)) this.#needs.report(describeCutCall(one));
  }

  #tellOfSize(): null {
    if (!this.#hasToldOfSize)
      this.#needs.report(
        "This folder is too large to be looked at before each call, so burin undo takes back edits here, but not what commands change.",
      );
    this.#hasToldOfSize = true;
    return null;
  }

  async #endCall(open: OpenCall): Promise<void> {
    const { id, call, state: before, tails, file } = open;
    const { root, request } = this.#needs;
    const news = describeNewPrograms(open.programs, readPrograms(request.roots), root);
    if (news !== null) this.#needs.report(news);
    // Not the session's signal: a closed session still records what its last call did.
    const after = await this.#states.readTree(new AbortController().signal);
    if (after.work.isTruncated) return void this.#tellOfSize();
    this.#tellOfDestroyed(before);
    const others = tails.read();
    const { changes, git } = await this.#changes.find({ before, after, others });
    const isShared = open.wasShared || others.hasCalls || this.#open.hasOtherCalls(file);
    if (!isShared) this.#learnMade(changes, { before, after });
    if (changes.length > 0 || git.length > 0) {
      const at = new Date().toISOString();
      const line = { type: "changes" as const, id, at, call, changes, git };
      this.#journal.appendLine(isShared ? { ...line, isShared } : line);
      this.#tellOfGaps(changes);
    }
    this.#states.forgetRecent(after);
    this.#open.endCall(file);
    if (this.#needs.signal.aborted) this.#open.close();
  }

  /** Whether only calls of this session wrote what is at a path: then no work of the user is in it. */
  hasMade(path: string, stamp: string): boolean {
    return this.#made.get(path) === stamp;
  }

  #learnMade(
    changes: readonly FileChange[],
    { before, after }: { before: TreeState; after: TreeState },
  ): void {
    const old = new Map(changes.map(({ file, before: content }) => [file, content]));
    for (const [path, stamp] of findUnrestorable(after.work)) {
      // A folder's stamp does not tell whether somebody else puts work into it.
      if (parseStamp(stamp).modified === 0) continue;
      const content = old.get(path);
      const earlier = before.work.missed.get(path) ?? before.work.stamps.get(path) ?? "";
      const isNew = content !== undefined && (content === null || !isLost(content));
      if (isNew || this.hasMade(path, earlier)) this.#made.set(path, stamp);
    }
  }

  /** Undo keeps the refs of a repository, but not all of its objects. */
  #tellOfDestroyed({ repositories }: TreeState): void {
    for (const { reader } of repositories) {
      const { top, commonDir } = reader.repository;
      if (["HEAD", "objects"].some((name) => tryLstat(join(commonDir, name)) === null))
        this.#needs.report(
          `${top} is no longer a whole git repository. burin undo cannot bring back its commits and branches.`,
        );
    }
  }

  #tellOfGaps(changes: readonly FileChange[]): void {
    const gaps = changes.filter(({ before }) => before !== null && isLost(before));
    if (gaps.length === 0) return;
    const named = gaps.slice(0, MAX_NAMED).map(({ file }) => `${file} (${this.#states.explainLoss(file)})`);
    const more = gaps.length > MAX_NAMED ? ` and ${gaps.length - MAX_NAMED} more` : "";
    this.#needs.report(`The old content of ${named.join(", ")}${more} cannot be taken back with burin undo.`);
  }
}

/** Whether the bytes of a content are stored nowhere. */
function isLost({ kind, kept, git }: Content): boolean {
  return kind === undefined && kept === undefined && git === undefined;
}

function readPrograms(roots: readonly string[]): InstalledPrograms {
  const folders = roots.flatMap((root) => PROGRAM_FOLDERS.map((name) => join(root, name)));
  const paths = folders.flatMap((folder) => tryReadEntries(folder).map(({ name }) => join(folder, name)));
  const found = paths.flatMap((path): [string, string][] => {
    // Many entries are links to files of packages.
    const stats = withFallback(null, () => statSync(path));
    return stats?.isFile() ? [[path, `${stats.ino} ${stats.size} ${stats.ctimeMs}`]] : [];
  });
  return new Map(found);
}

/**
 * Returns a warning for the user, who may start these programs outside the sandbox; null when none is new or has
 * changed.
 */
function describeNewPrograms(
  before: InstalledPrograms,
  after: InstalledPrograms,
  root: string,
): string | null {
  const changed = [...after].flatMap(([path, stamp]) => (before.get(path) === stamp ? [] : path));
  if (changed.length === 0) return null;
  const named = changed.slice(0, MAX_NAMED).map((path) => relative(root, path));
  const more = changed.length > MAX_NAMED ? ` and ${changed.length - MAX_NAMED} more` : "";
  return `This call changed programs that you may run outside of the sandbox: ${named.join(", ")}${more}.`;
}
