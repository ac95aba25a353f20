import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Confirmation, createToolbox, type Toolbox } from "@burin/core";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

let base: string;
let root: string;
let asked: Confirmation[];
const open: Toolbox[] = [];

beforeEach(async () => {
  base = createTemporaryFolder();
  root = join(base, "project");
  await mkdir(root);
  asked = [];
});

afterEach(async () => {
  for (const toolbox of open.splice(0)) await toolbox.close();
});

function toolbox(mode: "off" | "workspace-write"): Toolbox {
  const made = createToolbox({
    root,
    environment: { ...process.env, BURIN_HOME: join(base, "home") },
    settings: { sandbox: { mode } },
    confirm: (question) => {
      asked.push(question);
      return Promise.resolve({ outcome: "once" });
    },
  });
  open.push(made);
  return made;
}

const word = () => Math.random().toString(36).slice(2);

describe("a command with a terminal", () => {
  for (const mode of ["off", "workspace-write"] as const) {
    const shell = (args: Record<string, unknown>) =>
      (open[0] ?? toolbox(mode)).call("run_shell_command", args);

    it(`P8 sandbox ${mode}: has one, and its output is plain text`, async () => {
      const command = `[ -t 0 ] && [ -t 1 ] && echo yes; printf '\\033[31mred\\033[0m\\r\\n10%%\\r99%%\\n'; exit 3`;
      const { llmContent } = await shell({ command, terminal: true });
      expect(llmContent).toMatch(/^Exit code: 3\n/);
      expect(llmContent).toMatch(/Output:\nyes\nred\n99%\n$/);
      expect((await shell({ command: "[ -t 0 ] || echo none" })).llmContent).toContain("none");
    });

    it(`P8 sandbox ${mode}: has all of its output shown, also when Burin reads it only after the end`, async () => {
      const begun = join(root, "begun");
      const called = shell({ command: `touch begun; seq 1000 2999; echo the last`, terminal: true });
      await vi.waitUntil(() => existsSync(begun), { timeout: 20_000, interval: 1 });
      const end = performance.now() + 300;
      while (performance.now() < end);
      const text = String((await called).llmContent);
      expect(text.split("\n").filter((line) => /^\d+$/.test(line))).toHaveLength(2000);
      expect(text).toMatch(/the last\n$/);
    });

    it(`P8 sandbox ${mode}: can be typed to, each time with a person's yes`, async () => {
      const command = `printf 'name? '; read name; echo "hello $name"; printf 'more? '; read more; echo "bye $more"`;
      await shell({ command, terminal: true, is_background: true });
      const answer = await shell({ action: "input", background_id: "bg_1", input: "Ada\r" });
      expect(answer.llmContent).toMatch(/^Typed\. Running for /);
      const isSaid = async () => (await open[0]?.commands.output("bg_1"))?.includes("hello Ada\nmore? ");
      await vi.waitUntil(isSaid, { timeout: 20_000, interval: 50 });
      expect(asked.at(-1)).toMatchObject({ kind: "info", prompt: "Ada\r", grants: [] });
      expect(await open[0]?.commands.type("bg_1", "now\r")).toBe(true);
      await vi.waitUntil(async () => (await open[0]?.commands.list())?.[0]?.state === "ended", 20_000);
      expect(await open[0]?.commands.output("bg_1")).toContain("bye now");
      expect((await shell({ action: "input", background_id: "bg_1", input: "x" })).error?.type).toBe(
        "no_terminal",
      );
    });

    it(`P26 sandbox ${mode}: ends with all it has started, at its limit and with the session`, async () => {
      const name = word();
      const tree = `sh -c 'trap "" TERM HUP INT; while :; do sleep 0.1; done' ${name} & while :; do sleep 0.1; done`;
      const { error, llmContent } = await shell({ command: tree, terminal: true, timeout: 400 });
      expect(error?.type).toBe("timeout");
      expect(llmContent).not.toContain("Could not be stopped");
      await shell({ command: tree, terminal: true, is_background: true });
      await open[0]?.close();
      expect((await open[0]?.commands.list())?.map(({ processes }) => processes)).toEqual([0]);
    });
  }

  it("P53 has the limits of the sandbox", requirePrograms("bwrap"), async () => {
    const command = `touch inside; touch ${base}/../burin-terminal-escape /usr/local/burin-terminal-escape .vscode/x`;
    const { llmContent } = await toolbox("workspace-write").call("run_shell_command", {
      command,
      terminal: true,
    });
    expect(llmContent).toContain("The sandbox refused a write");
    expect(existsSync(join(root, "inside"))).toBe(true);
    expect(existsSync("/usr/local/burin-terminal-escape")).toBe(false);
    expect(existsSync(join(base, "..", "burin-terminal-escape"))).toBe(false);
  });

  it.each([
    [{ action: "input", background_id: "bg_1" }, '"input" goes with'],
    [{ action: "output", background_id: "bg_1", input: "x" }, '"input" goes with'],
    [{ command: "ls", input: "x" }, "go with"],
    [{ action: "input", input: "x" }, 'needs "background_id"'],
  ])("says how to write %j right", async (args, message) => {
    const { error } = await toolbox("off").call("run_shell_command", args);
    expect(error?.message).toContain(message);
    expect(asked).toEqual([]);
  });
});
