import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FunctionCall } from "@burin/contract/messages/message";
import type { SandboxFact } from "@burin/machine/machine";
import { temporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { OnCall } from "../scheduler/scheduler.ts";
import type { LoadAheadNeeds } from "./load-ahead.ts";

const limits = (works: boolean) => ({
  roots: [],
  sandbox: async (): Promise<SandboxFact> =>
    works ? { sandbox: { mode: "workspace-write" } } : { sandbox: null, reason: "there is none" },
});

/** Takes all steps. Returns the calls that were tried; no folder that was made for them is left. */
async function tried({ works = true, fails = false, isElsewhere = false } = {}) {
  const { LoadAhead } = await import("./load-ahead.ts");
  const calls: FunctionCall[] = [];
  const folders: string[] = [];
  let closed = 0;
  const open: LoadAheadNeeds["open"] = ({ root }) => ({
    runCalls: async ([call]) => {
      if (fails) throw new Error("cannot be opened");
      if (call) calls.push(call);
      expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("a\n");
      return [];
    },
    close: async () => {
      closed += 1;
    },
  });
  const made = async () => folders[folders.push(temporaryFolder()) - 1] ?? "";
  const commands = { ...limits(works), ...(isElsewhere ? {} : { temporaryFolder: made }) };
  const ahead = new LoadAhead({ commands, home: { environment: process.env }, open });
  const faults: unknown[] = [];
  while (await ahead.step().catch((fault: unknown) => faults.push(fault)));
  expect(faults).toHaveLength(fails ? 3 : 0);
  expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
  expect(closed).toBe(calls.length);
  return calls.map(({ name }) => name);
}

describe("calls that are tried while a program waits", () => {
  beforeEach(() => void vi.resetModules());

  it("P24 are made in folders of their own, which are gone afterwards, and once in a process", async () => {
    expect(await tried()).toEqual(["search_file_content", "edit", "run_shell_command"]);
    expect(await tried()).toEqual([]);
  });

  it("P24 are not made where another machine does the calls", async () => {
    expect(await tried({ isElsewhere: true })).toEqual([]);
  });

  it("P24 run a command only where the sandbox works", async () => {
    expect(await tried({ works: false })).toEqual(["search_file_content", "edit"]);
  });

  it("P24 leave nothing when they fail", async () => {
    expect(await tried({ fails: true })).toEqual([]);
  });

  it("P24 succeed with the real tools, which find no program in the project", async () => {
    const [{ LoadAhead }, { ToolSet }, { resolveHome }] = await Promise.all([
      import("./load-ahead.ts"),
      import("./tool-set.ts"),
      import("./home.ts"),
    ]);
    const project = temporaryFolder();
    const PATH = `${join(project, "bin")}:${process.env.PATH}`;
    const states: string[] = [];
    const open: LoadAheadNeeds["open"] = (options, home) => {
      expect(home.environment.PATH).not.toContain(project);
      // So that the next Burin removes it after a crash.
      expect(noted()).toContain(options.root);
      const tools = new ToolSet(options, home);
      const onCall: OnCall = (call) => void states.push(`${call.name} ${call.status}`);
      return {
        runCalls: (calls, { signal }) => tools.runCalls(calls, { signal, onCall }),
        close: () => tools.close(),
      };
    };
    const environment = { ...process.env, PATH, BURIN_HOME: temporaryFolder() };
    const running = join(environment.BURIN_HOME, "running");
    const noted = () =>
      readdirSync(running)
        .map((name) => readFileSync(join(running, name), "utf8"))
        .join("");
    const tools = new ToolSet({ root: project }, resolveHome({ root: project, environment }));
    const commands = { ...tools.commands, ...limits(true), roots: [project] };
    const ahead = new LoadAhead({ commands, home: { environment }, open });
    while (await ahead.step());
    await tools.close();
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

it("P6 what is looked at beside the first request is not looked at beside a later one", async () => {
  const { LoadAhead } = await import("./load-ahead.ts");
  const open: LoadAheadNeeds["open"] = () => ({ runCalls: async () => [], close: async () => {} });
  const looks = { beside: 0, behind: 0 };
  for (const where of ["beside", "behind"] as const) {
    const first = () => {
      looks[where] += 1;
    };
    const needs = { commands: limits(false), home: { environment: process.env }, open, first };
    const ahead = new LoadAhead(needs);
    if (where === "behind") await ahead.during(AbortSignal.abort());
    while (await ahead.step());
    for (let requests = 0; requests < 2; requests += 1) await ahead.during(new AbortController().signal);
  }
  expect(looks).toEqual({ beside: 1, behind: 0 });
});
