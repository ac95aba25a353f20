import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { findSession, withFallback } from "@burin/core/internal";
import {
  type FileOutcome,
  forgetUndo,
  listUndoEntries,
  resolveUndoScope,
  type UndoEntry,
  type UndoOptions,
  undo,
} from "@burin/core/sessions";
import { resolveSessionLocation } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { formatLocalTime, joinLines, printFindings, visible } from "../terminal/output.ts";

/** Undoes or redoes what calls did to files. */
export async function run(request: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const { options, subcommandOptions } = request;
  const place = resolveSessionLocation(options);
  const isText = options.outputFormat === "text";
  const chosen = await parseChoice(request, place);
  if (subcommandOptions.forget === true) {
    await forgetUndo(place);
    output.note("burin: nothing is kept for undo in this folder any more.");
    return EXIT.done;
  }
  if (subcommandOptions.list === true) {
    const entries = await listUndoEntries(place);
    printFindings(output, options.outputFormat, { document: entries, rows: entries.map(formatLine) });
    if (entries.length === 0) output.note(NOTHING);
    return EXIT.done;
  }
  const isNamed = chosen.session !== undefined || chosen.call !== undefined || chosen.file !== undefined;
  const only = isNamed ? undefined : await resolveUndoScope(place);
  const result = await undo({ ...place, ...chosen, ...(only === undefined ? {} : { only }) });
  if (!isText) output.out(`${JSON.stringify(result)}\n`);
  else output.out(joinLines(...result.files.map(formatOutcome)));
  if (result.unrecorded !== undefined)
    output.note(`burin: this could not be recorded, so it cannot be redone: ${result.unrecorded}.`);
  const isRefused = result.files.some(({ what }) => what === "refused");
  if (result.files.length === 0) output.note(describeNothing(only, result.elsewhere));
  else if (result.files.every(({ what }) => what === "unchanged")) output.note(UNCHANGED);
  else if (!isRefused && result.unrecorded === undefined)
    output.note(`burin: ${result.isRedo ? REDONE : UNDONE}`);
  return isRefused ? EXIT.failed : EXIT.done;
}

type UndoFolder = Pick<UndoOptions, "home" | "root">;

type UndoChoice = Pick<UndoOptions, "count" | "session" | "call" | "file" | "last" | "afterTurn" | "redo">;

const WAYS = ["session", "call", "file", "prompt", "turn", "to", "redo"];

async function parseChoice(
  { words, subcommandOptions, options }: SubcommandRequest,
  { home, root }: UndoFolder,
): Promise<UndoChoice> {
  const count = parseCount(words);
  const ways = WAYS.filter((way) => subcommandOptions[way] !== undefined);
  const takesCount = ways.every((way) => way === "session" || way === "file");
  if (ways.length > 1 || (count !== undefined && !takesCount)) {
    const given = [...ways.map((way) => `--${way}`), ...(count === undefined ? [] : [String(count)])];
    throw new UsageError(`burin undo takes one of these at a time: ${given.join(", ")}.`);
  }
  const counted = count === undefined ? {} : { count };
  if (typeof subcommandOptions.call === "string") return { call: subcommandOptions.call };
  if (typeof subcommandOptions.file === "string")
    return { ...counted, file: realPath(resolve(options.root, subcommandOptions.file)) };
  if (subcommandOptions.prompt === true) return { last: "prompt" };
  if (subcommandOptions.turn === true) return { last: "turn" };
  if (subcommandOptions.redo === true) return { redo: true };
  if (typeof subcommandOptions.to === "string") return { afterTurn: parseTurn(subcommandOptions.to) };
  if (typeof subcommandOptions.session !== "string") return counted;
  // A call outside of a session has an id in the list, but no log.
  const session = /^call-./.test(subcommandOptions.session)
    ? subcommandOptions.session
    : (await findSession(home, root, subcommandOptions.session)).id;
  return { session, ...counted };
}

/** Returns the real path of a file that may no longer exist. */
function realPath(path: string): string {
  return withFallback(path, () => join(realpathSync(dirname(path)), basename(path)));
}

function parseTurn(word: string): number {
  if (!/^\d{1,6}$/.test(word))
    throw new UsageError(`--to takes the number of a turn, as burin sessions show prints it, not "${word}".`);
  return Number(word);
}

/** Says that there is nothing to undo here, and how to undo the last change elsewhere. */
function describeNothing(only: string | undefined, elsewhere: UndoEntry | undefined): string {
  if (elsewhere === undefined) return NOTHING;
  const { at, files, writer } = elsewhere;
  const where = only === "calls" ? "in calls" : `in the session ${only ?? "that was last at work here"}`;
  const whose = `${visible(files.join(", "))}, ${formatLocalTime(at, 19)}, ${visible(writer)}`;
  return `burin: there is nothing to undo ${where}. The last change outside of it (${whose}) is taken back with: burin undo 1 --session ${visible(writer)}`;
}

const NOTHING = "burin: there is nothing to undo.";
const UNCHANGED = "burin: nothing was changed: the files already are as they were before.";
const UNDONE = "Reverted. Run burin undo again to redo it, or burin undo 1 to revert one more change.";
const REDONE = "Redone.";

function parseCount([word, ...others]: readonly string[]): number | undefined {
  if (word === undefined) return undefined;
  if (others.length > 0 || !/^[1-9]\d{0,5}$/.test(word)) {
    throw new UsageError(
      `burin undo takes how many changes to take back, not "${[word, ...others].join(" ")}"; see burin undo --list.`,
    );
  }
  return Number(word);
}

const MAX_NAMED = 4;
const CUT = { during: "cut off", after: "after it was cut off, perhaps by somebody else" };

function formatLine({ id, at, kind, writer, files, isInForce, call, isShared, cut }: UndoEntry): string {
  const what = kind === "undo" ? "undo of" : "change of";
  const state = isInForce ? "" : "  (taken back)";
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : "";
  const names = visible(files.slice(0, MAX_NAMED).join(", "));
  const by = call === undefined ? "" : `  ${visible(call)}${isShared ? " (not alone)" : ""}`;
  const how = cut === undefined ? "" : ` (${CUT[cut]})`;
  const whose = kind === "call" ? `${by}${how}  ${writer}` : "";
  return `${formatLocalTime(at, 19)}  ${id}  ${what} ${names}${more}${whose}${state}`;
}

function formatOutcome({ file, what, reason }: FileOutcome): string {
  return what === "refused" ? `left alone  ${file}: ${reason}` : `${what.padEnd(10)}  ${file}`;
}
