import { afterEach, describe, expect, it } from "vitest";
import { en, type TextKey } from "./en.ts";
import { LANGUAGES, say, useTexts } from "./say.ts";

afterEach(() => useTexts("en"));

describe("a text with a count", () => {
  it.each([
    ["en", "call.lines", ["1 line", "2 lines", "11 lines", "21 lines", "12+ lines"]],
    ["fr", "diff.folded", ["1 ligne inchangée", "2 lignes inchangées"]],
    ["ru", "call.lines", ["1 строка", "2 строки", "11 строк", "21 строка", "12+ строк"]],
    ["ru", "receipt.changed", ["изменён 1 файл", "изменено 2 файла", "изменено 11 файлов"]],
    ["zh", "call.lines", ["1 行", "2 行"]],
    ["ja", "call.lines", ["1 行", "2 行"]],
  ] as const)("P30 has the form that the count needs: %s %s", async (language, key, wanted) => {
    await useTexts(language);
    expect(wanted.map((text) => say(key, { count: /[\d+]+/.exec(text)?.[0] ?? "" }))).toEqual(wanted);
  });

  it("P30 leaves no mark of a form, in any language", async () => {
    for (const language of Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]) {
      await useTexts(language);
      const texts = (Object.keys(en) as TextKey[]).map((key) => say(key, { count: 1 }));
      expect(texts.filter((text) => text.includes("|)"))).toEqual([]);
    }
  });
});
