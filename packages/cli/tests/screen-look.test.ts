import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { answer, ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom(
  { "src/tally.js": "export function tally(text) {\n  return text.split(/\\s+/).length;\n}\n" },
  { columns: 120, rows: 30 },
);
const running = (command: string): FakeReply => ({
  calls: [{ name: "run_shell_command", args: { command } }],
});

async function set(ui: object): Promise<void> {
  await mkdir(join(room.root, ".home"), { recursive: true });
  await writeFile(join(room.root, ".home/settings.json"), JSON.stringify({ ui }));
}

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
    await set({ sideBySide: true });
    const terminal = await room.open([editing(), { text: "Done." }]);
    terminal.type("go\r");
    await terminal.shows("Make this change?");
    await terminal.shows(
      /2 - {3}return text\.split\(\/\\s\+\/\)\.length; +│ 2 \+ {3}return .*filter\(Boolean\)\.length;/,
    );
    expect(terminal.text()).toMatch(/│ {50,}│ 5 \+ \/\/ end/);
    terminal.resize(80, 30);
    await terminal.shows(/^│ 2 \+ {3}return/m);
    await answer(terminal, "y", "Make this change?");
    await terminal.shows("Done.");
  });

  it("colors are the user's own, and what is none of them is said", async () => {
    await set({ colors: { added: "#102030", no: "red" } });
    const args = ["--approval-mode", "yolo"];
    const terminal = await room.open([editing(), { text: "Done." }], {
      args,
      env: { NO_COLOR: "", FORCE_COLOR: "3" },
    });
    await terminal.shows("Not a style or a look: ui.colors.no: red");
    terminal.type("go\r");
    await terminal.shows("Done.");
    expect(terminal.written).toContain("\u001b[38;2;16;32;48m");
  });

  it("vim has the keys of vi at the prompt, and says in which of its modes they are", async () => {
    await set({ vim: true });
    const terminal = await room.open([{ text: "Done." }]);
    terminal.type("one two three");
    await terminal.shows("> one two three");
    terminal.type("\u001b");
    await terminal.shows("NORMAL");
    terminal.type("bcwtwo");
    await terminal.shows("> one two two");
    terminal.type("\r");
    await terminal.shows("Done.");
    expect(terminal.all()).toContain("> one two two");
  });
});

describe("a question", () => {
  it("says after w why it is asked, part by part, and with another w no more", async () => {
    const terminal = await room.open([running("ls && touch made.txt"), { text: "Done." }]);
    terminal.type("go\r");
    await terminal.shows("Run this command?");
    // There and back: then it is heard.
    await answer(terminal, "a", "y yes");
    terminal.type("\u001b");
    await terminal.shows("y yes");
    terminal.type("w");
    await terminal.shows(/allow +ls/);
    await terminal.shows(/ask +touch made\.txt +\(/);
    expect(terminal.text().split("is not known to be").length).toBe(2);
    await terminal.shows('"always" would allow: run_shell_command(touch made.txt)');
    terminal.type("w");
    await terminal.until(() => !/allow +ls/.test(terminal.text()), "the question alone");
    await answer(terminal, "y", "Run this command?");
    await terminal.shows("Done.");
  });

  it("stands without counting as time at work", async () => {
    const terminal = await room.open([running("touch made.txt"), { text: "Done." }]);
    terminal.type("go\r");
    await terminal.shows("Run this command?");
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
    terminal.type("go\r");
    await terminal.shows("Run this command?");
    await terminal.until(() => terminal.written.includes(notice), "the notice");
  });

  it("calls with the bell where no notice is known, and not at all when the user looks or does not want it", async () => {
    const terminal = await room.open([running("touch made.txt"), running("touch other.txt")]);
    const bells = (): number => bellsIn(terminal.written);
    terminal.type("\u001b[O");
    terminal.type("go\r");
    await terminal.shows("Run this command?");
    expect(bells()).toBe(1);
    terminal.type("\u001b[I");
    await answer(terminal, "y", "│ touch made.txt");
    await terminal.shows("│ touch other.txt");
    expect(bells()).toBe(1);
    await set({ notify: "off" });
    const quiet = await room.open([running("touch made.txt")]);
    quiet.type("go\r");
    await quiet.shows("Run this command?");
    expect(bellsIn(quiet.written)).toBe(0);
  });
});
