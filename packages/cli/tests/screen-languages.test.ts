import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";

const ANSWER = "Done.\n\n| name | words |\n| --- | --- |\n| a.txt | 1 |\n\n---\n\n> quoted\n";

const room = new ScreenRoom({ "a.txt": "alpha\n" });
const CALL = { name: "run_shell_command", args: { command: "touch made.txt" } };
const REPLIES: readonly FakeReply[] = [{ text: "見ました。", calls: [CALL] }, { text: ANSWER }];

describe("for a screen reader", () => {
  it("nothing is framed or drawn over, and what happens is said in words", async () => {
    await room.set({ ui: { screenReader: true } });
    const terminal = await room.open(REPLIES);
    await terminal.shows("> Ask anything");
    await terminal.until(() => !terminal.text().includes("? for keys"), "its own look");
    await terminal.enter("go\r", "Run this command?");
    await terminal.until(() => {
      if (terminal.text().includes("Run this command?")) terminal.type("y");
      return terminal.all().includes("The work is done.");
    }, "the end");
    const said = terminal.all().filter((line) => line !== "");
    expect(said).toEqual([
      `Burin works in ${room.root}`,
      "fake-model · asks before changes",
      "Working.",
      "> go",
      "見ました。",
      expect.stringMatching(/^done: Run touch made\.txt/),
      "Done.",
      "• name: a.txt",
      "  words: 1",
      "---",
      "> quoted",
      "1 file changed        /undo takes it back · /changes shows it",
      "The work is done.",
      expect.stringMatching(/^> /),
    ]);
    for (const sign of ["┌", "│", "└", "─", "●", "✓"]) expect(terminal.written).not.toContain(sign);
  });

  it("the caret stands behind what was typed in a list", async () => {
    await room.set({ ui: { screenReader: true } });
    const terminal = await room.open();
    await terminal.enter("\u0012xyz", "> xyz");
    await terminal.settled();
    expect(terminal.caretFollows("z")).toBe(true);
  });

  it("the approval mode that counts after a plan was approved is said as one", async () => {
    await room.set({ ui: { screenReader: true } });
    const plan = { name: "exit_plan_mode", args: { plan: "1. look" } };
    const terminal = await room.open([{ calls: [plan] }, { text: "I begin." }], {
      args: ["--approval-mode", "plan"],
    });
    await terminal.enter("go\r", "Carry out this plan?");
    await terminal.until(() => {
      if (terminal.text().includes("Carry out this plan?")) terminal.type("a");
      return terminal.all().includes("The work is done.");
    }, "the end");
    expect(terminal.all()).toContain("Approval mode: default");
  });
});

describe("the language of the screen", () => {
  it.each([
    ["zh_CN.UTF-8", "要运行这条命令吗？"],
    ["ja_JP.UTF-8", "このコマンドを実行しますか？"],
    ["fr_CA.UTF-8", "Exécuter cette commande\u00a0?"],
    ["ru_RU.UTF-8", "Выполнить эту команду?"],
  ])("is that of the locale %s", async (LANG, question) => {
    const terminal = await room.open(REPLIES, { env: { LANG } });
    await terminal.enter("go\r", question);
  });

  it("is chosen with /language, and stays chosen, in Japanese of three widths", async () => {
    const terminal = await room.open(REPLIES);
    await terminal.enter("/language ja\r", "? でキー一覧");
    await terminal.until(() => terminal.text().includes("質問や依頼を入力"), "a Japanese prompt");
    await terminal.enter("go\r", "このコマンドを実行しますか？");
    for (const columns of [80, 50, 34]) {
      terminal.resize(columns, 24);
      await terminal.until(() => terminal.rows().every((row) => row.length <= columns), "the width");
      await terminal.shows("touch made.txt");
    }
    const settings = await readFile(join(room.root, ".home/settings.json"), "utf8");
    expect(JSON.parse(settings)).toEqual({ ui: { language: "ja" } });
  });

  it("is what the settings say, before the locale", async () => {
    await room.set({ ui: { language: "fr" } });
    const terminal = await room.open(REPLIES, { env: { LANG: "ru_RU.UTF-8" } });
    await terminal.shows("? pour les touches");
  });
});
