import type { PartListUnion, ToolDisplay, ToolError } from "@burin/core";
import type { ToolCall } from "@burin/core/sessions";
import type { TextKey } from "../../locales/en.ts";
import { say } from "../../locales/say.ts";
import { readReviewedParts } from "../../state/reviewed-parts.ts";
import type { ShownCall } from "../../state/transcript.ts";
import {
  createSpan,
  cutLine,
  formatText,
  type Line,
  measureLine,
  type Span,
  type Style,
  splitLines,
  wrapLine,
} from "../../terminal/styled-line.ts";
import { look } from "../look.ts";
import { drawMarkdown } from "../markdown.ts";
import { drawDiff, drawDiffSummary } from "./file-diff.ts";

/** How many rows of a change are shown. ctrl+o shows the whole result. */
const MAX_DIFF_ROWS = 24;
const MAX_LIVE_ROWS = 3;
const MAX_ERROR_ROWS = 4;
/** The rows of output of a failed command: enough for the whole output of most. */
const MAX_FAULT_ROWS = 12;
const LONGEST_NEWS = 60;
/** From this time on, a running command names the key that lets it go on in the background. */
const LONG_MS = 2000;
/** The minimum number of cells of the description; anything after it must fit in the rest. */
const MIN_HEAD = 20;
const ENDING = /^(?:([\s\S]*)\n\n)?(?:Exit code: (\d+)|Signal: (\w+))[^\n]*(?:\n([\s\S]*))?$/;

const MARKS: Readonly<Record<ToolCall["status"], readonly [string, Style | undefined]>> = {
  validating: ["○", "dim"],
  awaiting_approval: ["?", "warning"],
  executing: ["◐", "accent"],
  success: ["●", "good"],
  error: ["✗", "bad"],
  cancelled: ["✗", "dim"],
};

interface Drawing {
  readonly width: number;
  /** How long the call has been running, or ran, in milliseconds. */
  readonly milliseconds: number;
}

/** Shows a call as one line, and below it the parts of its result that users usually want to see. */
export function drawCall(call: ShownCall, { width, milliseconds }: Drawing): Line[] {
  const outcome = resolveOutcome(call);
  const [sign, style] = MARKS[outcome];
  const mark = look.isSpoken ? `${say(`call.${outcome}`)}:` : sign;
  const name = call.status === "error" ? call.name : describeTool(call.name);
  const [what = ""] = describeCall(call.description || name).split("\n", 1);
  const more = [...summarizeCall(call), ...formatTime(call, milliseconds)];
  const head: Line = [{ text: `${mark} `, style }, createSpan(what)];
  const indentParts = (parts: readonly Span[][]) =>
    parts.flatMap((part): Span[] => [{ text: "  " }, ...part]);
  // In a narrow window, drop the result before the way it ended.
  const from = more.findIndex((_, index) => width - measureLine(indentParts(more.slice(index))) > MIN_HEAD);
  const tail = from === -1 ? [] : indentParts(more.slice(from));
  const first = [...cutLine(head, width - measureLine(tail)), ...tail];
  const space = { width: Math.max(width - 4, 10), milliseconds };
  const below = drawDetail(call, space).map((line) => [{ text: "    " }, ...line]);
  return [first, ...below].map((line) => cutLine(line, width));
}

/** Describes a call of a built-in tool in the user's language. */
function describeCall(description: string): string {
  const [, verb = "", what = ""] = /^(Run|Edit|Write|Read|List|Fetch) (.+)$/s.exec(description) ?? [];
  if (verb === "") return description;
  return say(`did.${verb.toLowerCase()}` as TextKey, { what });
}

/** Returns the status to show. A command that ended with a signal or an exit code counts as failed. */
function resolveOutcome(call: ShownCall): ToolCall["status"] {
  if (call.status !== "success" || typeof call.returnDisplay !== "string" || call.isPlan) return call.status;
  return splitDisplay(call.returnDisplay).fault === "" ? "success" : "error";
}

