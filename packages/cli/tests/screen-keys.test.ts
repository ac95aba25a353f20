import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { KEY_LIST } from "../src/ui/key-list.ts";
import { running, ScreenRoom } from "./screen-room.ts";
import type { ScreenOptions, ScreenTerminal } from "./screen-terminal.ts";

const room = new ScreenRoom({ "a.txt": "alpha\n" }, { columns: 100, rows: 40 });

async function open(
  replies: readonly FakeReply[],
  options: Partial<ScreenOptions> = {},
): Promise<ScreenTerminal> {
  const [project, own] = [join(room.root, "bin"), createTemporaryFolder()];
  await mkdir(project, { recursive: true });
  await writeFile(join(project, "editor"), "#!/bin/sh\nexit 1\n", { mode: 0o700 });
  await writeFile(join(own, "editor"), '#!/bin/sh\nprintf "%s" " and more" >> "$1"\n', { mode: 0o700 });
  // Of the two the editor is the user's own.
  const PATH = [project, own, process.env.PATH].join(delimiter);
  return room.open(replies, { ...options, env: { EDITOR: "editor", HOME: createTemporaryFolder(), PATH } });
}

const ctrl = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) & 0x1f);
const ESC = "\u001b";
const ASK: Step = ["ask\r", /Answer\.[\s\S]*\? for keys/];
const SILENT: FakeReply = {
  raw: (_request, response) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
};

/** What is typed, and what the screen shows then. */
type Step = readonly [typed: string, shown: string | RegExp];
interface Proof {
  readonly steps: readonly Step[];
  readonly replies?: readonly FakeReply[];
  readonly options?: Partial<ScreenOptions>;
  /** What happens behind the first step. */
  readonly meanwhile?: (terminal: ScreenTerminal) => Promise<void>;
}

const WORKING: readonly FakeReply[] = [SILENT, SILENT];

