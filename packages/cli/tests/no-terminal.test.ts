import { spawn, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { BURIN, buildEnvironment, burin, type Ended } from "./burin.ts";
import { modelEnv } from "./fake-model.ts";
import { put, root } from "./project.ts";

beforeEach(async () => {
  put("a.txt", "alpha\n");
  put("broken.json", "{ model: }");
});

interface Outcome {
  readonly replies: () => readonly FakeReply[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly ends: readonly [code: 1 | 2 | 3 | 4, type: string];
  readonly says: RegExp;
}

const reading = () => ({ name: "read_file", args: { absolute_path: join(root, "a.txt") } });
const missing = () => ({ name: "read_file", args: { absolute_path: join(root, "none.txt") } });
const writing = () => ({ name: "write_file", args: { file_path: join(root, "b.txt"), content: "b\n" } });

const STATUS = { 1: "error", 2: "error", 3: "refused", 4: "limit" };
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  "the service refuses": {
    replies: () => [{ error: { type: "unauthorized", message: "no such key", status: 401 } }],
    ends: [1, "unauthorized"],
    says: /no such key/,
  },
  "a call needs an approval": {
    replies: () => [{ calls: [writing()] }, { text: "I could not." }],
    ends: [3, "needs_approval"],
    says: /needs an approval .* nobody can be asked/,
  },
  "a rule denies a call": {
    replies: () => [{ calls: [reading()] }, { text: "I could not." }],
    args: ["--deny", "read_file"],
    ends: [3, "denied"],
    says: /the rule deny read_file forbids it/,
  },
  "plan mode denies a call": {
    replies: () => [{ calls: [writing()] }, { text: "I could not." }],
    args: ["--approval-mode", "plan"],
    ends: [3, "denied"],
    says: /plan mode allows no changes/,
  },
  "the turns are used up": {
    replies: () => [{ calls: [reading()] }],
    args: ["--max-turns", "1"],
    ends: [4, "max_turns"],
    says: /1 turns, the limit/,
  },
  "the budget is used up": {
    replies: () => [{ calls: [reading()] }],
    args: ["--budget", "1 call"],
    ends: [4, "budget"],
    says: /budget of 1 call is used up/,
  },
  "the model repeats a failing call (P4)": {
    replies: () => Array.from({ length: 6 }, () => ({ calls: [missing()] })),
    ends: [4, "loop"],
    says: /same failing call of read_file 6 times/,
  },
  "the settings are broken": {
    replies: () => [],
    args: ["--settings", "broken.json"],
    ends: [2, "settings"],
    says: /broken\.json:1:/,
  },
  "an option is wrong": {
    replies: () => [],
    args: ["--max-turns", "none"],
    ends: [2, "usage"],
    says: /--max-turns must be a whole number/,
  },
  "no model is named": {
    replies: () => [],
    env: { OPENAI_MODEL: "", OPENAI_API_KEY: "", OPENAI_BASE_URL: "" },
    ends: [2, "usage"],
    says: /no model is configured/,
  },
};

async function runOf({ replies, args = [], env = {} }: Outcome, format: string): Promise<Ended> {
  const service = await modelEnv(...replies());
  return burin(["-p", "go", "--output-format", format, ...args], {
    cwd: root,
    env: { ...service, ...env },
    openStdin: true,
  });
}

describe.each(Object.entries(OUTCOMES))("without a terminal, when %s", (_what, outcome) => {
  const { says, ends } = outcome;
  const [code, type] = ends;
  const end = { status: STATUS[code], error: { type, message: expect.stringMatching(says) } };

  it(`P44 json: exit code ${code} and one document with the error`, async () => {
    const ended = await runOf(outcome, "json");
    expect(ended.code).toBe(code);
    expect(JSON.parse(ended.stdout)).toMatchObject({ ...end, toolCalls: expect.any(Array), usage: {} });
    expect(ended.stdout + ended.stderr).not.toMatch(/by (the )?user|\n\s+at /);
  });

  it(`P44 stream-json: exit code ${code} and an event a line, the last one with the error`, async () => {
    const ended = await runOf(outcome, "stream-json");
    expect(ended.code).toBe(code);
    const events = ended.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ type: "done", turns: expect.any(Number), ...end });
    expect(events.filter((event) => event.type === "done")).toHaveLength(1);
  });

  it(`P44 text: exit code ${code} and the reason on stderr alone`, async () => {
    const ended = await runOf(outcome, "text");
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(says);
    expect(ended.stdout).not.toMatch(says);
  });
});