/** Turns a tool's name into words, for a call without a description because it has not had its turn. */
function describeTool(name: string): string {
  const words = name.replace(/_+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function drawCallsInFull(calls: readonly ShownCall[], width: number): Line[] {
  if (calls.length === 0) return [[{ text: say("calls.none"), style: "dim" }]];
  return calls.flatMap((call, index) => {
    const [mark, style] = MARKS[resolveOutcome(call)];
    const head: Line = [{ text: `${mark} `, style }, createSpan(call.description || call.name, "strong")];
    const rows = [head, ...drawWholeCall(call, width)].flatMap((line) => wrapLine(line, width, "  "));
    return index === 0 ? rows : [[], ...rows];
  });
}

function drawWholeCall(call: ShownCall, width: number): readonly Line[] {
  if (call.status === "error" || call.status === "cancelled") {
    const { error, returnDisplay: display } = call;
    return [
      ...splitLines(error.message, "bad"),
      ...(display === error.message ? [] : drawDisplay(display, width)),
    ];
  }
  if (call.status === "success") {
    const shown = drawResult(call, width);
    return shown.length > 0 && (call.isPlan || typeof call.returnDisplay !== "string")
      ? shown
      : splitLines(formatModelText(call.llmContent));
  }
  return call.status === "executing" && call.display !== undefined ? drawDisplay(call.display, width) : [];
}

/** Shows the result of a call. A plan is shown as it was approved. */
function drawResult(call: ShownCall & { readonly status: "success" }, width: number): readonly Line[] {
  const { returnDisplay: display, isPlan } = call;
  if (isPlan && typeof display === "string") return drawMarkdown(display, width, false);
  return drawDisplay(display, width);
}

/** Shows a result according to its kind. */
function drawDisplay(display: ToolDisplay, width: number): readonly Line[] {
  if (typeof display === "string") return display.trim() === "" ? [] : splitLines(display.trimEnd());
  switch (display.kind) {
    case "file_diff":
      return drawDiff(display.fileDiff, width, display.fileName);
    case "todo_list":
      return display.todos.map(({ status, content }) => drawTodo(status, content));
    case "progress":
      return display.lines.map((line) => [createSpan(line, "dim")]);
    default:
      // An embedder's tool may return a display that only the embedder's own interface can show.
      return [];
  }
}

function drawTodo(status: "pending" | "in_progress" | "completed", content: string): Line {
  const marks = { pending: "☐ ", in_progress: "▶ ", completed: "☑ " } as const;
  const styles = { pending: undefined, in_progress: "strong", completed: "dim" } as const;
  const words = { pending: "validating", in_progress: "executing", completed: "success" } as const;
  const mark = look.isSpoken ? `${say(`call.${words[status]}`)}: ` : marks[status];
  return [{ text: mark, style: styles[status] }, createSpan(content, styles[status])];
}

/** Returns a few words about the result, to follow the description. */
function summarizeCall(call: ShownCall): Span[][] {
  if (call.status !== "success" || call.isPlan) return [];
  const { returnDisplay: display } = call;
  if (typeof display !== "string") return display.kind === "file_diff" ? [drawDiffSummary(display)] : [];
  const { lines, fault } = splitDisplay(display);
  const words =
    lines.length > 1
      ? say("call.lines", { count: formatCount(display, lines.length) })
      : removeRepeated(lines[0] ?? "", call.description);
  return [
    ...(words === "" ? [] : [[{ text: words, style: "dim" as const }]]),
    ...(fault === "" ? [] : [[{ text: fault, style: "bad" as const }]]),
  ];
}

/**
 * Splits a result into lines, notes and a fault. A command's output ends with an empty line and, if it failed, its exit
 * code or signal; notes follow that.
 */
function splitDisplay(display: string): { lines: string[]; notes: string[]; fault: string } {
  const text = display.trim();
  const [, before = "", code = "0", signal, after = ""] = ENDING.exec(text) ?? [undefined, text];
  const [lines = [], notes = []] = [before, after].map((part) =>
    part.trim() === "" ? [] : part.trim().split("\n"),
  );
  if (signal !== undefined) return { lines, notes, fault: say("call.signal", { signal }) };
  return { lines, notes, fault: code === "0" ? "" : say("call.exit", { code }) };
}

/** Returns what a line adds to the description, which already says what was done to what. */
function removeRepeated(line: string, description: string): string {
  const subject = description.replace(/^\S+ /, "");
  const at = subject.length < 4 ? -1 : line.indexOf(subject);
  const rest = at === -1 ? line.replace(/^\p{Lu}\p{L}+ (?=\d)/u, "") : line.slice(at + subject.length);
  const news = formatText(rest.trim().replace(/\.$/, "")).replace(/^\((.*)\)$/, "$1");
  const [, count] = /^(\d+) lines?$/.exec(news) ?? [];
  if (count !== undefined) return say("call.lines", { count });
  return news.length > LONGEST_NEWS ? `${news.slice(0, LONGEST_NEWS - 1)}…` : news;
}

/** Counts lines. If dots mark that only the end of a long output is known, adds a plus. */
export const formatCount = (output: string, lines: number) => `${lines}${output.startsWith("…") ? "+" : ""}`;

function formatTime({ status }: ToolCall, milliseconds: number): Span[][] {
  const isShown = milliseconds >= (status === "executing" ? 1000 : 3000);
  return isShown ? [[{ text: formatDuration(milliseconds), style: "dim" }]] : [];
}

function drawDetail(call: ShownCall, { width, milliseconds }: Drawing): readonly Line[] {
  switch (call.status) {
    case "executing":
      return [...drawLive(call.display, width), ...drawWayOut(call.display, milliseconds)];
    case "error":
      return drawError(describeFault(call), "bad", width);
    case "cancelled":
      return drawError(describeFault(call), "dim", width);
    case "success":
      return typeof call.returnDisplay === "string" && !call.isPlan
        ? [...drawOutput(call.returnDisplay, width), ...drawNote(call.returnDisplay, width)]
        : [
            ...shortenLines(drawResult(call, width), MAX_DIFF_ROWS),
            ...drawError(describeParts(formatModelText(call.llmContent)), "dim", width),
          ];
    default:
      return [];
  }
}

function drawLive(display: ToolDisplay | undefined, width: number): readonly Line[] {
  if (display === undefined) return [];
  const lines = drawDisplay(typeof display === "string" ? display.slice(-4000) : display, width);
  return typeof display === "object" && display.kind === "todo_list"
    ? lines
    : lines.slice(-MAX_LIVE_ROWS).map((line) => line.map(({ text }): Span => ({ text, style: "dim" })));
}

/** Names the key for the background below the output of a command that takes a while. */
function drawWayOut(display: ToolDisplay | undefined, milliseconds: number): readonly Line[] {
  const isCommand = typeof display === "string" && display.trim() !== "" && !look.isSpoken;
  return isCommand && milliseconds >= LONG_MS ? [[{ text: say("call.background"), style: "dim" }]] : [];
}

/** Failures whose message is meant for the model, with a text for the user instead. */
const FOR_THE_MODEL: Readonly<Record<string, TextKey>> = {
  no_occurrence: "call.notFound",
  wrong_count: "call.wrongCount",
  invalid_arguments: "call.badArguments",
};
const REFUSED = /was not completed: cancelled by user(?:: ([\s\S]*?))?(\. Plan mode stays on)?\.$/;
const STOPPED = /was not completed: interrupted before it was done\.$/;

type Failed = ToolCall & { readonly error: ToolError };

/** Says in the user's language what went wrong. A message that is meant for the model is never shown as it is. */
function describeFault({ name, error: { type, message } }: Failed): string {
  const refused = REFUSED.exec(message);
  if (refused !== null && (type === "cancelled" || type === "plan_declined")) {
    const [, why, isPlan] = refused;
    if (why === undefined) return say("call.saidNo");
    const parts = describeParts(why);
    if (parts !== "") return parts;
    return say(isPlan === undefined ? "call.saidNoWhy" : "call.askedForChanges", { why });
  }
  if (type === "cancelled" && STOPPED.test(message)) return say("call.stopped");
  const key = Object.hasOwn(FOR_THE_MODEL, type) ? FOR_THE_MODEL[type] : undefined;
  return key === undefined ? removeName(name, message) : say(key);
}

/** Says how many parts of a change the user took, and what about the others; "" if it was not taken in parts. */
function describeParts(text: string): string {
  const parts = readReviewedParts(text) ?? [];
  if (parts.length === 0) return "";
  const taken = parts.filter(({ isTaken }) => isTaken).length;
  const each = parts.flatMap(({ isTaken, note }, index) => {
    const state = say(isTaken ? "call.partTaken" : "call.partLeft", { number: index + 1 });
    return isTaken && note === "" ? [] : [`└ ${state}${note === "" ? "" : `: "${note}"`}`];
  });
  return [say("call.parts", { taken, count: parts.length }), ...each].join("\n");
}

/** Removes the tool's name, which only a model needs. */
function removeName(name: string, message: string): string {
  if (!message.startsWith(`${name} `)) return message;
  const rest = message.slice(name.length + 1);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

function drawError(message: string, style: Style, width: number): readonly Line[] {
  if (message === "") return [];
  const lines = splitLines(message.trim(), style).flatMap((line) => wrapLine(line, width));
  return shortenLines(lines, MAX_ERROR_ROWS);
}

/** Returns an output's last lines, more if the command failed. A single line is next to the description instead. */
function drawOutput(display: string, width: number): readonly Line[] {
  const { lines, fault } = splitDisplay(display);
  if (lines.length < 2) return [];
  const max = fault === "" ? MAX_LIVE_ROWS : MAX_FAULT_ROWS;
  // An empty row among three would say nothing.
  const worth = fault === "" ? lines.filter((line) => line.trim() !== "") : lines;
  const shown = worth.slice(-max).map((line): Line => cutLine([createSpan(line, "dim")], width));
  if (fault === "" || lines.length <= max) return shown;
  return [[{ text: say("call.more", { count: lines.length - max }), style: "dim" }], ...shown];
}

/** Returns what the sandbox did to the command: its own output seldom says so. */
function drawNote(display: string, width: number): readonly Line[] {
  return splitDisplay(display).notes.flatMap((note) => drawError(note, "warning", width));
}

function shortenLines(lines: readonly Line[], maxLines: number): readonly Line[] {
  if (lines.length <= maxLines) return lines;
  const left = lines.length - maxLines;
  return [...lines.slice(0, maxLines), [{ text: say("call.more", { count: left }), style: "dim" }]];
}

export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} m ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

/** Returns the text of a result that the model gets. */
export function formatModelText(content: PartListUnion): string {
  const parts = Array.isArray(content) ? content : [content];
  return parts.map((part) => (typeof part === "string" ? part : (part.text ?? ""))).join("\n");
}
