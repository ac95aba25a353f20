import { expect, it } from "vitest";
import { Transcript } from "../state/transcript.ts";
import { TranscriptRows } from "./transcript-rows.ts";

const TABLE = "| name | words |\n| --- | --- |\n| a.txt | 1 |\n";
const frame = { width: 80, theme: {}, now: 0, draw: () => [] };

it.each([1, 16, TABLE.length])("P30 shows a table that a reply begins with, in pieces of %d", (length) => {
  const transcript = new Transcript();
  const rows = new TranscriptRows();
  const shown: string[] = [];
  const draw = () => shown.push(...rows.takeFinal(transcript, frame).map(({ bytes }) => bytes));
  for (let at = 0; at < TABLE.length; at += length) {
    transcript.hear({ type: "text", role: "model", text: TABLE.slice(at, at + length) }, 0);
    draw();
  }
  const live = rows.live(transcript, frame).map(({ bytes }) => bytes);
  transcript.hear({ type: "text", role: "user", text: "go on" }, 0);
  draw();
  const table = ["name  │ words", "──────┼──────", "a.txt │ 1"];
  expect({ live, shown }).toEqual({ live: table, shown: [...table, "", "> go on"] });
});
