import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, describe, expect, it } from "vitest";
import type { TextKey } from "../src/locales/en.ts";
import { LANGUAGES, say, useTexts } from "../src/locales/say.ts";
import { BURIN } from "./burin.ts";
import { newFolder, removeFolder } from "./screen-terminal.ts";

const [COLUMNS, ROWS] = [80, 40];
const MAX_WAIT_MS = 60_000;
/** Longer than a question that has just come up takes no keys, and a key that was not taken is typed again. */
const AGAIN_MS = 1200;

/** Burin in a real terminal multiplexer, as a user has it. */
class Tmux {
  readonly #socket: string;

  constructor(folder: string, environment: Readonly<Record<string, string>>) {
    this.#socket = join(folder, "tmux");
    const set = Object.entries({ PATH: process.env.PATH ?? "", TERM: "tmux-256color", ...environment });
    const words = ["env", "-i", ...set.map(([name, value]) => `${name}=${value}`), process.execPath, BURIN];
    this.#run(
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      "-x",
      `${COLUMNS}`,
      "-y",
      `${ROWS}`,
      "-c",
      join(folder, "tally"),
      ...words,
    );
  }

  type(...keys: readonly string[]): void {
    for (const key of keys)
      if (/^(?:Enter|Escape|Up|Down|C-.)$/.test(key)) this.#run("send-keys", key);
      else this.#run("send-keys", "-l", key);
  }

  /** All that is in the window, with what has scrolled out of it. */
  all(): string {
    return this.#run("capture-pane", "-p", "-J", "-S", "-2000");
  }

  window(): string {
    return this.#run("capture-pane", "-p");
  }

  async shows(...wanted: readonly (string | RegExp)[]): Promise<void> {
    const has = (text: string, one: string | RegExp) =>
      typeof one === "string" ? squeeze(text).includes(squeeze(one)) : one.test(text);
    await this.until(() => wanted.every((one) => has(this.window(), one)), wanted.join(" and "));
  }

  /** Presses a key until a question is gone. */
  async answer(key: string, question: string): Promise<void> {
    await this.shows(question);
    let next = performance.now() + AGAIN_MS / 3;
    await this.until(() => {
      const isThere = squeeze(this.window()).includes(squeeze(question));
      if (isThere && performance.now() > next) {
        this.type(key);
        next = performance.now() + AGAIN_MS;
      }
      return !isThere;
    }, `the end of ${question}`);
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    const end = performance.now() + MAX_WAIT_MS;
    while (!holds()) {
      if (performance.now() > end) throw new Error(`The window did not come to ${what}:\n${this.window()}`);
      await pause(60);
    }
  }

  /** Whether the program has ended, and its window with it. */
  get hasEnded(): boolean {
    try {
      this.window();
      return false;
    } catch {
      return true;
    }
  }

  close(): void {
    if (!this.hasEnded) this.#run("kill-server");
  }

  #run(...words: readonly string[]): string {
    return execFileSync("tmux", ["-u", "-S", this.#socket, ...words], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      env: { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", HOME: "/", TERM: "xterm-256color" },
    });
  }
}

/** The text without white space: a wrapped text counts as whole. */
function squeeze(text: string): string {
  return text.replace(/\s+/g, "");
}

/** The beginning of a text, up to its first value. */
function begin(key: TextKey): string {
  const mark = "\u0000";
  return (
    say(key, new Proxy({}, { get: () => mark }))
      .split(mark)[0]
      ?.trim() ?? ""
  );
}

let folder = "";
let tmux: Tmux | undefined;

afterEach(async () => {
  await useTexts("en");
  tmux?.close();
  tmux = undefined;
  await removeFolder(folder);
});

const command = (line: string): FakeReply => ({
  calls: [{ name: "run_shell_command", args: { command: line } }],
});

