import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { startFakeModelServer } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { BURIN } from "./burin.ts";
import { ScreenRoom } from "./screen-room.ts";
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
  terminal.type("another\r");
  await terminal.shows("Where is the service?");
  terminal.type(`${address}\r`);
  await terminal.shows("press enter if it needs none");
}

const MODE = new RegExp(`${"\u001b"}\\[\\?(\\d+)([hl])`, "g");

/** Switched on and not off again. */
/** The caret, and rows that are wrapped. */
const ON = new Set(["7", "25"]);

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
    await mkdir(join(room.root, ".home"));
    await writeFile(join(room.root, ".home/settings.json"), '{\n  // mine\n  "loop": {}\n}\n');
    const terminal = room.begin({ columns: 100 });
    await nameAddress(terminal, room.server.baseUrl);
    terminal.type("secret-key");
    await terminal.shows("••••••••••");
    terminal.type("\r");
    await terminal.shows("fake-model");
    terminal.type("\r");
    await terminal.shows("fake-model · default");
    expect(terminal.all().join("\n")).not.toContain("secret-key");
    const settings = await readFile(join(room.root, ".home/settings.json"), "utf8");
    expect(settings).toContain("// mine");
    expect(settings).toContain('"name": "fake-model"');
    expect(settings).not.toContain("secret-key");
    terminal.type("hello\r");
    await terminal.shows("Hello.");
    expect(room.server.requests.at(-1)?.headers.authorization).toBe("Bearer secret-key");
  });

  it("says why a service cannot be had, and asks again", async () => {
    const terminal = room.begin({ columns: 100 });
    await terminal.shows("Which model service?");
    terminal.type("another\r");
    await terminal.shows("Where is the service?");
    terminal.type("http://127.0.0.1:1/v1\r");
    await terminal.shows("press enter if it needs none");
    terminal.type("\r");
    await terminal.shows("http://127.0.0.1:1/v1 cannot be reached:");
    await terminal.shows("Which model service?");
    terminal.type("another\r");
    await terminal.shows("Where is the service?");
    terminal.type("localhost:1\r");
    await terminal.shows("press enter if it needs none");
    terminal.type("\r");
    await terminal.shows("http://localhost:1 cannot be reached:");
    await terminal.shows("Which model service?");
    terminal.type("\u001b");
    await terminal.shows("No model is set.");
    terminal.type("keep this\r");
    await terminal.shows("Which model service?");
    terminal.type("\u001b");
    await terminal.shows("> keep this");
    expect(terminal.all().join("\n").split("Welcome to Burin").length).toBe(2);
    terminal.type("\u0015/quit\r");
    expect(await terminal.ended()).toBe(0);
  });

  it("takes an address without its /v1, where the service lists its models only there", async () => {
    await room.serve([{ text: "Yes." }]);
    const terminal = room.begin({ columns: 100 });
    await nameAddress(terminal, room.server.baseUrl.replace("http://", "").replace("/v1", ""));
    terminal.type("\r");
    await terminal.shows("› fake-model");
    terminal.type("\r");
    await terminal.shows("It works.");
    const written = await readFile(join(room.root, ".home/settings.json"), "utf8");
    expect(written).toContain(`"baseUrl": "${room.server.baseUrl}"`);
  });

  it("P13 ends and says why, where nothing can be kept and the folder above is said to be missing", async () => {
    const terminal = await room.open([{ text: "Hello." }], { env: { BURIN_HOME: "/proc/none/burin" } });
    terminal.type("hi\r");
    await terminal.shows("The log of this session cannot be written");
    terminal.type("/quit\r");
    expect(await terminal.ended()).toBe(0);
  });

  it("asks again for a key that the service refuses", async () => {
    const models = createServer(({ headers }, response) => {
      const isRight = headers.authorization === "Bearer right";
      response.writeHead(isRight ? 200 : 401, { "content-type": "application/json" });
      response.end(isRight ? '{ "data": [{ "id": "first-model" }] }' : '{ "error": { "message": "no" } }');
    });
    await new Promise<void>((resolve) => models.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = models.address() as AddressInfo;
      const terminal = room.begin({ columns: 100 });
      await nameAddress(terminal, `http://127.0.0.1:${port}/v1`);
      terminal.type("wrong\r");
      await terminal.shows("The service refuses this key.");
      await terminal.shows("press enter if it needs none");
      terminal.type("right\r");
      await terminal.shows("first-model");
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
      terminal.type("first\r");
      await terminal.shows("One.");
      await terminal.shows("? for keys");
      terminal.type("/model \r");
      await terminal.shows("(Another service)");
      terminal.type("another\r");
      await terminal.shows("Which model service?");
      expect(terminal.text()).not.toContain("Just show me");
      await nameAddress(terminal, other.baseUrl);
      terminal.type("second-key\r");
      await terminal.shows("› fake-model");
      terminal.type("\r");
      await terminal.shows(/export KEY_OF_127_0_0_1_\d+=…[\s\S]*\? for keys/);
      terminal.type("second\r");
      await terminal.shows("Two.");
      expect(other.requests.map(({ headers }) => headers.authorization)).toEqual(
        Array(2).fill("Bearer second-key"),
      );
      expect(JSON.stringify(other.requests[1]?.body.messages)).toContain("first");
      const { models } = JSON.parse(await readFile(join(room.root, ".home/settings.json"), "utf8"));
      expect(models["fake-model"]).toMatchObject({ provider: "openai", baseUrl: other.baseUrl });
      terminal.type("/model fake-model-1\r");
      await terminal.shows("fake-model-1 · default");
      terminal.type("third\r");
      await terminal.shows("Three.");
      expect(room.server.requests.at(-1)?.headers.authorization).toBe("Bearer first-key");
    } finally {
      await other.close();
    }
  });

  it("shows the demo with no model at all", async () => {
    const terminal = room.begin({ columns: 100, rows: 40 });
    await terminal.shows("Which model service?");
    terminal.type("just show\r");
    await terminal.shows("The demo:");
    const questions = ["Carry out this plan?", "Run this command?"];
    await terminal.until(() => {
      if (questions.some((question) => terminal.text().includes(question))) terminal.type("y");
      return terminal.all().join("\n").includes("An empty text counts 0 words now");
    }, "the end of the demo");
    await terminal.shows("? for keys");
    terminal.type("\u0015/changes\r");
    await terminal.shows("Changes of this session");
    await terminal.shows("return words.length;");
    terminal.type("\u001b");
    await terminal.until(() => !terminal.text().includes("Changes of this session"), "the prompt");
    terminal.type("and now?\r");
    await terminal.shows("The demo answers no prompts.");
    terminal.type("/model\r");
    await terminal.shows("Which model service?");
    terminal.type("\u0003\u0003");
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text()).not.toContain("burin -r");
  });
});

