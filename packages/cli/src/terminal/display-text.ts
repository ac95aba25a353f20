import type { ToolDisplay } from "@burin/core";
import { visible } from "./output.ts";

const HEAD_LINES = 8;
const TAIL_LINES = 4;
const MOST_CHARACTERS = 200;
const MARKS = { pending: " ", in_progress: ">", completed: "x" };

/** A tool's display as a few indented lines that are safe for a terminal. */
export function displayText(display: ToolDisplay): string {
  const lines = linesOf(display);
  const left = lines.length - HEAD_LINES - TAIL_LINES;
  const shown =
    left <= 1 ? lines : [...lines.slice(0, HEAD_LINES), `[${left} lines]`, ...lines.slice(-TAIL_LINES)];
  return shown.map((line) => `  ${visible(cut(line))}`).join("\n");
}

function linesOf(display: ToolDisplay): string[] {
  if (typeof display === "string") return textLines(display);
  switch (display.kind) {
    case "file_diff":
      return textLines(display.fileDiff);
    case "todo_list":
      return display.todos.map(({ status, content }) => `[${MARKS[status]}] ${content}`);
    case "progress":
      return [display.title, ...display.lines];
    default:
      // A tool of an embedder may return a display that only its own face can draw.
      return [];
  }
}

function textLines(text: string): string[] {
  return text.trim() === "" ? [] : text.trimEnd().split("\n");
}

function cut(line: string): string {
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}...` : line;
}