describe("the first session", () => {
  it.each(Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[])(
    "P22 P54 leads a user from the demo to an own model, a change, its receipt and back, in %s",
    requirePrograms("tmux"),
    async (language) => {
      await useTexts(language);
      folder = await newFolder({
        "tally/package.json": '{ "name": "tally", "scripts": { "test": "node test.js" } }\n',
        "tally/test.js": 'console.log("ok");\n',
        "tally/tally.js": "export const total = (a, b) => a - b;\n",
      });
      const root = join(folder, "tally");
      const file = join(root, "tally.js");
      const change = { file_path: file, old_string: "a - b", new_string: "a + b" };
      const server = await startFakeModelServer([
        { text: "ok" },
        { calls: [{ name: "edit", args: change }] },
        command("node test.js > out.txt"),
        { text: "It adds now." },
      ]);
      try {
        tmux = new Tmux(folder, {
          HOME: folder,
          BURIN_HOME: join(folder, ".burin"),
          LANG: `${language}_XX.UTF-8`,
        });
        // The first start leads to the demo, which does what the user says.
        await tmux.shows(say("first.title"), begin("first.welcome"), say("first.demoLabel"));
        tmux.type(say("first.demoLabel"));
        await tmux.shows(new RegExp(`› ${say("first.demoLabel")}`));
        tmux.type("Enter");
        await tmux.answer("n", say("question.no"));
        await tmux.shows(say("question.reason"));
        tmux.type("why filter?", "Enter");
        await tmux.shows(say("demo.said", { words: "why filter?" }));
        await tmux.answer("y", say("question.edit"));
        await tmux.answer("y", say("question.exec"));
        await tmux.shows(begin("demo.passes"), begin("demo.turn"));
        // A model of the user's own, by its address and with a key.
        tmux.type("/model", "Enter");
        await tmux.shows(say("first.title"));
        tmux.type(say("first.otherLabel"));
        await tmux.shows(new RegExp(`› ${say("first.otherLabel")}`));
        tmux.type("Enter");
        await tmux.shows(say("first.url"));
        tmux.type(server.baseUrl, "Enter");
        await tmux.shows(say("first.keyMaybe"));
        tmux.type("secret-key", "Enter");
        await tmux.shows("› fake-model");
        tmux.type("Enter");
        await tmux.shows(say("keys.keepTitle"));
        tmux.type("Enter");
        await tmux.shows(say("first.mode"));
        tmux.type("Enter");
        await tmux.shows(say("prompt.placeholder"), `fake-model · ${say("mode.short.default")}`);
        expect(tmux.all()).not.toContain("secret-key");
        // The first task: a change, a command, and what is known of them at the end.
        tmux.type("add them up", "Enter");
        await tmux.shows(say("question.edit"), "tally.js", "+1 -1", say("reach.undo"));
        await tmux.answer("y", say("question.edit"));
        await tmux.shows(say("question.exec"), begin("sandbox.facts"), "node test.js > out.txt");
        await tmux.answer("y", say("question.exec"));
        await tmux.shows("It adds now.", say("receipt.keys"), say("prompt.placeholder"));
        expect(await readFile(file, "utf8")).toContain("a + b");
        tmux.type("/undo 2", "Enter");
        await tmux.shows(say("undo.done", { file: "tally.js" }));
        expect(await readFile(file, "utf8")).toContain("a - b");
        // What can be looked up, and the way out.
        tmux.type("?");
        await tmux.shows(say("key.mode"));
        tmux.type("Escape");
        await tmux.shows(say("prompt.placeholder"));
        tmux.type("/help", "Enter");
        await tmux.shows(say("help.title"), say("command.approval"));
        tmux.type("Escape");
        await tmux.shows(say("prompt.placeholder"));
        tmux.type("/quit", "Enter");
        await tmux.until(() => tmux?.hasEnded === true, "its end");
        expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer secret-key");
        expect(server.unusedReplies()).toEqual([]);
      } finally {
        await server.close();
      }
    },
  );
});
