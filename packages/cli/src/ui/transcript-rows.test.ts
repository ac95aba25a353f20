import { readFileSync } from "node:fs";
import type { ToolCall } from "@burin/core/sessions";
import { expect, it } from "vitest";
import { Transcript } from "../state/transcript.ts";
import { joinSpans, type Line } from "../terminal/styled-line.ts";
import { drawDiff } from "./displays/file-diff.ts";
import { drawMarkdown, MarkdownStream } from "./markdown.ts";
import { TranscriptRows } from "./transcript-rows.ts";

const TABLE = "| name | words |\n| --- | --- |\n| a.txt | 1 |\n";
const frame = { width: 80, theme: {}, now: 0, draw: () => [] };

it.each([1, 16, TABLE.length])("P30 shows a table that a reply begins with, in pieces of %d", (length) => {
  const transcript = new Transcript();
  const rows = new TranscriptRows();
  const shown: string[] = [];
  const draw = () => shown.push(...rows.takeFinal(transcript, frame).map(({ bytes }) => bytes));
  for (let at = 0; at < TABLE.length; at += length) {
    transcript.applyEvent({ type: "text", role: "model", text: TABLE.slice(at, at + length) }, 0);
    draw();
  }
  const live = rows.drawLive(transcript, frame).map(({ bytes }) => bytes);
  transcript.applyEvent({ type: "text", role: "user", text: "go on" }, 0);
  draw();
  const table = ["name  │ words", "──────┼──────", "a.txt │ 1"];
  expect({ live, shown }).toEqual({ live: table, shown: [...table, "", "> go on"] });
});

const asked = { callId: "a", name: "write_file", args: {}, description: "Write a.txt" };

function shownOf(...heard: readonly (readonly [call: object, now: number])[]): string[] {
  const transcript = new Transcript();
  for (const [call, now] of heard)
    transcript.applyEvent({ type: "tool_call", call: { ...asked, ...call } as ToolCall }, now);
  return new TranscriptRows().takeFinal(transcript, frame).map(({ bytes }) => bytes);
}

it("the time that the user took to refuse a call is not the call's", () => {
  const confirmation = { kind: "info", title: "Write?" };
  const error = { type: "declined", message: "No." };
  const rows = shownOf(
    [{ status: "validating" }, 0],
    [{ status: "awaiting_approval", confirmation, reason: "" }, 100],
    [{ status: "error", error, llmContent: "", returnDisplay: "" }, 60_000],
  );
  expect(rows[0]).toBe("✗ Write a.txt");
});

it("says in words that a call changed nothing", () => {
  const display = { kind: "file_diff", fileName: "a.txt", fileDiff: "", addedLines: 0, removedLines: 0 };
  const rows = shownOf([{ status: "success", llmContent: "", returnDisplay: display }, 0]);
  expect(rows).toEqual(["● Write a.txt  nothing changed"]);
});

it.each([80, 57, 41])(
  "P30 shows a long paragraph that streams in rows as full as if it came whole, %d wide",
  (width) => {
    const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
    // Japanese has few spaces, and its characters take two cells.
    for (const source of [textOf("../../../../LICENSE"), textOf("../locales/ja.json")]) {
      const text = source.replace(/\s+/g, " ").trim();
      const stream = new MarkdownStream(true);
      const rows: Line[] = [];
      let rest = "";
      for (let at = 0; at < text.length; at += 37) {
        const taken = stream.drawFinal(rest + text.slice(at, at + 37), false, width);
        rows.push(...taken.rows);
        rest = taken.rest;
      }
      rows.push(...stream.drawFinal(rest, true, width).rows);
      const plain = (lines: readonly Line[]) => lines.map(joinSpans);
      expect(plain(rows)).toEqual(plain(drawMarkdown(text, width, true)));
    }
  },
);

it.each([
  ["line ends before a word", () => drawMarkdown(`a${"\n".repeat(100_000)}b`, 80, false)],
  ["spaces in a heading", () => drawMarkdown(`# a${" ".repeat(300_000)}b`, 80, true)],
  [
    "spaces in the rule of a table",
    () => drawMarkdown(`|a|\n|${" ".repeat(2000)}-${" ".repeat(300_000)}b|`, 80, true),
  ],
  ["brackets that never close", () => drawMarkdown("[".repeat(100_000), 80, false)],
  ["emoji", () => drawMarkdown("\u{1f600}".repeat(50_000), 80, false)],
  [
    "lines that are changed one by one",
    () => drawDiff(`@@ -1,15000 +1,15000 @@\n${"-a\n+b\n c\n".repeat(15_000)}`, 80),
  ],
])("P30 draws very many %s in time", (_what, draw) => {
  const began = performance.now();
  draw();
  expect(performance.now() - began).toBeLessThan(6000);
});

it("P30 does not draw a change again that is drawn with each key", () => {
  const change = "@@ -1,1 +1,1 @@\n-a\n+b\n";
  expect(drawDiff(change, 80)).toBe(drawDiff(change, 80));
  expect(drawDiff(change, 40)).not.toBe(drawDiff(change, 80));
});