/** For each row of the list of keys what its keys do, in the order in which they stand there. */
const PROOFS: Readonly<Record<string, Proof>> = {
  enter: { steps: [ASK] },
  "alt+enter, shift+enter, ctrl+j, \\\u00a0enter": {
    steps: [
      ["a", "> a"],
      [`${ESC}\r`, /> a\n +\n/],
      [`b${ESC}[13;2u`, /> a\n {2}b\n +\n/],
      [`c${ctrl("j")}`, / {2}b\n {2}c\n +\n/],
      ["d\\", "d\\"],
      ["\r", / {2}c\n {2}d\n +\n/],
      ["e", /> a\n {2}b\n {2}c\n {2}d\n {2}e\n/],
    ],
  },
  tab: {
    steps: [
      ["see @a.t", "› a.txt"],
      ["\t", "> see @a.txt"],
    ],
  },
  esc: {
    replies: WORKING,
    steps: [
      ["go\r", "esc to interrupt"],
      [ESC, "Stopped."],
    ],
  },
  "esc esc": {
    steps: [ASK, [ESC, "Press esc again to go back"], [ESC, "Go back to which prompt?"]],
  },
  "ctrl+c": {
    steps: [
      ["words", "> words"],
      [ctrl("c"), /> Ask anything[\s\S]*Press ctrl\+c again to quit/],
    ],
  },
  "ctrl+d": { steps: [ASK, [ctrl("d"), "To continue this session"]] },
  "ctrl+z": {
    options: { isInShell: true },
    steps: [
      ["words", "> words"],
      [ctrl("z"), /Stopped/],
      ["fg\r", /fg[\s\S]*> words/],
    ],
  },
  "shift+tab": { steps: [[`${ESC}[Z`, "fake-model · edits without asking"]] },
  "ctrl+o": { steps: [[ctrl("o"), "Results of the last calls"]] },
  "ctrl+t": { steps: [[ctrl("t"), "What the model thought"]] },
  "ctrl+g": {
    steps: [
      ["begun", "> begun"],
      [ctrl("g"), "> begun and more"],
    ],
  },
  "ctrl+b": {
    replies: [running("echo begun; sleep 60"), { text: "It goes on." }],
    options: { args: ["--approval-mode", "yolo"] },
    steps: [
      ["go\r", /^ +begun$/m],
      [ctrl("b"), /(?=[\s\S]*goes on in the background: )[\s\S]*^It goes on\.$/m],
    ],
  },
  "ctrl+r": { steps: [ASK, [ctrl("r"), /Earlier prompts[\s\S]*› ask/]] },
  "up, down": {
    steps: [ASK, ["new", "> new"], [`${ESC}[A`, /> ask\n.*fake-model/], [`${ESC}[B`, /> new\n/]],
  },
  "alt+up": {
    replies: WORKING,
    steps: [
      ["go\r", "esc to interrupt"],
      ["more words\r", "with the next turn: more words"],
      [`${ESC}[1;3A`, /> more words\n/],
    ],
  },
  "ctrl+l": {
    steps: [
      ["words", "> words"],
      ["", "of another program"],
      [ctrl("l"), /> words\n +fake-model/],
      ["", /^(?![\s\S]*of another program)/],
    ],
    meanwhile: (terminal) => writeFile(`/proc/${terminal.pid}/fd/1`, " of another program"),
  },
  "ctrl+a, ctrl+e": {
    steps: [
      ["bc", "> bc"],
      [`${ctrl("a")}a`, "> abc"],
      [`${ctrl("e")}d`, "> abcd"],
    ],
  },
  "alt+b, alt+f": {
    steps: [
      ["one two", "> one two"],
      [`${ESC}bX`, "> one Xtwo"],
      [`${ESC}fY`, "> one XtwoY"],
    ],
  },
  "ctrl+k, ctrl+u, ctrl+w, alt+d": {
    steps: [
      ["one two three", "> one two three"],
      [`${ESC}b${ctrl("k")}`, /> one two\s*\n/],
      [`${ctrl("a")}${ESC}d`, /> {2}two\s*\n/],
      [`${ctrl("e")}${ctrl("w")}X`, /> {2}X\n/],
      [`${ctrl("u")}Y`, /> Y\n/],
    ],
  },
  "ctrl+y, alt+y": {
    steps: [
      [`one${ctrl("u")}two${ctrl("u")}`, "> Ask anything"],
      [ctrl("y"), /> two\n/],
      [`${ESC}y`, /> one\n/],
    ],
  },
  "ctrl+_, alt+_": {
    steps: [
      [`one${ctrl("u")}`, "> Ask anything"],
      [ctrl("_"), /> one\n/],
      [`${ESC}_`, "> Ask anything"],
    ],
  },
  "ctrl+p": { steps: [["\u0010", "What do you want to do?"]] },
  "ctrl+s": {
    steps: [
      ["\u0013", "Changes side by side"],
      ["\u0013", "Changes one below the other"],
    ],
  },
  "ctrl+v": { steps: [["\u0016", "No image in the clipboard"]] },
  "@": { steps: [["@a", "› a.txt"]] },
  "/": { steps: [["/hel", "› /help  every command and every key"]] },
  "!, !!": {
    steps: [
      ["!echo own-$((1+1))\r", "own-2"],
      ["!!echo for-$((2+2))\r", "for-4"],
      ["ask\r", "Answer."],
    ],
  },
  "#": { steps: [["#we use tabs\r", /# we use tabs\n/]] },
};

const NAMED: Readonly<Record<string, string>> = {
  enter: "\r",
  tab: "\t",
  esc: ESC,
  "esc esc": ESC + ESC,
  "alt+enter": `${ESC}\r`,
  "shift+enter": `${ESC}[13;2u`,
  "\\\u00a0enter": "\\\r",
  "shift+tab": `${ESC}[Z`,
  up: `${ESC}[A`,
  down: `${ESC}[B`,
  "alt+up": `${ESC}[1;3A`,
};

/** What a terminal sends for a key of the list. */
function sent(key: string): string {
  const [, modifier, letter = ""] = /^(ctrl|alt)\+(.)$/.exec(key) ?? [];
  if (modifier === undefined) return NAMED[key] ?? key;
  return modifier === "ctrl" ? ctrl(letter) : ESC + letter;
}

describe("a key", () => {
  it("has a proof each, in which it is typed", () => {
    expect(Object.keys(PROOFS).sort()).toEqual(KEY_LIST.map(([keys]) => keys).sort());
    for (const [keys, { steps }] of Object.entries(PROOFS)) {
      const typed = steps.map(([text]) => text).join("");
      for (const key of keys.split(", ")) expect(typed, key).toContain(sent(key));
    }
  });

  it.each(Object.entries(PROOFS))("%s does what the list of keys says", async (_keys, proof) => {
    const { steps, replies = [{ text: "Answer." }], options, meanwhile } = proof;
    const terminal = await open(replies, options);
    for (const [index, [typed, shown]] of steps.entries()) {
      await terminal.enter(typed, shown);
      if (index === 0) await meanwhile?.(terminal);
    }
  });

  it("P21 e has the proposed content edited in the user's editor, not in one of the project, and that is what is written", async () => {
    const args = { file_path: join(room.root, "new.txt"), content: "begun" };
    const terminal = await open([{ calls: [{ name: "write_file", args }] }, { text: "Written." }]);
    await terminal.enter("write\r", "e   edit it first");
    await terminal.until(() => {
      if (terminal.text().includes("e   edit it first")) terminal.type("e");
      return terminal.text().includes("Written.");
    }, "the answer");
    expect(await readFile(join(room.root, "new.txt"), "utf8")).toContain("begun and more");
  });

  it("P11 ctrl+c ends a command of the user's own, and keeps what is being written", async () => {
    const terminal = await open([]);
    await terminal.enter("!sleep 60\r", "! sleep 60", "◐");
    await terminal.enter(`a draft${ctrl("c")}`, "Press ctrl+c again to quit", /Cancelled|not completed/);
    expect(terminal.text()).toContain("> a draft");
  });

  it("P11 ctrl+c in the user's editor ends that editor alone, and the prompt is as it was", async () => {
    // A shell would lose a signal that comes while it starts a program.
    const editor = `${process.execPath} -e "console.log('begun'); setTimeout(() => {}, 60000)"`;
    const terminal = await room.open([], { env: { EDITOR: editor } });
    await terminal.enter(`a draft${ctrl("g")}`, "begun");
    await terminal.enter(ctrl("c"), " failed: exit ", "> a draft", "? for keys");
    expect(terminal.exitCode).toBe(null);
  });

  it("ctrl+z in the user's editor stops both, and after fg the keys are the editor's again", async () => {
    const editor = join(createTemporaryFolder(), "stopping");
    const lines = ["#!/bin/sh", "echo begun", "kill -TSTP 0", "echo again; read line"];
    await writeFile(editor, [...lines, 'printf "%s" " $line" >> "$1"'].join("\n"), { mode: 0o700 });
    const terminal = await room.open([], { isInShell: true, env: { EDITOR: editor } });
    await terminal.enter(`a draft${ctrl("g")}`, "begun", "Stopped");
    await terminal.enter("fg\r", "again");
    await terminal.enter("as typed\r", "> a draft as typed");
  });

  it("an editor that cannot be given a file leaves the prompt as it is, and says why", async () => {
    const terminal = await room.open([], { env: { EDITOR: "true", TMPDIR: "/dev/null" } });
    await terminal.enter(`a draft${ctrl("g")}`, "true failed: ", "> a draft");
  });
});
