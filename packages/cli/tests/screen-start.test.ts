import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { startFakeModelServer } from "@burin/core/testing";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { BURIN } from "./burin.ts";
import { answer, running, ScreenRoom } from "./screen-room.ts";
import type { ScreenTerminal } from "./screen-terminal.ts";

const room = new ScreenRoom({ "a.txt": "alpha\n" });

/** How the terminal is set, as `stty` sees it from outside. */
function modeOf(terminal: ScreenTerminal): string {
  const name = execFileSync("readlink", [`/proc/${terminal.pid}/fd/0`], { encoding: "utf8" }).trim();
  return execFileSync("stty", ["-F", name, "-a"], { encoding: "utf8" });
}

/** Chooses another service than those that are listed, up to the question for its key. */
async function nameAddress(terminal: ScreenTerminal, address: string): Promise<void> {
  await terminal.shows("Which model service?");
  await terminal.enter("another\r", "Where is the service?");
  await terminal.enter(`${address}\r`, "press enter if it needs none");
}

const MODE = new RegExp(`${"\u001b"}\\[\\?(\\d+)([hl])`, "g");

/** The caret, and rows that are wrapped. */
const ON = new Set(["7", "25"]);

/** Switched on and not off again. */
function leftOn(written: string): string[] {
  const modes = [...written.matchAll(MODE)];
  const state = new Map(modes.map(([, mode = "", letter]) => [mode, letter === "h"]));
  const pushed = written.split("\u001b[>5u").length - written.split("\u001b[<u").length;
  const left = [...state].filter(([mode, isOn]) => isOn !== ON.has(mode)).map(([mode]) => mode);
  const titles = written.split("\u001b[22;2t").length - written.split("\u001b[23;2t").length;
  return [...left, ...(pushed === 0 ? [] : ["keyboard"]), ...(titles === 0 ? [] : ["title"])];
}

/** Longer than any clock of the screen. */
const QUIET_MS = 2500;