describe("without a terminal", () => {
  it("P44 a start for which too many files are open says so in one line", async () => {
    await modelEnv();
    const filling = put(
      "filling.cjs",
      `process.on("newListener", (name) => {
        try {
          while (name === "uncaughtException") require("fs").openSync("/dev/null");
        } catch {}
      });`,
    );
    const words = ["-c", 'ulimit -n 64; exec "$@"', "sh", process.execPath, "-r", filling, BURIN, "tools"];
    const { status, stderr } = spawnSync("sh", words, { cwd: root, env: { HOME: root }, encoding: "utf8" });
    expect([status, stderr]).toEqual([1, "burin: too many open files (EMFILE)\n"]);
  });

  it.each([
    ['throw new Error("from nowhere")', "from nowhere", "internal"],
    ['require("fs").readdirSync("/dev/null/x")', "/dev/null/x: not a directory (ENOTDIR)", "system"],
  ])(
    "P44 what is thrown where nobody waits for it is told in the document: %s",
    async (thrown, message, type) => {
      const env = await modelEnv({ raw: () => void put("asked", "") });
      const isAsked = `require("fs").existsSync(${JSON.stringify(join(root, "asked"))})`;
      const soon = `if (${isAsked}) { clearInterval(timer); ${thrown}; }`;
      const throwing = put("throwing.cjs", `const timer = setInterval(() => { ${soon} }, 10);`);
      const { code, stdout, stderr } = await burin(["-p", "go", "--json"], {
        cwd: root,
        env: { ...env, NODE_OPTIONS: `--require=${throwing}` },
      });
      expect(code).toBe(1);
      const document = JSON.parse(stdout);
      expect(document).toMatchObject({ status: "error", error: { type, message } });
      const hint = /^\(This should not have happened\. .*\)\n$/;
      expect(stderr.split(`burin: ${message}\n`)).toEqual([
        "",
        type === "system" ? "" : expect.stringMatching(hint),
      ]);
      const listed = await burin(["sessions", "list", "--json"], { cwd: root });
      expect(listed.stdout).toContain(document.sessionId);
    },
  );

  /** What bash gives as stdin; a silent pipe has a writer that never speaks. */
  const STDINS = {
    "a silent pipe": "mkfifo fifo; exec 3<>fifo; exec <&3",
    "a closed descriptor": "exec <&-",
    "an empty pipe": "exec < <(:)",
    "/dev/null": "exec </dev/null",
  };

  it.each(Object.entries(STDINS))(
    "P44 stdin is %s: the prompt is answered all the same",
    async (_what, redirection) => {
      const env = await modelEnv({ text: "ok" });
      const script = `${redirection}; "$@" >out`;
      const child = spawn("bash", ["-c", script, "bash", process.execPath, BURIN, "-p", "go"], {
        cwd: root,
        env: buildEnvironment(root, env),
        stdio: "ignore",
      });
      expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
      expect(await readFile(join(root, "out"), "utf8")).toBe("ok\n");
    },
  );

  it("P44 going on with a session, and one tool alone, wait for no stdin either", async () => {
    const env = await modelEnv({ error: { message: "gone", status: 400 } }, { text: "Now." });
    const options = { cwd: root, env, openStdin: true };
    expect(await burin(["-p", "go"], options)).toMatchObject({ code: 1 });
    expect(await burin(["-c"], options)).toMatchObject({ code: 0, stdout: "Now.\n" });
    expect(await burin(["call", "list_directory", JSON.stringify({ path: root })], options)).toMatchObject({
      code: 0,
    });
  });
});
