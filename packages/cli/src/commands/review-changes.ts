import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import {
  findHunks,
  findSession,
  readText,
  recordTakenBack,
  resolveBurinHome,
  withFallback,
} from "@burin/core/internal";
import { listUndoEntries, readLog, type ToolCall } from "@burin/core/sessions";
import { say } from "../locales/say.ts";
import { resolveSessionLocation } from "../request/options.ts";
import { type Change, type ChangedPart, createReviewPanel, type WholeCall } from "../ui/review-panel.ts";
import { undoOrRedo } from "./change-session.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";

const MAX_BYTES = 16 * 1024 * 1024;

export const reviewCommands: readonly ScreenCommand[] = [
  { name: "changes", opensPanel: true, run: showChanges },
  {
    name: "merge",
    words: "[name]",
    opensPanel: true,
    run: async (desk, words) => (await import("./merge-work-tree.ts")).offerWorkTreeMerge(desk, words),
  },
];

/** Shows everything that the session's calls changed. Each hunk of an edit can be undone separately. */
async function showChanges(desk: CommandDesk): Promise<void> {
  const changes = await listChanges(desk);
  if (changes.length === 0) return void desk.note(say("changes.none"));
  const undoParts = (chosen: readonly Change[]): void => void undoChosen(desk, chosen);
  desk.show(createReviewPanel({ changes, takeBack: undoParts, close: () => desk.show(null) }));
}

async function listChanges(desk: CommandDesk): Promise<Change[]> {
  const root = await realpath(desk.options.root);
  const changes: { readonly at: string; readonly change: Change }[] = await listWholeCalls(desk);
  for (const { at, call } of await listCalls(desk, root)) {
    if (call.status !== "success") continue;
    const { returnDisplay: diff, description } = call;
    if (typeof diff === "string" || diff.kind !== "file_diff") continue;
    const file = isAbsolute(diff.fileName) ? relative(root, diff.fileName) : diff.fileName;
    // The file's current content shows which changes are still in effect.
    const now = withFallback(null, () => readText(resolve(root, file), MAX_BYTES));
    const text = now?.replaceAll("\r\n", "\n") ?? "";
    for (const hunk of findHunks(diff)) {
      const { before, after } = splitHunkSides(hunk);
      const isTakenBack = text !== "" && !text.includes(after) && text.includes(before);
      changes.push({ at, change: { kind: "place", file, call: description, hunk, isTakenBack } });
    }
  }
  return changes
    .sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)))
    .map(({ change }) => change);
}

/** Returns what the session's commands, MCP tools, hooks and checks changed; these changes are undone as a whole. */
async function listWholeCalls({ session, options }: CommandDesk) {
  const entries = await listUndoEntries(resolveSessionLocation(options));
  return entries.flatMap(({ id, at, kind, writer, maker, call, files, isInForce }) => {
    if (kind !== "call" || writer !== session?.id || maker === undefined || call === undefined) return [];
    const change: WholeCall = { kind: "call", id, maker, call, files, isTakenBack: !isInForce };
    return [{ at, change }];
  });
}

/** Returns the calls in the session's log. If there is no log, returns the latest calls, which the screen still has. */
async function listCalls(
  { session, options, transcript }: CommandDesk,
  root: string,
): Promise<readonly { readonly at: string; readonly call: ToolCall }[]> {
  if (session === null || session.history.length === 0) return [];
  if (options.session.kind === "unrecorded") return transcript.calls.map((call) => ({ at: "", call }));
  const { path } = await findSession(resolveBurinHome(process.env), root, session.id);
  return [...readLog(path)].flatMap(({ event, at }) =>
    event.type === "tool_call" ? [{ at, call: event.call }] : [],
  );
}

/** Undoes the latest change first, so that a later call's change does not stand in the way of an earlier edit. */
async function undoChosen(desk: CommandDesk, chosen: readonly Change[]): Promise<void> {
  for (const change of [...chosen].reverse()) {
    if (change.isTakenBack) continue;
    if (change.kind === "place") await undoHunks(desk, [change]);
    else await undoCall(desk, change);
  }
}

async function undoCall(desk: CommandDesk, change: WholeCall): Promise<void> {
  await undoOrRedo(desk, { call: change.id });
  const entries = await listUndoEntries(resolveSessionLocation(desk.options));
  change.isTakenBack = entries.some(({ id, isInForce }) => id === change.id && !isInForce);
  desk.view.drawSoon();
}

/** Undoes each hunk with a separate edit. A hunk that has changed since then is not found and is left alone. */
async function undoHunks(desk: CommandDesk, chosen: readonly ChangedPart[]): Promise<void> {
  const place = resolveSessionLocation(desk.options);
  const [last] = await listUndoEntries(place);
  const files = new Set<string>();
  for (const change of [...chosen].reverse()) {
    if (change.isTakenBack) continue;
    const { before, after } = splitHunkSides(change.hunk);
    const file_path = resolve(desk.options.root, change.file);
    const result = await desk.callOwn("edit", { file_path, old_string: after, new_string: before });
    change.isTakenBack = result !== null && result.error === undefined;
    if (change.isTakenBack) files.add(change.file);
    if (change.isTakenBack) desk.note(say("undo.done", { file: change.file }));
    else if (result?.error)
      desk.note(say("undo.refused", { file: change.file, reason: result.error.message }), true);
  }
  const session = desk.session?.id;
  if (files.size === 0 || session === undefined) return;
  const own = (await listUndoEntries(place)).filter(({ id, writer, files: its }) => {
    return writer === session && id > (last?.id ?? "") && its.every((file) => files.has(file));
  });
  // Record the undo, so that /redo can restore the changes.
  await recordTakenBack(
    { ...place, session },
    own.map(({ id }) => id),
  );
}

/** Returns the hunk's text before and after the change. */
function splitHunkSides(hunk: string): { before: string; after: string } {
  const lines = hunk.split("\n").slice(1);
  const joinLinesWithout = (other: string) =>
    lines
      .flatMap((line) => (line.startsWith(other) || line.startsWith("\\") ? [] : [line.slice(1)]))
      .join("\n");
  return { before: joinLinesWithout("+"), after: joinLinesWithout("-") };
}