describe("the end", () => {
  it("P11 the first ctrl+c never ends it, and says what a second one does", async () => {
    const terminal = await room.open([]);
    expect(modeOf(terminal)).toContain("-icanon");
    terminal.type("some words\u0003");
    await terminal.shows("Press ctrl+c again to quit");
    expect(terminal.text()).not.toContain("some words");
    terminal.type("\u0003");
    expect(await terminal.ended()).toBe(0);
    expect(leftOn(terminal.written)).toEqual([]);
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
    terminal.type("go\r");
    await terminal.shows("esc to interrupt");
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
    expect(screen.written).toContain("planted");
  });

  it("says what to do when an update takes its files away while it runs", async () => {
    const copy = join(room.root, "copy");
    await cp(dirname(BURIN), copy, { recursive: true });
    const screen = await room.open([], { program: join(copy, "burin.cjs") });
    await rm(join(copy, "chunks"), { recursive: true });
    screen.type("/");
    expect(await screen.ended()).toBe(1);
    expect(leftOn(screen.written)).toEqual([]);
    expect(screen.written).toContain("Start it again; burin -c continues the session.");
  });

  it("stays as it is when a command that runs is killed", async () => {
    const command = "echo $$ > pid; sleep 60";
    const call = { calls: [{ name: "run_shell_command", args: { command } }] };
    const terminal = await room.open([call, { text: "It was killed." }], {
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

  it("gives the terminal back after a fault in its settings, which it names", async () => {
    await writeFile(join(room.root, "broken.json"), "{");
    const screen = room.begin({ args: ["--settings", "broken.json"] });
    expect(await screen.ended()).toBe(2);
    expect(leftOn(screen.written)).toEqual([]);
    expect(screen.text()).toContain("broken.json");
  });

  it("is put aside with ctrl+z, and goes on after fg", async () => {
    const terminal = await room.open([{ text: "Still here." }], { isInShell: true });
    terminal.type("half a prompt\u001a");
    await terminal.shows("Stopped");
    terminal.type("echo in-the-shell-$((1+1))\r");
    await terminal.shows("in-the-shell-2");
    terminal.type("fg\r");
    await terminal.shows("> half a prompt");
    terminal.type("\r");
    await terminal.shows("Still here.");
    terminal.type("\u0004");
    await terminal.shows("To continue this session");
    terminal.type("stty -a | grep -c -- '-icanon'\r");
    await terminal.shows(/^0$/m);
  });

  it("is still there after ctrl+z where there is no shell to go back to", async () => {
    const terminal = await room.open([{ text: "Still here." }]);
    terminal.type("words\u001a");
    await terminal.until(() => terminal.written.split("\u001b[>5u").length === 3, "its return");
    await terminal.shows(/^> words\n.*default {2}\? for keys$/m);
    expect(terminal.text().match(/> words/g)).toHaveLength(1);
    terminal.type("\r");
    await terminal.shows("Still here.");
  });

  it("P13 a session that was killed goes on, and shows what it held", async () => {
    const terminal = await room.open([{ text: "I know **alpha**." }]);
    terminal.type("remember alpha\r");
    await terminal.shows("I know");
    await terminal.shows("? for keys");
    process.kill(terminal.pid, "SIGKILL");
    await terminal.ended();
    const again = await room.open([{ text: "It was alpha." }], { args: ["-c"] });
    await again.shows("I know **alpha**.");
    expect(again.all()).toContain("> remember alpha");
    again.type("what was it?\r");
    await again.shows("It was alpha.");
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
    terminal.type("go\r");
    await terminal.shows(/ · 2 s/);
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
