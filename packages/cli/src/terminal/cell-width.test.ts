import { describe, expect, it } from "vitest";
import { graphemesOf, graphemeWidth, widthOf } from "./cell-width.ts";

describe("the width of a text", () => {
  it("P42 is that of its characters, for each character of the first plane", () => {
    const segmenter = new Intl.Segmenter();
    const wrong: string[] = [];
    for (let code = 0x20; code < 0x10000; code += code > 0x4e00 && code < 0xd700 ? 97 : 1) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      // Behind a letter it may belong to that letter.
      const text = `a${character}`;
      const parts = Array.from(segmenter.segment(text), ({ segment }) => segment);
      const width = parts.reduce((sum, part) => sum + graphemeWidth(part), 0);
      if (widthOf(text) !== width || graphemesOf(text).join("|") !== parts.join("|"))
        wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });
});
