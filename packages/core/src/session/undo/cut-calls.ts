import { rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { endLeftCommands } from "@burin/commands/shell/commands";
import { tryLstat } from "@burin/files/disk/disk-looks";
import { lockPath } from "@burin/files/disk/path-lock";
import type { CallNote, FileChange, GitChange } from "./journal-line.ts";
import { JournalTails } from "./journal-tails.ts";
import { StoredContents } from "./kept-contents.ts";
import { findCutCalls, type OpenNote, recallState, removeOldLooks, SIGN_OF_LIFE_MS } from "./open-calls.ts";
import { hasOperation } from "./operations.ts";
import { TreeChanges } from "./tree-changes.ts";
import { TreeStates } from "./tree-state.ts";
import { createChangeId, resolveUndoFolder, UndoJournal } from "./undo-journal.ts";

/** How much later than planned a sign of life may come. */
const LATE_MS = 200;

/** A call during which the Burin process was killed. */
export interface CutCall {
  readonly id: string;
  readonly call: CallNote;
  /** The files that the call had changed until then, relative to the root. */
  readonly files: readonly string[];
  /** The files that changed between then and now, by the command or by anybody else. Undo names them by `laterId`. */
  readonly later: readonly string[];
  readonly laterId: string;
  /** false if it is unknown what the call changed. */
  readonly isKnown: boolean;
}

export interface CutCallOptions {
  readonly home: string;
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Finds out what calls of killed Burin processes changed, so that it can be undone. Returns the newly found ones. */
export async function settleCutCalls(place: CutCallOptions): Promise<CutCall[]> {
  const folder = resolveUndoFolder(place.home, place.root);
  if (findCutCalls(folder).length === 0) return [];
  return lockPath(join(folder, "cut-calls"), async () => {
    await endLeftCommands(place.home, place.environment);
    const settled: CutCall[] = [];
    for (const { path, note } of findCutCalls(folder)) {
      if (note !== null && !hasOperation(folder, note)) settled.push(await settleCutCall(note, path, place));
      rmSync(path, { force: true });
    }
    removeOldLooks(folder);
    return settled;
  });
}

async function settleCutCall(
  note: OpenNote,
  path: string,
  { home, root, environment }: CutCallOptions,
): Promise<CutCall> {
  const folder = resolveUndoFolder(home, root);
  const { id, call, writer } = note;
  const laterId = createChangeId(folder);
  const kept = new StoredContents(folder);
  const settings = { ...note.request.settings, environment };
  const states = new TreeStates({ request: { ...note.request, settings }, environment, kept });
  const before = recallState(note, { folder, states, kept });
  const after = await states.readTree(new AbortController().signal);
  if (before === null || after.work.isTruncated)
    return { id, call, files: [], later: [], laterId, isKnown: false };
  const others = new JournalTails(folder, note.sizes).read();
  const lastSign = statSync(path).mtimeMs;
  const found = await new TreeChanges(states, folder).find({ before, after, others });
  const { during, later } = splitByTime(found, lastSign + SIGN_OF_LIFE_MS + LATE_MS);
  const journal = new UndoJournal(home, root, writer);
  const at = new Date(lastSign).toISOString();
  // Write this line first, because the presence of the other one shows that the call is settled.
  if (isSome(later)) {
    const line = { type: "changes" as const, id: laterId, at: new Date().toISOString(), call, ...later };
    journal.appendLine({ ...line, cut: "after" });
  }
  if (isSome(during)) {
    const line = { type: "changes" as const, id, at, call, ...during, cut: "during" as const };
    journal.appendLine(others.hasCalls ? { ...line, isShared: true } : line);
  }
  const formatNames = (found: Found) => listNames(found).map((file) => relative(root, file));
  return { id, call, files: formatNames(during), later: formatNames(later), laterId, isKnown: true };
}

interface Found {
  readonly changes: readonly FileChange[];
  readonly git: readonly GitChange[];
}

function isSome({ changes, git }: Found): boolean {
  return changes.length + git.length > 0;
}

function listNames({ changes, git }: Found): string[] {
  return [...changes.map(({ file }) => file), ...git.map(({ repository }) => repository.gitDir)];
}

function splitByTime({ changes, git }: Found, until: number): { during: Found; later: Found } {
  const isLater = ({ file, before }: FileChange) => readChangeTime(file, before === null) > until;
  const isLaterGit = ({ repository, files, refs }: GitChange) =>
    files.some(isLater) ||
    refs.some(({ name }) => readChangeTime(join(repository.commonDir, name), false) > until);
  return {
    during: {
      changes: changes.filter((change) => !isLater(change)),
      git: git.filter((change) => !isLaterGit(change)),
    },
    later: { changes: changes.filter(isLater), git: git.filter(isLaterGit) },
  };
}

/** Returns when a path changed. For a missing path, only its folder has a time. */
function readChangeTime(path: string, isNew: boolean): number {
  const stats = tryLstat(path);
  if (stats === null) {
    for (let above = dirname(path); ; above = dirname(above)) {
      const folder = tryLstat(above);
      if (folder !== null || above === dirname(above)) return folder?.mtimeMs ?? 0;
    }
  }
  return stats.isDirectory() && isNew ? stats.birthtimeMs : stats.ctimeMs;
}

const MAX_NAMED = 5;

/** Describes the call for the user, with what to do about it. */
export function describeCutCall({ id, call, files, later, laterId, isKnown }: CutCall): string {
  const begun = `Burin was killed during: ${call.what}.`;
  if (!isKnown) return `${begun} What it changed is not known, and burin undo cannot take it back.`;
  const changed =
    files.length === 0
      ? "It had changed nothing."
      : `It had changed ${formatFiles(files)}; burin undo --call ${id} takes that back.`;
  const since =
    later.length === 0
      ? ""
      : ` What changed after that may be somebody else's: ${formatFiles(later)}; burin undo --call ${laterId} takes that back.`;
  return `${begun} ${changed}${since}`;
}

function formatFiles(files: readonly string[]): string {
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : "";
  return `${files.slice(0, MAX_NAMED).join(", ")}${more}`;
}
