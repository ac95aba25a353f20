import { expect, it } from "vitest";
import { useTexts } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import { terminalWidths } from "../terminal/cell-width.ts";
import { drawPrompt } from "./prompt-view.ts";

it("P43 shows a text after a change in one of its lines as if it were laid out anew, caret included", () => {
  const text = "two words\n\n日本語のテキストが長く続きます\né👩‍👩‍👧 x\n\n".repeat(4);
  const buffer = new TextBuffer();
  buffer.set(text);
  drawPrompt(buffer, 20, 30);
  for (const at of [0, 3, 9, 10, 11, 14, 27, text.length]) {
    buffer.moveTo(at);
    for (const change of ["y", "本", "\n", "wider than the row that it is in "]) {
      buffer.insert(change);
      for (const width of [20, 9]) {
        const fresh = new TextBuffer();
        fresh.set(buffer.text);
        fresh.moveTo(buffer.caret);
        expect(drawPrompt(buffer, width, 30)).toEqual(drawPrompt(fresh, width, 30));
      }
    }
  }
  buffer.set("é\n日本 x");
  expect(drawPrompt(buffer, 20, 2).caret).toEqual({ row: 1, column: 8 });
});

it("P43 lays a text out anew when the terminal has told its widths, and in another language", async () => {
  const text = "🚀".repeat(20);
  const buffer = new TextBuffer();
  buffer.set(text);
  buffer.paste("a line\n".repeat(20));
  const rowsOf = () => drawPrompt(buffer, 20, 30).lines.map((line) => line.map((span) => span.text).join(""));
  const before = rowsOf();
  terminalWidths.emoji = 1;
  try {
    expect(rowsOf()[0]).toBe(`> ${"🚀".repeat(17)}`);
  } finally {
    terminalWidths.emoji = 2;
  }
  expect(rowsOf()).toEqual(before);
  await useTexts("fr");
  try {
    expect(rowsOf()).not.toEqual(before);
  } finally {
    await useTexts("en");
  }
});