/** How often the program went to sleep, which it does once for each time that something wakes it. */
function sleepsOf({ pid }: ScreenTerminal): number {
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

describe("the first start", () => {
  it("leads to a model that answers, and writes it into the settings with comments kept", async () => {
    await room.serve([{ text: "ok" }, { text: "Hello." }]);
    await room.set('{\n  // mine\n  "loop": {}\n}\n');
    const terminal = room.begin({ columns: 100 });
    await nameAddress(terminal, room.server.baseUrl);
    await terminal.enter("secret-key", "••••••••••");
    await terminal.enter("\r", "fake-model");
    await terminal.enter("\r", "The key works. Keep it for the next starts?");
    await terminal.enter(
      "only\r",
      "What may run without asking?",
      "what stays in the project and can be undone",
    );
    await terminal.enter("undone", "› auto");
    await terminal.enter("\r", "fake-model · asks before what can't be undone");
    expect(terminal.all().join("\n")).not.toContain("secret-key");
    const settings = await readFile(join(room.root, ".home/settings.json"), "utf8");
    expect(settings).toContain("// mine");
    expect(settings).toContain('"name": "fake-model"');
    expect(settings).toContain('"approvalMode": "auto"');
    expect(settings).not.toContain("secret-key");
    await terminal.enter("hello\r", "Hello.");
    expect(room.server.requests.at(-1)?.headers.authorization).toBe("Bearer secret-key");
  });

  it("says why a service cannot be had, and asks again", async () => {
    const terminal = room.begin({ columns: 100 });
    await nameAddress(terminal, "http://127.0.0.1:1/v1");
    await terminal.enter("\r", "http://127.0.0.1:1/v1 cannot be reached:", "Which model service?");
    await nameAddress(terminal, "localhost:1");
    await terminal.enter("\r", "http://localhost:1 cannot be reached:", "Which model service?");
    await terminal.enter("\u001b", "No model is set.");
    await terminal.enter("keep this\r", "Which model service?");
    await terminal.enter("\u001b", "> keep this");
    expect(terminal.all().join("\n").split("Welcome to Burin").length).toBe(2);
    terminal.type("\u0015/quit\r");
    expect(await terminal.ended()).toBe(0);
  });

  it("takes an address without its /v1, where the service lists its models only there", async () => {
    await room.serve([{ text: "Yes." }]);
    const terminal = room.begin({ columns: 100 });
    await nameAddress(terminal, room.server.baseUrl.replace("http://", "").replace("/v1", ""));
    await terminal.enter("\r", "› fake-model");
    await terminal.enter("\r", "It works.");
    const written = await readFile(join(room.root, ".home/settings.json"), "utf8");
    expect(written).toContain(`"baseUrl": "${room.server.baseUrl}"`);
  });

  it("P13 ends and says why, where nothing can be kept and the folder above is said to be missing", async () => {
    const terminal = await room.open([{ text: "Hello." }], { env: { BURIN_HOME: "/proc/none/burin" } });
    await terminal.enter("hi\r", "The log of this session cannot be written");
    terminal.type("/quit\r");
    expect(await terminal.ended()).toBe(0);
  });

  it("asks again for a key that the service refuses", async () => {
    const models = createServer(({ headers }, response) => {
      const isRight = headers.authorization === "Bearer right";
      response.writeHead(isRight ? 200 : 401, { "content-type": "application/json" });
      response.end(isRight ? '{ "data": [{ "id": "first-model" }] }' : '{ "error": { "message": "no" } }');
    });
    const port = await listenOnFreePort(models);
    try {
      const terminal = room.begin({ columns: 100 });
      await nameAddress(terminal, `http://127.0.0.1:${port}/v1`);
      await terminal.enter("wrong\r", "The service refuses this key.", "press enter if it needs none");
      await terminal.enter("right\r", "first-model");
    } finally {
      models.close();
    }
  });

  it("P54 /model sets up another service beside the first, whose key stays its own", async () => {
    const other = await startFakeModelServer([{ text: "ok" }, { text: "Two." }]);
    try {
      const terminal = await room.open([{ text: "One." }, { text: "Three." }], {
        env: { OPENAI_API_KEY: "first-key" },
        columns: 130,
      });
      await terminal.enter("first\r", "One.", "? for keys");
      await terminal.enter("/model \r", "(Another service)");
      await terminal.enter("another\r", "Which model service?");
      expect(terminal.text()).not.toContain("Try the demo");
      await nameAddress(terminal, other.baseUrl);
      await terminal.enter("second-key\r", "› fake-model");
      await terminal.enter("\r", "The key works. Keep it for the next starts?");
      await terminal.enter("only\r", /export KEY_OF_127_0_0_1_\d+=…[\s\S]*\? for keys/);
      await terminal.enter("second\r", "Two.");
      expect(other.requests.map(({ headers }) => headers.authorization)).toEqual(
        Array(2).fill("Bearer second-key"),
      );
      expect(JSON.stringify(other.requests[1]?.body.messages)).toContain("first");
      const { models } = JSON.parse(await readFile(join(room.root, ".home/settings.json"), "utf8"));
      expect(models["fake-model"]).toMatchObject({ provider: "openai", baseUrl: other.baseUrl });
      await terminal.enter("/model fake-model-1\r", "fake-model-1 · asks before changes");
      await terminal.enter("third\r", "Three.");
      expect(room.server.requests.at(-1)?.headers.authorization).toBe("Bearer first-key");
    } finally {
      await other.close();
    }
  });

  it("shows the demo with no model at all", async () => {
    const terminal = room.begin({ columns: 100, rows: 40 });
    await terminal.shows("Which model service?");
    await terminal.enter("try the\r", "The demo:");
    await terminal.shows(/Make this change\?[\s\S]*Can be undone: yes/);
    await answer(terminal, "y", "Make this change?");
    await terminal.shows("Run this command?");
    await answer(terminal, "y", "Run this command?");
    await terminal.shows('The test passes: tally("") = 0.');
    await terminal.shows("Your turn: /changes shows what was changed");
    await terminal.enter("\u0015/changes\r", "Changes of this session", "return words.length;");
    terminal.type("\u001b");
    await terminal.until(() => !terminal.text().includes("Changes of this session"), "the prompt");
    await terminal.enter("/undo\r", "taken back: src/tally.js");
    await terminal.enter("is it fixed?\r", "esc no, and stop");
    await answer(terminal, "n", "esc no, and stop");
    await terminal.enter("why filter?\r", "text.match(");
    // What was said may have left the window by now.
    const said = terminal.all().join("\n");
    expect(said).toContain("“is it fixed?”: I am only a script");
    expect(said).toContain("You said: “why filter?”. Here is another way, without filter");
    await answer(terminal, "n", "esc no, and stop");
    await terminal.enter("\r", "You said no.");
    expect(
      terminal
        .all()
        .join("\n")
        .match(/☑ fix it/g),
    ).toHaveLength(1);
    await terminal.enter("/model\r", "Which model service?");
    terminal.type("\u0003\u0003");
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text()).not.toContain("burin -r");
  });
});

