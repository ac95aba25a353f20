import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FunctionCall } from "@burin/contract/messages/function-call";
import { temporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { OnCall } from "../scheduler/scheduler.ts";
import type { LoadAheadNeeds } from "./load-ahead.ts";

const limits = (works: boolean): LoadAheadNeeds["commands"] => ({
  roots: [],
  sandbox: async () =>
    works ? { sandbox: { mode: "workspace-write" } } : { sandbox: null, reason: "there is none" },
});

/** Takes all steps. Returns the calls that were tried, and the folders that were made for them. */
async function tried({ works = true, fails = false, isElsewhere = false } = {}) {
  const [{ LoadAhead }, { nodeMachine }] = await Promise.all([
    import("./load-ahead.ts"),
    import("@burin/machine/files/node-machine"),
  ]);
  const calls: FunctionCall[] = [];
  const folders: string[] = [];
  let closed = 0;
  const open: LoadAheadNeeds["open"] = ({ root }) => ({
    runCalls: async ([call]) => {
      if (fails) throw new Error("cannot be opened");
      if (call) calls.push(call);
      folders.push(root);
      expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("a\n");
      return [];
    },
    close: async () => {
      closed += 1;
    },
  });
  const home = { environment: process.env, machine: isElsewhere ? { ...nodeMachine } : nodeMachine };
  const ahead = new LoadAhead({ commands: limits(works), home, open });
  while (await ahead.step());
  expect(closed).toBe(calls.length);
  return { names: calls.map(({ name }) => name), folders };
}

describe("calls that are tried while a program waits", () => {
  beforeEach(() => void vi.resetModules());

  it("P24 are made in folders of their own, which are gone afterwards, and once in a process", async () => {
    const { names, folders } = await tried();
    expect(names).toEqual(["search_file_content", "edit", "run_shell_command"]);
    expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
    expect((await tried()).names).toEqual([]);
  });

  it("P24 are not made where another machine does the calls", async () => {
    expect((await tried({ isElsewhere: true })).names).toEqual([]);
  });

  it("P24 run a command only where the sandbox works", async () => {
    expect((await tried({ works: false })).names).toEqual(["search_file_content", "edit"]);
  });

  it("P24 leave nothing when they fail", async () => {
    const before = process.env.TMPDIR;
    const place = temporaryFolder();
    process.env.TMPDIR = place;
    try {
      await expect(tried({ fails: true })).rejects.toThrow("cannot be opened");
      expect(readdirSync(place)).toEqual([]);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });

  it("P24 succeed with the real tools, which find no program in the project", async () => {
    const [{ LoadAhead }, { ToolSet }, { nodeMachine }] = await Promise.all([
      import("./load-ahead.ts"),
      import("./tool-set.ts"),
      import("@burin/machine/files/node-machine"),
    ]);
    const project = temporaryFolder();
    const PATH = `${join(project, "bin")}:${process.env.PATH}`;
    const states: string[] = [];
    const open: LoadAheadNeeds["open"] = (options, home) => {
      expect(home.environment.PATH).not.toContain(project);
      const tools = new ToolSet(options, home);
      const onCall: OnCall = (call) => void states.push(`${call.name} ${call.status}`);
      return {
        runCalls: (calls, signal) => tools.runCalls(calls, signal, onCall),
        close: () => tools.close(),
      };
    };
    const environment = { ...process.env, PATH, BURIN_HOME: temporaryFolder() };
    const commands = { ...limits(true), roots: [project] };
    const ahead = new LoadAhead({ commands, home: { environment, machine: nodeMachine }, open });
    while (await ahead.step());
    expect(states.filter((state) => /success|error|denied|cancelled/.test(state))).toEqual([
      "search_file_content success",
      "edit success",
      "run_shell_command success",
    ]);
  });

  it("P24 do nothing in the folder of the toolbox", async () => {
    const [{ ToolSet }, { resolveHome }] = await Promise.all([import("./tool-set.ts"), import("./home.ts")]);
    const root = temporaryFolder();
    const options = { root, environment: { ...process.env, BURIN_HOME: temporaryFolder() } };
    const tools = new ToolSet(options, resolveHome(options));
    const ahead = await tools.ahead();
    while (await ahead.step());
    await tools.close();
    expect(readdirSync(root)).toEqual([]);
  });
});
