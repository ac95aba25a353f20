import headless from "@xterm/headless";
import { describe, expect, it } from "vitest";
import { measureGrapheme, measureWidth, splitGraphemes } from "./cell-width.ts";
import { createPieceEscaper } from "./joined-text.ts";

describe("the width of a text", () => {
  it("P42 is that of its characters, for each character of the first plane", () => {
    const segmenter = new Intl.Segmenter();
    const wrong: string[] = [];
    for (let code = 0x20; code < 0x10000; code += code > 0x4e00 && code < 0xd700 ? 97 : 1) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      // After a letter, the character may combine with that letter.
      const text = `a${character}`;
      const parts = Array.from(segmenter.segment(text), ({ segment }) => segment);
      const width = parts.reduce((sum, part) => sum + measureGrapheme(part), 0);
      if (measureWidth(text) !== width || splitGraphemes(text).join("|") !== parts.join("|"))
        wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  it("P42 takes no longer for each character of a long text, and splits none of them", () => {
    const flag = "\u{1f1ef}\u{1f1f5}";
    const family = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";
    const long = [flag, family, "e\u0301", "\u0645", "a"].flatMap((one) => Array<string>(20_000).fill(one));
    const began = performance.now();
    expect(splitGraphemes(long.join(""))).toEqual(long);
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it.each([
    "\u0928\u092e\u0938\u094d\u0924\u0947",
    "\u0915\u093e",
    "\u0e17\u0e35\u0e48",
    "\u0e01\u0e33",
    "\u1112\u1161\u11ab",
    "e\u0301",
    "\u304b\u3099",
    "\u0d28\u0d4d\u200d\u0d15",
    "\u0d9a\u0dca\u200d\u0dba\u0ddd",
    "\u0647\u200d",
  ])("P42 is what a terminal makes of letters and marks that are one cluster: %s", async (text) => {
    const terminal = new headless.Terminal({ cols: 80, rows: 2, allowProposedApi: true });
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    expect(measureWidth(text)).toBe(terminal.buffer.active.cursorX);
  });
});

it("P42 a million joiners before a letter are looked at once", () => {
  const joiners = "\u200d".repeat(1_000_000);
  expect(createPieceEscaper()(`${joiners}a`)).not.toContain("\u200d");
});