describe("burin demo", () => {
  it.each([[["demo"]], [["/demo"]]])(
    "P54 opens the app's own demo at a terminal, twice in a row, and leaves nothing behind: burin %j",
    async (args) => {
      const terminal = room.begin({ args, columns: 100, rows: 40, env: { TMPDIR: room.root } });
      await terminal.shows("Make this change?");
      await answer(terminal, "\u001b", "Make this change?");
      await terminal.shows("Your turn:");
      await terminal.enter("/demo\r", "Make this change?");
      await answer(terminal, "y", "Make this change?");
      await terminal.shows("Run this command?");
      await answer(terminal, "y", "Run this command?");
      await terminal.shows('The test passes: tally("") = 0.');
      await terminal.enter("/fork\r", "The demo has no other sessions");
      await terminal.enter("/quit\r");
      expect(await terminal.ended()).toBe(0);
      expect(terminal.text()).not.toContain("burin -r");
      expect(readdirSync(room.root).filter((name) => name.startsWith("burin-demo"))).toEqual([]);
      expect(existsSync(join(room.root, ".home/sessions"))).toBe(false);
    },
  );
});

describe("the end", () => {
  it("P11 the first ctrl+c never ends it, and says what a second one does", async () => {
    const terminal = await room.open([]);
    expect(modeOf(terminal)).toContain("-icanon");
    await terminal.enter("some words\u0003", "Press ctrl+c again to quit");
    expect(terminal.text()).not.toContain("some words");
    terminal.type("\u0003");
    expect(await terminal.ended()).toBe(0);
    expect(leftOn(terminal.written)).toEqual([]);
  });

  it("P11 ctrl+c while the model works only stops it, and says what a second one does", async () => {
    const terminal = await room.open([
      { raw: (_request, response) => void response.writeHead(200).flushHeaders() },
    ]);
    await terminal.enter("go\r", "esc to interrupt");
    await terminal.enter("\u0003", "Stopped.", "Press ctrl+c again to quit");
    terminal.type("\u0003");
    expect(await terminal.ended()).toBe(0);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
    ["SIGQUIT", 131],
  ] as const)("gives the terminal back after %s", async (signal, code) => {
    const terminal = await room.open([
      { raw: (_request, response) => void response.writeHead(200).flushHeaders() },
    ]);
    await terminal.enter("go\r", "esc to interrupt");
    process.kill(terminal.pid, signal);
    expect(await terminal.ended()).toBe(code);
    expect(leftOn(terminal.written)).toEqual([]);
  });

  it.each([
    ["/quit", "/quit\r"],
    ["ctrl+d at an empty prompt", "\u0004"],
    ["ctrl+c twice", "\u0003\u0003"],
  ])("gives the terminal back after %s", async (_way, keys) => {
    const terminal = await room.open([]);
    terminal.type(keys);
    expect(await terminal.ended()).toBe(0);
    expect(leftOn(terminal.written)).toEqual([]);
  });

  it("gives the terminal back after a fault of its own", async () => {
    const planted = "process.once('SIGUSR2', () => { throw new Error('planted') })";
    const env = {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(planted)}`,
    };
    const screen = await room.open([], { env });
    process.kill(screen.pid, "SIGUSR2");
    expect(await screen.ended()).not.toBe(0);
    expect(leftOn(screen.written)).toEqual([]);
    expect(screen.text()).toMatch(/^burin: planted/m);
    expect(screen.text()).not.toContain("? for keys");
  });

  it("says what to do when an update takes its files away while it runs", async () => {
    const copy = join(room.root, "copy");
    await cp(dirname(BURIN), copy, { recursive: true });
    const screen = await room.open([], { program: join(copy, "burin.cjs") });
    await rm(join(copy, "chunks"), { recursive: true });
    screen.type("/");
    expect(await screen.ended()).toBe(1);
    expect(leftOn(screen.written)).toEqual([]);
    expect(screen.text()).toMatch(/^burin: its files were replaced .*Start it again; burin -c\s+continues/m);
    expect(screen.text()).not.toContain("? for keys");
  });

  it("stays as it is when a command that runs is killed", requirePrograms("ps"), async () => {
    const terminal = await room.open([running("echo $$ > pid; sleep 60"), { text: "It was killed." }], {
      args: ["--approval-mode", "yolo"],
    });
    terminal.type("go\r");
    await terminal.until(() => existsSync(join(room.root, "pid")), "the command");
    await terminal.until(
      () => /sleep 60/.test(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })),
      "sleep",
    );
    const sleeping = execFileSync("pgrep", ["-f", "^sleep 60$"], { encoding: "utf8" }).trim().split("\n");
    const ours = sleeping.filter((pid) => readlinkSync(`/proc/${pid}/cwd`) === room.root);
    for (const pid of ours) process.kill(Number(pid), "SIGKILL");
    await terminal.shows("It was killed.");
    expect(modeOf(terminal)).toContain("-icanon");
  });

  it("tells which names in its rules and hooks no tool has", async () => {
    const hooks = [{ event: "before_tool", tools: "Bash", command: "true" }];
    await writeFile(join(room.root, "guard.json"), JSON.stringify({ hooks }));
    const terminal = await room.open([], { args: ["--settings", "guard.json", "--deny", "web_fetsh"] });
    await terminal.shows("--deny web_fetsh: there is no tool of that name here; did you mean web_fetch?");
    await terminal.shows("hooks.tools Bash: there is no tool of that name here");
  });

  it("gives the terminal back after a fault in its settings, which it names", async () => {
    await writeFile(join(room.root, "broken.json"), "{");
    const screen = room.begin({ args: ["--settings", "broken.json"] });
    expect(await screen.ended()).toBe(2);
    expect(leftOn(screen.written)).toEqual([]);
    expect(screen.text()).toContain("broken.json");
  });

  it("is put aside with ctrl+z, and goes on after fg", async () => {
    const terminal = await room.open([{ text: "Still here." }], { isInShell: true });
    await terminal.enter("half a prompt\u001a", "Stopped");
    await terminal.enter("echo in-the-shell-$((1+1))\r", "in-the-shell-2");
    await terminal.enter("fg\r", "> half a prompt");
    await terminal.enter("\r", "Still here.");
    await terminal.enter("\u0004", "To continue this session");
    await terminal.enter("stty -a | grep -c -- '-icanon'\r", /^0$/m);
  });

  it("is still there after ctrl+z where there is no shell to go back to", async () => {
    const terminal = await room.open([{ text: "Still here." }]);
    terminal.type("words\u001a");
    await terminal.until(() => terminal.written.split("\u001b[>5u").length === 3, "its return");
    await terminal.shows(/^> words\n.*asks before changes {2}\? for keys$/m);
    expect(terminal.text().match(/> words/g)).toHaveLength(1);
    await terminal.enter("\r", "Still here.");
  });

  it("P13 a session that was killed goes on, and shows what it held", async () => {
    const terminal = await room.open([{ text: "I know **alpha**." }]);
    await terminal.enter("remember alpha\r", "I know", "? for keys");
    process.kill(terminal.pid, "SIGKILL");
    await terminal.ended();
    const again = await room.open([{ text: "It was alpha." }], { args: ["-c"] });
    await again.shows("I know **alpha**.");
    expect(again.all()).toContain("> remember alpha");
    await again.enter("what was it?\r", "It was alpha.");
  });
});

describe("the clock", () => {
  it("P30 counts the seconds of work, and wakes nothing when there is none", async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = async () => {
      await released;
      return { text: "Done." };
    };
    const terminal = await room.open([slow]);
    await sleepsThrough(terminal);
    await terminal.enter("go\r", / · 2 s/);
    release();
    await terminal.shows("Done.");
    await sleepsThrough(terminal);
  });
});

/** Waits for seconds in which it does not wake; for a start there is some work left when the prompt stands. */
async function sleepsThrough(terminal: ScreenTerminal): Promise<void> {
  let last = sleepsOf(terminal);
  let since = performance.now();
  await terminal.until(() => {
    const sleeps = sleepsOf(terminal);
    if (sleeps !== last) since = performance.now();
    last = sleeps;
    return performance.now() - since > QUIET_MS;
  }, "rest");
}

describe("the command line", () => {
  it("opens the screen with a first prompt", async () => {
    const terminal = await room.open([{ text: "Begun." }], { args: ["begin with this"] });
    await terminal.shows("Begun.");
    expect(terminal.all()).toContain("> begin with this");
  });
});
