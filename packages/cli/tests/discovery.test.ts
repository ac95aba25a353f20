import { execFileSync, spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { beforeEach, describe, expect, it } from "vitest";
import { BURIN, burin } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root as top } from "./project.ts";

let root: string;

beforeEach(async () => {
  root = join(top, "project");
  await mkdir(join(top, "home"));
  await mkdir(root);
});

const ADD = { name: "add", description: "Adds.", parameters: { type: "object", properties: { a: {} } } };

/** The person's own settings: what they name needs no trust. */
async function configure(toolDiscoveryCommand: string, toolCallCommand: string): Promise<void> {
  const settings = { tools: { toolDiscoveryCommand, toolCallCommand } };
  put("home/settings.json", settings);
}

const environment = () => ({ BURIN_HOME: join(top, "home") });

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return burin(args, { cwd: root, env: { ...environment(), ...env } });
}

describe("tools of a command, on the command line", () => {
  it("R19 R20 burin tools names their source, burin call runs one, -p offers it and answers with it", async () => {
    await configure(`echo '${JSON.stringify([ADD])}'`, "cat; echo");
    expect((await run(["tools"])).stdout).toContain("add  (discovery command)\n    Adds.\n");
    const asked = await run(["call", "add", '{"a":1}', "--json"]);
    expect(asked.code).toBe(3);
    expect(JSON.parse(asked.stdout)).toMatchObject({
      status: "needs_confirmation",
      confirmation: { tool: "add" },
    });
    expect((await run(["call", "add", '{"a":1}', "--allow", "add"])).stdout).toBe('{"a":1}add\n');
    const env = await modelEnv({ calls: [{ name: "add", args: { a: 2 } }] }, { text: "added" });
    expect(await run(["-p", "add", "--allow", "add"], env)).toMatchObject({ code: 0, stdout: "added\n" });
    expect(JSON.stringify(server.requests[0])).toContain('"add"');
    expect(server.problems).toEqual([]);
  });

  it("R21 a failure is told on stderr, and all else works", async () => {
    await configure("echo oops; exit 0", "x");
    const told =
      "burin: tools from discovery command: What echo oops; exit 0 printed is not JSON: line 1, column 1";
    const listed = await run(["tools"]);
    expect(listed.code).toBe(0);
    expect(listed.stderr).toContain(told);
    expect(listed.stdout).toContain("read_file  (built-in)");
    const unknown = await run(["call", "add", "{}"]);
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain(told);
    expect((await run(["-p", "hi"], await modelEnv({ text: "hello" }))).stderr).toContain(
      "printed is not JSON",
    );
  });
});

/** Started by the shell, with a child of its own that has left its group; neither ends when it is asked to. */
const STUBBORN = `
const { spawn } = require("node:child_process");
process.on("SIGTERM", () => {}).on("SIGHUP", () => {}).on("SIGINT", () => {});
const code = "process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setInterval(() => {}, 1000)";
const child = spawn(process.execPath, ["-e", code], { detached: true, stdio: "ignore" });
child.once("spawn", () => require("node:fs").writeFileSync("pids", JSON.stringify([process.ppid, process.pid, child.pid])));
setInterval(() => {}, 1000);
`;

function living(pids: readonly number[]): number[] {
  return pids.filter((pid) => {
    try {
      return !execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).startsWith("Z");
    } catch {
      return false;
    }
  });
}

/** Runs until the stubborn program has started everything, then sends the signal. */
async function interrupted(args: readonly string[], env: Record<string, string>, signal: NodeJS.Signals) {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [BURIN, ...args], {
    cwd: root,
    env: { PATH, ...environment(), ...env },
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let pids: number[] = [];
  while (pids.length === 0) {
    const text = await readFile(join(root, "pids"), "utf8").catch(() => "");
    if (text !== "") pids = JSON.parse(text);
    else await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(living(pids)).toHaveLength(3);
  child.kill(signal);
  const code = await ended;
  return { code, left: living(pids) };
}

describe("what a command of discovery has started", requirePrograms("ps"), () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    it(`P26 is gone when burin ends by ${signal} while it discovers`, async () => {
      await writeFile(join(root, "stubborn.cjs"), STUBBORN);
      await configure(`${process.execPath} stubborn.cjs; :`, "x");
      expect(await interrupted(["tools"], {}, signal)).toEqual({
        code: 128 + constants.signals[signal],
        left: [],
      });
    });

    it(`P26 is gone when burin ends by ${signal} while it calls`, async () => {
      await writeFile(join(root, "stubborn.cjs"), STUBBORN);
      await configure(`echo '${JSON.stringify([ADD])}'`, `${process.execPath} stubborn.cjs; : `);
      const env = await modelEnv({ calls: [{ name: "add", args: {} }] }, { text: "never" });
      expect(await interrupted(["-p", "add", "--yes"], env, signal)).toEqual({
        code: 128 + constants.signals[signal],
        left: [],
      });
    });
  }
});
