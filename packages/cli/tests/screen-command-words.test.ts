import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SCREEN_COMMANDS } from "../src/commands/screen-commands.ts";
import { KEY_LIST } from "../src/ui/key-list.ts";
import { ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({ "a.txt": "alpha\nbeta\n" }, { columns: 100, rows: 40 });

type Step = readonly [typed: string | (() => Promise<string>), shown: string | RegExp];

/** For each command that takes words: what right ones lead to, and wrong ones where there are any. */
const WORDS: Readonly<Record<string, { right: readonly Step[]; wrong?: Step }>> = {
  "add-dir": {
    right: [["/directory", "Name the folder: /add-dir ../other"]],
    wrong: ["/add-dir no/such", "does not exist or is not a folder"],
  },
  approval: {
    right: [
      ["/approval plan", "fake-model · plans first, changes nothing"],
      ["/ask what is made here?", /> what is made here\?\s+Made\./],
    ],
    wrong: ["/approval nope", "nope is not one of: plan, default, auto-edit, auto, yolo"],
  },
  compact: { right: [["/compact what a.txt has", /not shorter|nothing to compact|tokens/i]] },
  effort: {
    right: [
      ["/effort high", "Effort: high, in this session"],
      ["/effort 2000", "Effort: 2000"],
    ],
    wrong: ["/effort ?!", "?! is not one of: off, low, medium, high"],
  },
  export: {
    right: [["/export talk.html", /Written: .*talk\.html/]],
    wrong: [
      "/export no/such/folder.md",
      /folder\.md was not written: no such file or directory \(ENOENT\)$/m,
    ],
  },
  language: {
    right: [["/language fr", "? pour les touches"]],
    wrong: ["/language xx", "xx is not one of: en, zh, ja, fr, ru"],
  },
  merge: { right: [["/merge nothing", "There is no work tree; burin -w makes one."]] },
  model: {
    right: [
      ["/model other-model", "other-model · asks before changes"],
      ["", "The service does not list other-model"],
    ],
    wrong: ["/model fake-modle", "The service does not list fake-modle; did you mean fake-model?"],
  },
  permissions: {
    right: [["/permissions", "nothing is granted"]],
    wrong: ["/permissions revoke 9", /9/],
  },
  rename: { right: [["/rename the big one", "This session is now called: the big one"]] },
  resume: {
    right: [
      ["/clear", /^\s*> Ask anything/],
      [async () => `/resume ${await firstSession()}`, "Answer."],
    ],
    wrong: ["/resume nosuch", 'There is no session "nosuch"'],
  },
  review: {
    right: [
      ["/review only a.txt", "Made."],
      ["", /^> \/review only a\.txt$/m],
    ],
  },
  theme: {
    right: [
      ["/theme light", /^\/theme light$/m],
      ["/theme ", "› light"],
    ],
    wrong: ["/theme nope", "nope is not one of: auto, dark"],
  },
  undo: {
    right: [["/undo 2", "There is nothing to undo."]],
    wrong: ["/undo x", "/undo takes a number, not x"],
  },
};

async function firstSession(): Promise<string> {
  const files = await readdir(join(room.root, ".home/sessions"), { recursive: true });
  return files.flatMap((file) => /([^/]+)\.jsonl$/.exec(file)?.[1] ?? []).sort()[0] ?? "";
}

describe("a command", () => {
  it("that takes words has a proof each", () => {
    const withWords = SCREEN_COMMANDS.filter(({ words }) => words !== undefined);
    expect(withWords.map(({ name }) => name)).toEqual(Object.keys(WORDS));
  });

  it.each(Object.entries(WORDS))(
    "/%s takes words, and says which are wrong",
    async (_name, { right, wrong }) => {
      const terminal = await room.open([{ text: "Answer." }, { text: "Made." }]);
      await terminal.enter("ask\r", "Answer.", "? for keys");
      for (const [typed, shown] of wrong === undefined ? right : [wrong, ...right]) {
        const text = typeof typed === "string" ? typed : await typed();
        if (text !== "") terminal.type(`${text}\r`);
        await terminal.shows(shown);
      }
    },
  );

  it("stays what was chosen for this run where the settings cannot be written, which is said", async () => {
    const env = { BURIN_HOME: join(room.root, "a.txt/home") };
    const terminal = await room.open([], { env });
    await terminal.enter("/language fr\r", /settings\.json n’a pas été écrit/, "? pour les touches");
  });

  it("is one of many, and the list says where in it the user is", async () => {
    const terminal = await room.open();
    const all = SCREEN_COMMANDS.length;
    await terminal.enter("/", `1/${all}`);
    expect(terminal.text().match(/^(?:›| ) \/\w+/gm)).toHaveLength(13);
    await terminal.enter("\u001b[A", /› \/undo/, `${all}/${all}`);
    terminal.type("und");
    await terminal.until(() => !terminal.text().includes(`/${all}`), "a list that fits");
  });

  it("/keys has a row for nearly every key in 80 columns", async () => {
    const terminal = await room.open([], { columns: 80, rows: 60 });
    await terminal.enter("/keys \r", "remember a fact", "ctrl+_, alt+_");
    const rows = terminal.rows();
    expect(rows).toContainEqual(expect.stringMatching(/^ ctrl\+k, ctrl\+u, ctrl\+w,.* cut to the end/));
    const from = rows.findIndex((row) => row.startsWith(" @ "));
    const end = rows.findIndex((row) => row.includes("ctrl+_, alt+_"));
    expect(end - from).toBeLessThan(KEY_LIST.length + 10);
  });
});
