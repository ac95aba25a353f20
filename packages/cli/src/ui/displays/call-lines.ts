import type { ToolCall, ToolDisplay } from "@burin/core";
import { say } from "../../locales/say.ts";
import {
  cutLine,
  type Line,
  linesOf,
  type Span,
  type Style,
  shownText,
  span,
  wrapLine,
} from "../../terminal/styled-line.ts";
import { look } from "../look.ts";
import { markdownLines } from "../markdown.ts";
import { diffLines, diffSummary } from "./file-diff.ts";

/** How much of a result is shown by itself; ctrl+o shows all. */
const MOST_DIFF_ROWS = 24;
const MOST_LIVE_ROWS = 3;
const MOST_ERROR_ROWS = 4;

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
  /** How long it has run, or ran, in milliseconds. */
  readonly milliseconds: number;
}

/** A call as one calm line, and below it what a person wants to see of it without asking. */
export function callLines(call: ToolCall, { width, milliseconds }: Drawing): Line[] {
  const [sign, style] = MARKS[call.status];
  const mark = look.isSpoken ? `${say(`call.${call.status}`)}:` : sign;
  const what = shownText(firstLine(call.description || call.name));
  const more = [...summaryOf(call), ...timeOf(call, milliseconds)];
  const tail = more.flatMap((part): Span[] => [{ text: "  " }, ...part]);
  const head: Line = [{ text: `${mark} `, style }, { text: what }];
  const room = width - tail.reduce((sum, { text }) => sum + text.length, 0);
  const first = room > 20 ? [...cutLine(head, room), ...tail] : cutLine(head, width);
  const below = detailOf(call, Math.max(width - 4, 10)).map((line) => [{ text: "    " }, ...line]);
  return [first, ...below].map((line) => cutLine(line, width));
}

/** Each call with all that there is to see of it. */
export function callsInFull(calls: readonly ToolCall[], width: number): Line[] {
  if (calls.length === 0) return [[{ text: say("calls.none"), style: "dim" }]];
  return calls.flatMap((call, index) => {
    const [mark, style] = MARKS[call.status];
    const head: Line = [
      { text: `${mark} `, style },
      { text: shownText(call.description || call.name), style: "strong" },
    ];
    const rows = [head, ...wholeCall(call, width)].flatMap((line) => wrapLine(line, width, "  "));
    return index === 0 ? rows : [[], ...rows];
  });
}

/** All that there is to see of a call. */
function wholeCall(call: ToolCall, width: number): Line[] {
  if (call.status === "error" || call.status === "cancelled") {
    const { error, returnDisplay: display } = call;
    return [
      ...linesOf(error.message, "bad"),
      ...(display === error.message ? [] : displayLines(display, width)),
    ];
  }
  if (call.status === "success") {
    const shown = displayLines(call.returnDisplay, width);
    return shown.length > 0 && typeof call.returnDisplay !== "string"
      ? shown
      : linesOf(modelText(call.llmContent));
  }
  return call.status === "executing" && call.display !== undefined ? displayLines(call.display, width) : [];
}

/** A result by its kind. */
function displayLines(display: ToolDisplay, width: number): Line[] {
  if (typeof display === "string") return display.trim() === "" ? [] : linesOf(display.trimEnd());
  switch (display.kind) {
    case "file_diff":
      return diffLines(display.fileDiff, width);
    case "todo_list":
      return display.todos.map(({ status, content }) => todoLine(status, content));
    case "progress":
      return display.lines.map((line) => [span(line, "dim")]);
    default:
      // A tool of an embedder may show what only its own face can draw.
      return [];
  }
}

function todoLine(status: "pending" | "in_progress" | "completed", content: string): Line {
  const marks = { pending: "☐ ", in_progress: "▶ ", completed: "☑ " } as const;
  const styles = { pending: undefined, in_progress: "strong", completed: "dim" } as const;
  return [{ text: marks[status], style: styles[status] }, span(content, styles[status])];
}

/** A few words behind the description. */
function summaryOf(call: ToolCall): Span[][] {
  if (call.status !== "success") return [];
  const { returnDisplay: display } = call;
  if (typeof display !== "string") return display.kind === "file_diff" ? [diffSummary(display)] : [];
  const lines = display.trim().split("\n");
  if (lines.length > 1) return [[{ text: say("call.lines", { count: lines.length }), style: "dim" }]];
  const only = shownText(lines[0] ?? "");
  return only === "" ? [] : [[{ text: only.length > 60 ? `${only.slice(0, 59)}…` : only, style: "dim" }]];
}

function timeOf({ status }: ToolCall, milliseconds: number): Span[][] {
  const isShown = status === "executing" ? milliseconds >= 1000 : milliseconds >= 3000;
  return isShown ? [[{ text: duration(milliseconds), style: "dim" }]] : [];
}

function detailOf(call: ToolCall, width: number): Line[] {
  switch (call.status) {
    case "executing":
      return liveLines(call.display, width);
    case "error":
      return errorLines(call.error.message, "bad");
    case "cancelled":
      return errorLines(call.error.message, "dim");
    case "success":
      return typeof call.returnDisplay === "string"
        ? []
        : shortened(displayLines(call.returnDisplay, width), MOST_DIFF_ROWS);
    default:
      return [];
  }
}

function liveLines(display: ToolDisplay | undefined, width: number): Line[] {
  if (display === undefined) return [];
  const lines = displayLines(typeof display === "string" ? display.slice(-4000) : display, width);
  return typeof display === "object" && display.kind === "todo_list"
    ? lines
    : lines.slice(-MOST_LIVE_ROWS).map((line) => line.map(({ text }): Span => ({ text, style: "dim" })));
}

function errorLines(message: string, style: Style): Line[] {
  const lines = linesOf(message.trim(), style);
  return shortened(lines, MOST_ERROR_ROWS);
}

function shortened(lines: Line[], most: number): Line[] {
  if (lines.length <= most) return lines;
  const left = lines.length - most;
  return [...lines.slice(0, most), [{ text: say("call.more", { count: left }), style: "dim" }]];
}

export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} m ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function modelText(content: Extract<ToolCall, { status: "success" }>["llmContent"]): string {
  const parts = Array.isArray(content) ? content : [content];
  return parts.map((part) => (typeof part === "string" ? part : (part.text ?? ""))).join("\n");
}

/** A plan is Markdown, wherever it is shown. */
export function planLines(plan: string, width: number): Line[] {
  return markdownLines(plan, width, false);
}
