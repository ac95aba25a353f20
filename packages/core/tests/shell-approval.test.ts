import { execFileSync } from "node:child_process";
import { createToolbox, type Toolbox } from "@burin/core";
import { groupByPrograms, requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ATTACKS, EVERYDAY_RULES } from "./shell-attacks.ts";
import { makeShellFolder, type ShellFolder } from "./shell-folder.ts";
import { HARMLESS } from "./shell-harmless.ts";

const MODES = ["default", "plan", "auto-edit"] as const;
type Mode = (typeof MODES)[number];

let folder: ShellFolder;
const toolboxes = new Map<Mode, Toolbox>();

beforeAll(() => {
  folder = makeShellFolder();
  const settings = { permissions: { allow: EVERYDAY_RULES } };
  for (const approvalMode of MODES) {
    toolboxes.set(approvalMode, createToolbox({ root: folder.root, approvalMode, settings }));
  }
});

afterAll(async () => {
  for (const toolbox of toolboxes.values()) await toolbox.close();
  folder.remove();
});

async function judged(command: string, mode: Mode) {
  const toolbox = toolboxes.get(mode);
  if (toolbox === undefined) throw new Error(`no toolbox for ${mode}`);
  return toolbox.explain(command);
}

describe("attacks on a shell with everyday rules in force", () => {
  it("P21 there are at least 150 of them, each only once", () => {
    expect(new Set(ATTACKS.map(([, command]) => command)).size).toBe(ATTACKS.length);
    expect(ATTACKS.length).toBeGreaterThanOrEqual(150);
  });

  const groups = groupByPrograms(ATTACKS, ([, command]) => command);
  for (const [names, rows] of groups)
    it.each(rows)(
      "P21 P23 it is real (%s) and does not run unasked: %j",
      requirePrograms(...names),
      async (proof, written) => {
        const command = written.replaceAll("ROOT", folder.root);
        expect(folder.run(command)).toContain(proof);
        const { verdict, reason } = await judged(command, "default");
        expect(verdict, reason).toBe("ask");
        expect(reason).not.toBe("");
        expect((await judged(command, "auto-edit")).verdict).toBe("ask");
        if (proof !== "secret") expect((await judged(command, "plan")).verdict).toBe("deny");
        else expect((await judged(command, "plan")).verdict).not.toBe("allow");
      },
    );
});

describe("everyday commands", () => {
  // The folder of the attacks has a repository that defines programs, where git always asks.
  beforeAll(() => {
    execFileSync("git", ["config", "--unset", "diff.hostile.command"], { cwd: folder.root });
  });

  it.each(ATTACKS.filter(([, command]) => /\bgit\b/.test(command)))(
    "P21 P23 attacks by git ask by their words too, where the repository names no program (%s): %j",
    async (_proof, written) => {
      const { verdict } = await judged(written.replaceAll("ROOT", folder.root), "default");
      expect(verdict).toBe("ask");
    },
  );

  it("P22 there are at least 60 of them", () => {
    expect(new Set(HARMLESS).size).toBeGreaterThanOrEqual(60);
  });

  it.each(HARMLESS)("P22 it does not ask: %j", async (written) => {
    const { verdict, reason } = await judged(written.replaceAll("ROOT", folder.root), "default");
    expect(verdict, reason).toBe("allow");
  });
});
