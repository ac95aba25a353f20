import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { answer, running, ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom(
  { "src/tally.js": "export function tally(text) {\n  return text.split(/\\s+/).length;\n}\n" },
  { columns: 120, rows: 30 },
);

function editing(): FakeReply {
  const file_path = join(room.root, "src/tally.js");
  return {
    calls: [
      {
        name: "edit",
        args: { file_path, old_string: ".length;\n}", new_string: ".filter(Boolean).length;\n}\n\n// end" },
      },
    ],
  };
}

const REPORT = new RegExp(`${"\u001b"}\\][^${"\u0007"}]*${"\u0007"}`, "g");

/** Those of a title end with the same sign. */
function bellsIn(written: string): number {
  return written.replace(REPORT, "").split("\u0007").length - 1;
}

describe("settings of the look", () => {
  it("sideBySide has changes beside what was, in a window that is wide enough", async () => {
    await room.set({ ui: { sideBySide: true } });
    const terminal = await room.open([editing(), { text: "Done." }]);
    await terminal.enter("go\r", "Make this change?");
    await terminal.shows(
      /2 - {3}return text\.split\(\/\\s\+\/\)\.length; +│ 2 \+ {3}return .*filter\(Boolean\)\.length;/,
    );
    expect(terminal.text()).toMatch(/^ {50,}│ 5 \+ \/\/ end/m);
    terminal.resize(80, 30);
    await terminal.shows(/^ 2 \+ {3}return/m);
    await answer(terminal, "y", "Make this change?");
    await terminal.shows("Done.");
  });

  it("colors are the user's own, and what is none of them is said", async () => {
    await room.set({ ui: { colors: { added: "#102030", no: "red" } } });
    const args = ["--approval-mode", "yolo"];
    const terminal = await room.open([editing(), { text: "Done." }], {
      args,
      env: { NO_COLOR: "", FORCE_COLOR: "3" },
    });
    await terminal.shows("Unknown style or colour in the settings: ui.colors.no: red");
    await terminal.enter("go\r", "Done.");
    expect(terminal.written).toContain("\u001b[38;2;16;32;48m");
  });

  it("vim has the keys of vi at the prompt, and says in which of its modes they are", async () => {
    await room.set({ ui: { vim: true } });
    const terminal = await room.open([{ text: "Done." }]);
    await terminal.enter("one two three", "> one two three");
    await terminal.enter("\u001b", "NORMAL");
    await terminal.enter("bcwtwo", "> one two two");
    await terminal.enter("\r", "Done.");
    expect(terminal.all()).toContain("> one two two");
  });
});

describe("a question", () => {
  it("says after w why it is asked, part by part, and with another w no more", async () => {
    const terminal = await room.open([running("ls && touch made.txt"), { text: "Done." }]);
    await terminal.enter("go\r", "Run this command?");
    // There and back: then it is heard.
    await answer(terminal, "a", "y   yes");
    await terminal.enter("\u001b", "y   yes");
    await terminal.enter("w", /allow +ls/, /ask +touch made\.txt +\(/);
    expect(terminal.text().split("is not known to be").length).toBe(2);
    expect(terminal.text()).toContain("a   don't ask again for: touch …");
    expect(terminal.text().split("touch …")).toHaveLength(2);
    terminal.type("w");
    await terminal.until(() => !/allow +ls/.test(terminal.text()), "the question alone");
    await answer(terminal, "y", "Run this command?");
    await terminal.shows("Done.");
  });

  it("R31 says each reason once, also where a part of the command looks like one", async () => {
    const terminal = await room.open([running("ls && touch 'made  (x'"), { text: "Done." }]);
    await terminal.enter("go\r", "Run this command?");
    await answer(terminal, "a", "y   yes");
    await terminal.enter("\u001b", "y   yes");
    await terminal.enter("w", /allow +ls/);
    expect(terminal.text().split("is not known to be").length).toBe(2);
    await answer(terminal, "y", "Run this command?");
    await terminal.shows("Done.");
  });

  it("stands without counting as time at work", async () => {
    const terminal = await room.open([running("touch made.txt"), { text: "Done." }]);
    await terminal.enter("go\r", "Run this command?");
    const asked = performance.now();
    const time = (): number => Number(/ · (\d+) s {2}/.exec(terminal.text())?.[1] ?? 0);
    const before = time();
    // The question stands for longer than the clock needs to go on.
    await terminal.until(() => performance.now() - asked > 2500, "a while");
    expect(time()).toBeLessThanOrEqual(before + 1);
    await answer(terminal, "y", "Run this command?");
    await terminal.shows("Done.");
    expect(time()).toBeLessThanOrEqual(before + 2);
  });

  it.each([
    [
      "a desktop notice, where the terminal has one",
      { TERM_PROGRAM: "WezTerm" },
      "]9;Run this command?\u0007",
    ],
    [
      "a notice of kitty",
      { KITTY_WINDOW_ID: "1" },
      "]99;i=burin:d=0;Burin\u001b\\\u001b]99;i=burin:p=body;Run this command?\u001b\\",
    ],
    ["another kind of notice", { VTE_VERSION: "7600" }, "]777;notify;Burin;Run this command?\u0007"],
  ])("calls a user who looks elsewhere with %s", async (_how, env, notice) => {
    const terminal = await room.open([running("touch made.txt")], { env });
    terminal.type("\u001b[O");
    await terminal.enter("go\r", "Run this command?");
    await terminal.until(() => terminal.written.includes(notice), "the notice");
  });

  it("calls with the bell where no notice is known, and not at all when the user looks or does not want it", async () => {
    const terminal = await room.open([running("touch made.txt"), running("touch other.txt")]);
    const bells = (): number => bellsIn(terminal.written);
    terminal.type("\u001b[O");
    await terminal.enter("go\r", "Run this command?");
    expect(bells()).toBe(1);
    terminal.type("\u001b[I");
    await answer(terminal, "y", "\n   touch made.txt");
    await terminal.shows("\n   touch other.txt");
    expect(bells()).toBe(1);
    await room.set({ ui: { notify: "off" } });
    const quiet = await room.open([running("touch made.txt")]);
    await quiet.enter("go\r", "Run this command?");
    expect(bellsIn(quiet.written)).toBe(0);
  });
});

describe("ui.statusLine", () => {
  const confined = requirePrograms("bwrap");
  it(
    "P30 is a command that gets the facts as JSON, prints the last line, and is confined like the model's",
    confined,
    async () => {
      const line =
        'node -p \'const s = JSON.parse(fs.readFileSync(0)); "\\u001b[31mI am " + s.model + ", " + s.mode + "\\u001b[0m\\nmore"\'';
      await room.set({ ui: { statusLine: `${line}; touch ../beside-the-project` } });
      const terminal = await room.open([{ text: "Hello." }]);
      await terminal.shows(/^ {2}I am fake-model, default {2}\? for keys$/m);
      await terminal.enter("\u001b[Z", "I am fake-model, auto-edit");
      expect(terminal.text()).not.toContain("more");
      expect(existsSync(join(room.root, "../beside-the-project"))).toBe(false);
    },
  );

  it("P30 a command that fails is reported once, and the usual line is back", confined, async () => {
    await room.set({ ui: { statusLine: "echo no such thing >&2; exit 7" } });
    const terminal = await room.open([{ text: "Hello." }]);
    await terminal.shows("The command in ui.statusLine failed: exit code 7: no such thing");
    await terminal.enter("go\r", "Hello.", "fake-model · asks before changes");
    await terminal.enter("\u001b[Z", "edits without asking");
    expect(terminal.all().join("\n").split("ui.statusLine failed").length).toBe(2);
  });
});
