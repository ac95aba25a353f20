import {
  type FileOutcome,
  findSession,
  type UndoEntry,
  type UndoOptions,
  undo,
  undoEntries,
  undoScope,
} from "@burin/core";
import { sessionPlace } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { lines, localTime, report, visible } from "../terminal/output.ts";

/** Undoes what calls did to files, or redoes it. */
export async function run(request: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const { options, own } = request;
  const place = sessionPlace(options);
  const isText = options.outputFormat === "text";
  const chosen = await chosenIn(request, place);
  if (own.list === true) {
    const entries = await undoEntries(place);
    report(output, options.outputFormat, { document: entries, rows: entries.map(lineOf) });
    if (entries.length === 0) output.note(NOTHING);
    return EXIT.done;
  }
  const only = chosen.session === undefined ? await undoScope(place) : undefined;
  const result = await undo({ ...place, ...chosen, ...(only === undefined ? {} : { only }) });
  if (!isText) output.out(`${JSON.stringify(result)}\n`);
  else output.out(lines(...result.files.map(outcomeLine)));
  if (result.unrecorded !== undefined)
    output.note(`burin: this could not be recorded, so it cannot be redone: ${result.unrecorded}.`);
  const isRefused = result.files.some(({ what }) => what === "refused");
  if (result.files.length === 0) output.note(nothing(only, result.elsewhere));
  else if (result.files.every(({ what }) => what === "unchanged")) output.note(UNCHANGED);
  else if (!isRefused && result.unrecorded === undefined)
    output.note(`burin: ${result.isRedo ? REDONE : UNDONE}`);
  return isRefused ? EXIT.failed : EXIT.done;
}

type Place = Pick<UndoOptions, "home" | "root">;

async function chosenIn(
  { words, own }: SubcommandRequest,
  { home, root }: Place,
): Promise<Pick<UndoOptions, "count" | "session">> {
  const count = countIn(words);
  if (typeof own.session !== "string") return count === undefined ? {} : { count };
  // A call outside of sessions has a name in the list, but no log.
  const session = /^call-./.test(own.session) ? own.session : (await findSession(home, root, own.session)).id;
  return count === undefined ? { session } : { session, count };
}

/** What else there is, and how to take that back. */
function nothing(only: string | undefined, elsewhere: UndoEntry | undefined): string {
  if (elsewhere === undefined) return NOTHING;
  const { at, files, writer } = elsewhere;
  const where = only === "calls" ? "in calls" : `in the session ${only ?? "that was last at work here"}`;
  const whose = `${visible(files.join(", "))}, ${localTime(at, 19)}, ${visible(writer)}`;
  return `burin: there is nothing to undo ${where}. The last change outside of it (${whose}) is taken back with: burin undo 1 --session ${visible(writer)}`;
}

const NOTHING = "burin: there is nothing to undo.";
const UNCHANGED = "burin: nothing was changed: the files already are as they were before.";
const UNDONE = "Reverted. Run burin undo again to redo it, or burin undo 1 to revert one more change.";
const REDONE = "Redone.";

function countIn([word, ...others]: readonly string[]): number | undefined {
  if (word === undefined) return undefined;
  if (others.length > 0 || !/^[1-9]\d{0,5}$/.test(word)) {
    throw new UsageError(
      `burin undo takes how many changes to take back, not "${[word, ...others].join(" ")}"; see burin undo --list.`,
    );
  }
  return Number(word);
}

function lineOf({ at, kind, writer, files, isInForce }: UndoEntry): string {
  const what = kind === "undo" ? "undo of" : "change of";
  const state = isInForce ? "" : "  (taken back)";
  return `${localTime(at, 19)}  ${what} ${files.join(", ")}${kind === "call" ? `  ${writer}` : ""}${state}`;
}

function outcomeLine({ file, what, reason }: FileOutcome): string {
  return what === "refused" ? `left alone  ${file}: ${reason}` : `${what.padEnd(10)}  ${file}`;
}
