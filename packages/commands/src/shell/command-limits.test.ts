import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { beforeEach, describe, expect, it } from "vitest";
import type { SandboxMode } from "../sandbox/sandbox.ts";
import { createCommandLimits } from "./command-limits.ts";

let base: string;
let root: string;

beforeEach(() => {
  base = createTemporaryFolder();
  root = join(base, "project");
  mkdirSync(root);
});

function limits(mode: SandboxMode, onGuard: (before: { since: number }) => () => void = () => () => {}) {
  const home = join(base, "home");
  const temporary = () => join(base, "tmp");
  return createCommandLimits({
    sandbox: mode,
    roots: [root],
    home,
    environment: process.env,
    temporary,
    space: async () => null,
    onGuard,
  });
}

/** A program as a discovered tool or an MCP server is one: it talks over its input and output. */
const SERVER = `
const { writeFileSync } = require("node:fs");
const attempt = (path) => { try { writeFileSync(path, "x"); return "written"; } catch (error) { return error.code; } };
require("node:readline").createInterface({ input: process.stdin }).on("line", (path) => console.log(attempt(path)));
`;

describe("a program that is to run in the sandbox", () => {
  for (const mode of ["workspace-write", "off"] as const) {
    it(
      `P53 with commands in ${mode}: it talks, writes in the root and nowhere else, and ends with its input`,
      requirePrograms("bwrap"),
      async () => {
        let guarded = 0;
        const argv = [process.execPath, "-e", SERVER] as const;
        const plan = await limits(mode, () => {
          guarded += 1;
          return () => {
            guarded -= 1;
          };
        }).confine({
          argv,
          cwd: root,
          network: false,
          isAlone: true,
        });
        const child = spawn(plan.program, plan.args, { env: { ...process.env, ...plan.env } });
        let told = "";
        child.stdout.on("data", (text) => {
          told += text;
        });
        const paths = [join(root, "a"), join(base, "b"), join(root, ".npmrc"), "/usr/local/burin-canary"];
        child.stdin.end(`${paths.join("\n")}\n`);
        const code = await new Promise((resolve) => child.once("close", resolve));
        expect(guarded).toBe(1);
        const taken = await plan.release();
        expect(told.trim().split("\n")).toEqual(["written", "written", "written", "EROFS"]);
        // What it wrote beside the project lies in the temporary folder that it alone sees.
        expect(existsSync(join(base, "b"))).toBe(false);
        expect(code).toBe(0);
        expect(existsSync(join(root, "a"))).toBe(true);
        expect(taken.map(({ path }) => path)).toEqual([join(root, ".npmrc")]);
        expect([guarded, existsSync(join(root, ".npmrc"))]).toEqual([0, false]);
      },
    );
  }

  it("P53 is not started where there is no sandbox", async () => {
    const { platform } = process;
    Object.defineProperty(process, "platform", { value: "win32" });
    try {
      const attempt = limits("workspace-write").confine({ argv: ["server"], cwd: root, network: false });
      await expect(attempt).rejects.toThrow(/^server was not started: .*no sandbox for win32/);
    } finally {
      Object.defineProperty(process, "platform", { value: platform });
    }
  });
});
