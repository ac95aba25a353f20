import { existsSync } from "node:fs";
import { readFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { createSession, type SettingsInput } from "@burin/core";
import { scriptedModel } from "@burin/core/sessions";
import { isAvailable } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import {
  ADD,
  closeLater,
  listDiscovered,
  makeProjects,
  project,
  readComplaints,
  toolbox,
  writeDiscovery,
} from "./discovery-project.ts";
import { collectEvents } from "./events-of.ts";

makeProjects();

describe("tools of a command", () => {
  it("R18 R19 R17 each declaration becomes a DiscoveredTool that the model is told of", async () => {
    const box = toolbox(await writeDiscovery([ADD]));
    expect(await box.ready()).toEqual([]);
    expect(listDiscovered(box)).toEqual(["add"]);
    expect(box.registry.getFunctionDeclarations()).toContainEqual(ADD);
    expect(box.registry.getToolSource("add")).toBe("discovery command");
  });

  it.each(["functionDeclarations", "function_declarations"])("X12 objects that hold %s", async (key) => {
    const box = toolbox(await writeDiscovery([{ [key]: [ADD] }, { name: "plain" }]));
    expect(await box.ready()).toEqual([]);
    expect(listDiscovered(box)).toEqual(["add", "plain"]);
  });

  it.each(["functionDeclarations", "function_declarations", "tools"])(
    "X12 one object that holds %s, without an array around it",
    async (key) => {
      const box = toolbox(await writeDiscovery({ [key]: [ADD, { name: "plain" }] }));
      expect(await box.ready()).toEqual([]);
      expect(listDiscovered(box)).toEqual(["add", "plain"]);
    },
  );

  it("X12 entries as OpenAI's two protocols write them", async () => {
    const { name, ...rest } = ADD;
    const nested = { type: "function", function: { name, ...rest, strict: true } };
    const flat = { type: "function", ...ADD, name: "flat" };
    for (const printed of [[nested, flat], { tools: [nested, flat] }]) {
      const box = toolbox(await writeDiscovery(printed));
      expect(await box.ready()).toEqual([]);
      expect(listDiscovered(box)).toEqual(["add", "flat"]);
      expect(box.registry.getFunctionDeclarations()).toContainEqual(ADD);
      expect((await box.call("add", {})).error?.message).toContain('"a" is required');
    }
  });

  it("X12 the types of a schema may be written in capitals", async () => {
    const parameters = { type: "OBJECT", properties: { a: { type: "NUMBER" } } };
    const box = toolbox(await writeDiscovery([{ name: "add", parameters }]));
    await box.ready();
    expect((await box.call("add", { a: "x" })).error?.type).toBe("invalid_arguments");
    expect((await box.call("add", { a: 1 })).error).toBeUndefined();
  });

  it("R20 the name is the last argument, the arguments are JSON on stdin, the result is stdout", async () => {
    const box = toolbox(await writeDiscovery([ADD]));
    const { llmContent, error } = await box.call("add", { a: 1 });
    expect(error).toBeUndefined();
    expect(JSON.parse(String(llmContent))).toEqual({ argv: ["add"], input: '{"a":1}', cwd: project.root });
  });

  it("R18 no process is started when nothing is configured, and a built-in tool waits for none", async () => {
    const canary = join(project.root, "canary");
    const settings = {
      tools: { toolDiscoveryCommand: `touch ${canary}; cat tools.json`, toolCallCommand: "x" },
    };
    await writeDiscovery([ADD]);
    const box = toolbox(settings);
    expect((await box.call("list_directory", { path: project.root })).error).toBeUndefined();
    await expect(readFile(canary)).rejects.toThrow("ENOENT");
    expect((await box.call("no_such_tool", {})).error?.type).toBe("unknown_tool");
    await readFile(canary);
  });

  it("R26 include and exclude of the settings hold for discovered tools, too", async () => {
    const settings = await writeDiscovery([ADD, { name: "sub" }]);
    const box = toolbox({ tools: { ...settings.tools, exclude: ["su*"] } });
    expect(await box.ready()).toEqual([]);
    expect(listDiscovered(box)).toEqual(["add"]);
  });
});

describe("a discovery that fails", () => {
  it.each([
    ["echo no >&2; exit 3", "failed with exit code 3: no"],
    ["seq 99 >&2; exit 3", "failed with exit code 3: 95\n96\n97\n98\n99"],
    ["no-such-program-here", "failed with exit code 127"],
    ["kill -9 $$", "was killed by SIGKILL"],
    ["head -c 11000000 /dev/zero", "printed more than 10 MiB"],
    ["sleep 60", "timed out after 1 s"],
  ])("R21 %s: told in words, the built-in tools stay", async (toolDiscoveryCommand, message) => {
    const box = toolbox({ tools: { toolDiscoveryCommand, toolCallCommand: "x", toolDiscoverySeconds: 1 } });
    expect(await readComplaints(box)).toContain(message);
    expect((await box.call("list_directory", { path: project.root })).error).toBeUndefined();
  });

  it.each([
    ["cut short", "[\n  {\n", "is not JSON: line 3, column 1"],
    [
      "words before it",
      "> npm run tools\n[]",
      'is not JSON: line 1, column 1: invalid symbol, at "> npm run tools"',
    ],
    ["a comma too many", '[{"name":"a"},]', "line 1, column 15"],
    ["nothing", "", "is not JSON: line 1, column 1: value expected at the end"],
    ["nested", "[".repeat(200_000), "is not JSON"],
    [
      "one declaration",
      '{"name":"add"}',
      "must be a JSON array of function declarations, or an object with functionDeclarations, but is an object",
    ],
    ["null", "null", "but is null"],
  ])("R21 what is no JSON array is told with its place: %s", async (_what, printed, message) => {
    const box = toolbox(await writeDiscovery(printed));
    expect(await readComplaints(box)).toContain(message);
  });

  it("R20 no call command: told, not guessed", async () => {
    const box = toolbox({ tools: { toolDiscoveryCommand: "echo []" } });
    expect(await readComplaints(box)).toContain("tools.toolCallCommand, which runs the tools, is not");
  });

  it("R21 a broken entry disables only itself", async () => {
    const entries = [
      { description: "nameless" },
      { name: "" },
      7,
      null,
      { name: "x".repeat(200) },
      { name: "a b" },
      { name: "-rf" },
      { name: "typed", parameters: "string" },
      { name: "listed", parameters: { type: "array" } },
      ADD,
      { name: "add", description: "again" },
    ];
    const box = toolbox(await writeDiscovery(entries));
    const told = await readComplaints(box);
    expect(listDiscovered(box)).toEqual(["add"]);
    expect(told).toContain("entry 1 has no name; it was left out");
    expect(told).toContain("entry 3 is a number, not an object");
    expect(told).toContain("has a name that model services do not accept");
    expect(told).toContain('"listed": its parameters must be of type object, not "array"');
    expect(told).toContain('"add" is declared twice');
  });

  it("R2 a name of a built-in tool or of an MCP server is never shadowed", async () => {
    const settings = await writeDiscovery([{ name: "read_file" }, { name: "git__push" }, ADD]);
    const box = toolbox({ ...settings, mcpServers: { git: { command: "false" } } });
    const told = await readComplaints(box);
    expect(told).toContain('"read_file" was left out: that name is taken (built-in)');
    expect(told).toContain('"git__push" was left out: names with git__ belong to that MCP server');
    expect(box.registry.getToolSource("read_file")).toBe("built-in");
    expect(listDiscovered(box)).toEqual(["add"]);
  });
});

describe("approval of discovered tools", () => {
  it("R31 asks by default, with the command, the tool and the arguments", async () => {
    const box = toolbox(await writeDiscovery([ADD]), { approvalMode: "default" });
    const answer = await box.run("add", { a: 1 });
    expect(answer).toMatchObject({
      error: { type: "needs_approval" },
      confirmation: {
        kind: "discovered",
        tool: "add",
        args: { a: 1 },
        command: expect.stringMatching(/call\.mjs'? '?add'?$/),
      },
    });
  });

  it("R26 a rule names the tool", async () => {
    const settings = await writeDiscovery([ADD]);
    const rules = { permissions: { allow: ["add"] } };
    const box = toolbox({ ...settings, ...rules }, { approvalMode: "default" });
    expect((await box.call("add", { a: 1 })).error).toBeUndefined();
  });

  it("P24 an always holds for this definition only: a changed one asks again", async () => {
    const asked: string[] = [];
    const confirm = (question: { readonly title: string }) => {
      asked.push(question.title);
      return Promise.resolve({ outcome: "always" as const, scope: "session" as const });
    };
    const box = toolbox(await writeDiscovery([ADD]), { approvalMode: "default", confirm });
    await box.call("add", { a: 1 });
    await box.call("add", { a: 2 });
    expect(asked).toHaveLength(1);
    await writeDiscovery([{ ...ADD, description: "Adds numbers. Also sends them away." }]);
    await box.refreshTools();
    expect((await box.call("add", { a: 1 })).error).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  it("P24 so does one that was stored for later sessions, also when only the command has changed", async () => {
    let asked = 0;
    const confirm = () => {
      asked += 1;
      return Promise.resolve({ outcome: "always" as const, scope: "project" as const });
    };
    const session = (settings: SettingsInput) => toolbox(settings, { approvalMode: "default", confirm });
    const settings = await writeDiscovery([ADD]);
    await session(settings).call("add", { a: 1 });
    expect((await session(settings).call("add", { a: 2 })).error).toBeUndefined();
    expect(asked).toBe(1);
    const other = { tools: { ...settings.tools, toolCallCommand: "cat; echo" } };
    expect((await session(other).call("add", { a: 2 })).llmContent).toContain('{"a":2}');
    expect(asked).toBe(2);
  });

  it("plan mode runs none", async () => {
    const box = toolbox(await writeDiscovery([ADD]), { approvalMode: "plan" });
    expect((await box.call("add", { a: 1 })).error?.type).toBe("denied");
  });
});

describe("sandbox.discovered", () => {
  it("P53 both commands write inside the root and nowhere else; where there is no sandbox they do not run", async () => {
    const outside = join(project.top, "outside");
    const call = `import { writeFileSync } from "node:fs";
      const attempt = (file) => { try { writeFileSync(file, "x"); return "ok"; } catch (error) { return error.code; } };
      console.log(attempt("inside"), attempt(${JSON.stringify(outside)}) !== "ok" || "beside");`;
    const settings = await writeDiscovery([ADD], call);
    const box = toolbox({ ...settings, sandbox: { discovered: true } });
    const told = await readComplaints(box);
    if (!isAvailable("bwrap")) return expect(told).toContain("it must run in the sandbox, and there is none");
    expect(told).toBe("");
    expect((await box.call("add", { a: 1 })).llmContent).toMatch(/^ok /);
    expect(existsSync(join(project.root, "inside"))).toBe(true);
    expect(existsSync(outside)).toBe(false);
  });
});

describe("a session", () => {
  async function run(settings: SettingsInput, change?: () => Promise<void>) {
    const requests: string[][] = [];
    const scripted = scriptedModel([{ text: "one" }, { text: "two" }]);
    const model: typeof scripted = {
      ...scripted,
      name: scripted.name,
      stream: (request, signal) => {
        requests.push(request.tools.map(({ name }) => name));
        return scripted.stream(request, signal);
      },
    };
    const session = closeLater(createSession({ root: project.root, model, settings }));
    const events = await collectEvents(session.run("first"));
    await change?.();
    for await (const event of session.run("second")) events.push(event);
    return { requests, notices: events.flatMap((event) => (event.type === "notice" ? event.message : [])) };
  }

  it("R19 R17 tells the model of discovered tools from its first request on", async () => {
    const { requests } = await run(await writeDiscovery([ADD]));
    expect(requests[0]).toContain("add");
  });

  it("R21 says in a notice what went wrong, once", async () => {
    const { notices, requests } = await run(await writeDiscovery("nonsense"));
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain("Tools from discovery command: What cat tools.json printed is not JSON");
    expect(requests[1]).toContain("read_file");
  });

  it("a slow discovery holds up the first request no longer than its patience; a call of its tool waits", async () => {
    const { tools } = await writeDiscovery([ADD]);
    const requests: string[][] = [];
    const scripted = scriptedModel([{ calls: [{ name: "add", args: { a: 1 } }] }, { text: "done" }]);
    const model: typeof scripted = {
      ...scripted,
      name: scripted.name,
      stream: (request, signal) => {
        requests.push(request.tools.map(({ name }) => name));
        return scripted.stream(request, signal);
      },
    };
    const settings = { tools: { ...tools, toolDiscoveryCommand: "sleep 3; cat tools.json" } };
    const session = closeLater(createSession({ root: project.root, model, settings, approvalMode: "yolo" }));
    const events = await collectEvents(session.run("add"));
    expect(events.at(-1)).toMatchObject({ status: "success", result: "done" });
    const calls = events.flatMap((event) => (event.type === "tool_call" ? event.call.status : []));
    expect(calls.at(-1)).toBe("success");
    expect(requests.map((names) => names.includes("add"))).toEqual([false, true]);
  });

  it("discovers again when a file that the command names has changed", async () => {
    const { requests } = await run(await writeDiscovery([ADD]), async () => {
      await writeDiscovery([ADD, { name: "newer" }]);
      await utimes(join(project.root, "tools.json"), 1, 1);
    });
    expect(requests[0]).not.toContain("newer");
    expect(requests[1]).toContain("newer");
  });
});
