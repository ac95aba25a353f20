import { afterEach, describe, expect, it } from "vitest";
import { listScreenChoices, SCREEN_COMMANDS } from "../src/commands/screen-commands.ts";
import { LANGUAGES, say, useTexts } from "../src/locales/say.ts";
import { measureWidth } from "../src/terminal/cell-width.ts";
import { joinSpans, measureLine } from "../src/terminal/styled-line.ts";
import { ChoiceList } from "../src/ui/choice-list.ts";
import { drawStatusLine } from "../src/ui/status-line.ts";

const EACH = Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[];
const MODES = ["plan", "default", "auto-edit", "auto", "yolo"] as const;
const ANSWERS = [
  ...["yes", "no", "stop", "why", "hunks", "editor", "yesNetwork", "yesOffline"],
  ...["planEdits", "planAsk", "planStay", "keep", "remove"],
] as const;

afterEach(() => useTexts("en"));

describe("a window of 80 columns", () => {
  it.each(EACH)("P30 has room for every command and what it does: %s", async (language) => {
    await useTexts(language);
    const rows = new ChoiceList(listScreenChoices()).drawLines(80, SCREEN_COMMANDS.length);
    expect(rows.map(joinSpans).filter((row) => row.endsWith("…"))).toEqual([]);
  });

  it.each(EACH)("P30 has room for the mode in words, and the keys beside it: %s", async (language) => {
    await useTexts(language);
    for (const mode of MODES) {
      const line = drawStatusLine(
        { model: "claude-sonnet-6", mode, filled: 0.5, isWorking: true },
        false,
        80,
      );
      expect(joinSpans(line)).toContain(say(`mode.short.${mode}`));
      expect(joinSpans(line)).toContain(say("status.working"));
      expect(measureLine(line)).toBeLessThan(80);
    }
  });

  it.each(EACH)("P30 has room for every answer to a question: %s", async (language) => {
    await useTexts(language);
    const long = ANSWERS.filter((name) => measureWidth(say(`question.${name}`)) > 70);
    expect(long).toEqual([]);
  });
});
