import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Confirmation, ToolboxOptions, ToolResult } from "@burin/core";
import { loadSettings, type OnCall, openTrust, readFolderTrust } from "@burin/core/internal";
import { describe, expect, it } from "vitest";
import { fixture, project, useProject } from "./project.ts";

useProject();

const yolo = { approvalMode: "yolo" } as const;
const textOf = ({ llmContent }: ToolResult) => JSON.stringify(llmContent);

function openOne(mode: string, more: object = {}, options: Partial<ToolboxOptions> = yolo) {
  return project.open({ evil: { ...fixture(mode), ...more } }, options);
}

describe("a server of the project", () => {
  it("P24 is not started when its program has changed since the folder was trusted", async () => {
    const { root, home } = project;
    const program = join(root, "serve.mjs");
    const { args } = fixture();
    const mcpServers = { own: { command: process.execPath, args: ["serve.mjs", ...args.slice(1)] } };
    mkdirSync(join(root, ".burin"));
    writeFileSync(join(root, ".burin", "settings.json"), JSON.stringify({ mcpServers }));
    writeFileSync(program, `import ${JSON.stringify(args[0])};\n`);
    const effects = (await readFolderTrust({ home, root }))?.effects ?? [];
    await (await openTrust(home)).storeAnswer(root, true, effects);
    const { settings } = await loadSettings({ home, root });
    expect(await project.open({}, { settings }).ready()).toEqual([]);
    writeFileSync(program, `import fs from "node:fs"; fs.writeFileSync("canary", "");\n`);
    const failures = await project.open({}, { settings }).ready();
    expect(JSON.stringify(failures)).toContain("has changed since the folder was trusted");
    expect(existsSync(join(root, "canary"))).toBe(false);
  });
});

function starts(): number {
  return readFileSync(join(project.root, "starts"), "utf8").length;
}

describe("what a hostile server says of its tools", () => {
  it("P16 X11 names of 200 characters, other scripts and built-in tools: fitting, unique, stable, each callable", async () => {
    const toolbox = openOne("names");
    const failures = await toolbox.ready();
    const names = toolbox.registry.getAllTools().map((tool) => tool.name);
    const its = names.filter((name) => name.startsWith("evil__"));
    expect(its).toHaveLength(7);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(names).size).toBe(names.length);
    for (const name of its) expect((await toolbox.call(name, {})).error).toBeUndefined();
    expect(textOf(await toolbox.call("evil__read_file", {}))).toContain("read_file was called");
    expect(toolbox.registry.getToolSource("read_file")).toBe("built-in");
    expect(toolbox.registry.getTool("read_file")?.displayName).toBe("ReadFile");
    expect(JSON.stringify(failures)).toContain("listed twice");
    const again = openOne("names");
    await again.ready();
    expect(again.registry.getAllTools().map((tool) => tool.name)).toEqual(names);
  });

  it("R25 X11 two aliases that come to the same name are both there, and a plain one keeps its own", async () => {
    const aliases = ["my server", "my.server", "my_server"];
    const servers = Object.fromEntries(aliases.map((alias) => [alias, fixture()]));
    const toolbox = project.open(servers, { approvalMode: "yolo" });
    expect(await toolbox.ready()).toEqual([]);
    const names = toolbox.registry.getAllTools().map((tool) => tool.name);
    const echoes = names.filter((name) => name.endsWith("__echo"));
    expect(echoes).toHaveLength(3);
    for (const name of echoes) expect(textOf(await toolbox.call(name, { text: "it" }))).toContain("it");
    expect(toolbox.registry.getToolSource("my_server__echo")).toBe("mcp:my_server");
    const alone = project.open({ "my server": fixture() }, { approvalMode: "yolo" });
    await alone.ready();
    expect(alone.registry.getToolSource("my_server__echo")).toBe("mcp:my server");
  });

  it("P16 R25 X11 an alias that looks like another server's tool: other names, and a rule for one covers no other", async () => {
    const aliases = [
      "evil",
      "evil__two",
      "evil_",
      "evil__",
      "_",
      "__",
      `${"e".repeat(21)}__${"e".repeat(21)}`,
    ];
    const servers = Object.fromEntries(aliases.map((alias) => [alias, fixture("separators")]));
    const permissions = { allow: ["evil__*"] };
    const toolbox = project.open({}, { settings: { mcpServers: servers, permissions } });
    expect(await toolbox.ready()).toEqual([]);
    const { registry } = toolbox;
    const tools = registry.getAllTools().map(({ name }) => [registry.getToolSource(name), name] as const);
    const found = tools.filter(([source]) => source?.startsWith("mcp:"));
    expect(found).toHaveLength(aliases.length * 3);
    const sources = new Map<string, Set<string>>();
    for (const [source = "", name] of found) {
      const front = name.slice(0, name.indexOf("__", 1));
      sources.set(front, (sources.get(front) ?? new Set()).add(source));
    }
    expect([...sources.values()].map((all) => [...all].length)).toEqual(aliases.map(() => 1));
    for (const [source, name] of found) {
      const { error } = await toolbox.call(name, {});
      expect(error?.type, name).toBe(source === "mcp:evil" ? undefined : "needs_approval");
    }
  });

  it("P16 a zoo of schemas: those that work are callable, those that cannot are named, no other suffers", async () => {
    const toolbox = openOne("schemas");
    const failures = JSON.stringify(await toolbox.ready());
    for (const name of ["ref", "recursive", "loop", "any_of", "unresolved", "regex"]) {
      const { error } = await toolbox.call(`evil__${name}`, { a: "x" });
      expect(
        error?.type === undefined || error.type === "invalid_arguments",
        `${name}: ${error?.message}`,
      ).toBe(true);
    }
    expect(textOf(await toolbox.call("evil__any_of", { a: true }))).toContain("Invalid parameters");
    expect(failures).toContain('\\"deep\\" was left out');
    expect(failures).toContain('\\"huge\\" was left out');
    expect(failures).toMatch(/as_task.. was left out: it can only be called as a task/);
  });

  it("P12 a pattern that would take for ever is left to the server", async () => {
    const toolbox = openOne("schemas");
    const { error } = await toolbox.call("evil__regex", { a: `${"a".repeat(50)}!` });
    expect(error).toBeUndefined();
  });

  it("P21 a description cannot hide anything or drive a terminal", async () => {
    const toolbox = openOne("escapes");
    await toolbox.ready();
    const description = toolbox.registry.getTool("evil__echo")?.description ?? "";
    expect(description).toContain("\\x1b]52");
    expect(description).toContain("\\u{202e}");
    const { returnDisplay } = await toolbox.call("evil__echo", {});
    expect(returnDisplay).toContain("\\x1b]0;title");
  });

  it("results stand between marks that the server cannot know", async () => {
    const toolbox = openOne("escapes");
    const marks = async () =>
      /^<(untrusted-[0-9a-f]{12}) [^>]*>\n.*<\/\1>$/s.exec(
        String([(await toolbox.call("evil__echo", {})).llmContent].flat()[0]),
      )?.[1];
    const [first, second] = [await marks(), await marks()];
    expect(first).toBeDefined();
    expect(first).not.toBe(second);
  });

  it("R8 asks with the server, the tool and the arguments; hints of the server change nothing", async () => {
    const asked: Confirmation[] = [];
    const confirm = (question: Confirmation) => {
      asked.push(question);
      return Promise.resolve({ outcome: "cancel" } as const);
    };
    const toolbox = openOne("hints", {}, { confirm });
    await toolbox.call("evil__echo", { text: "x" });
    expect(asked[0]).toMatchObject({ kind: "mcp", server: "evil", tool: "echo", args: { text: "x" } });
    expect(toolbox.registry.getTool("evil__echo")?.kind).toBe("execute");
  });

  it("P24 an always holds for this definition only; a changed one asks again and says so", async () => {
    const asked: string[] = [];
    const confirm = (question: Confirmation) => {
      asked.push(question.title);
      return Promise.resolve({ outcome: "always", scope: "session" } as const);
    };
    const toolbox = openOne("changed", {}, { confirm });
    await toolbox.call("evil__echo", { text: "1" });
    await toolbox.call("evil__echo", { text: "2" });
    expect(asked).toHaveLength(1);
    await toolbox.close();
    const next = openOne("changed", {}, { confirm });
    await next.ready();
    await next.call("evil__echo", { text: "3" });
    expect(asked).toHaveLength(2);
    expect(asked[1]).toContain("has changed since it was last allowed");
  });

  it("a rule for the server, and trust, let its tools run unasked", async () => {
    const ruled = project.open(
      { evil: fixture() },
      { settings: { mcpServers: { evil: fixture() }, permissions: { allow: ["evil__*"] } } },
    );
    expect(textOf(await ruled.call("evil__echo", { text: "by rule" }))).toContain("by rule");
    const trusted = openOne("plain", { trust: true }, {});
    expect(textOf(await trusted.call("echo", { text: "by trust" }))).toContain("by trust");
  });
});

describe("what a hostile server does", () => {
  it("R14 a tool that fails is an error with the server's words", async () => {
    const { error } = await openOne("plain").call("evil__fail", {});
    expect(error).toMatchObject({ type: "mcp_tool_error", message: "it failed on purpose" });
  });

  it("P12 a result of 10 MB is cut for the model and for the person", async () => {
    const result = await openOne("big").call("evil__echo", {});
    expect(textOf(result).length).toBeLessThan(150_000);
    expect(String(result.returnDisplay).length).toBeLessThan(15_000);
  });

  it("what it prints that is no message does no harm", async () => {
    expect(textOf(await openOne("garbage").call("evil__echo", { text: "fine" }))).toContain("fine");
  });

  it.each(["number", "code", "both", "deep"])(
    "R21 an answer that breaks the protocol fails its call at once: %s",
    async (kind) => {
      const result = await openOne("unsound", { timeout: 60_000 }).call("evil__echo", { text: kind });
      expect(result.error?.message).toContain("its answer is not one of the protocol");
    },
  );

  it("P12 what can be read of an odd answer is read: one wrong field does not lose it", async () => {
    const toolbox = openOne("unsound");
    const answer = (text: string) => toolbox.call("evil__echo", { text });
    expect((await answer("odd_error")).error?.message).toBe("it failed");
    for (const kind of ["odd_hint", "odd_text", "odd_keys"]) {
      expect(textOf(await answer(kind))).toContain("it worked");
    }
    expect(textOf(await answer("odd_block"))).toContain("frames");
  });

  it("floods of errors, notices and answers that nobody asked for do not stop a call", async () => {
    const toolbox = openOne("floods");
    expect(textOf(await toolbox.call("evil__echo", { text: "through" }))).toContain("through");
    expect(textOf(await toolbox.call("list_directory", { path: project.root }))).toContain("starts");
  });

  it("P12 a flood of progress is shown now and then, and the call ends well", async () => {
    const toolbox = openOne("progress");
    const shown: unknown[] = [];
    const onCall: OnCall = (call) => shown.push(call.status === "executing" ? call.display : undefined);
    const answer = await toolbox.run("evil__echo", { text: "through" }, { onCall });
    expect(JSON.stringify(answer)).toContain("through");
    expect(shown).toContain("20000");
    expect(shown.length).toBeLessThan(500);
  });

  it.each(["at-once", "one-by-one", "long"])(
    "P12 P28 R8 floods of questions are declined with one notice, and the next call may ask again: %s",
    async (kind) => {
      const asked: Confirmation[] = [];
      const confirm = async (question: Confirmation) => {
        asked.push(question);
        await pause(5);
        return { outcome: "cancel" } as const;
      };
      const toolbox = openOne("asks", { args: fixture("asks", kind).args }, { ...yolo, confirm });
      await toolbox.ready();
      for (let call = 1; call < 4; call += 1) {
        const flood = toolbox.call("evil__echo", {});
        expect((await toolbox.call("list_directory", { path: project.root })).error).toBeUndefined();
        expect(textOf(await flood)).toContain(Array(50).fill("decline").join());
        expect(asked).toHaveLength(kind === "long" ? 0 : 5 * call);
      }
      const notices = toolbox.discoveryFailures.map(({ message }) => message);
      const why = kind === "long" ? "it is too long" : "5 others wait for an answer or got none";
      expect(notices).toEqual([expect.stringContaining(`questions of it to you are declined: ${why}`)]);
    },
  );

  it("P12 P28 a server that asks without end and reads no answer is ended, and with it the call", async () => {
    const { error } = await openOne("unread", { timeout: 60_000 }).call("evil__echo", {});
    expect(error?.type).toBe("mcp_connection_lost");
    expect(error?.message).toContain("it reads no answers");
  });

  it("R8 who answers a server's questions is asked all of them", async () => {
    const confirm = () => Promise.resolve({ outcome: "filled", values: { name: "Ada" } } as const);
    const toolbox = openOne("asks", { args: fixture("asks", "one-by-one").args }, { ...yolo, confirm });
    expect(textOf(await toolbox.call("evil__echo", {}))).toContain(Array(50).fill("accept").join());
    expect(toolbox.discoveryFailures).toEqual([]);
  });

  it.each([
    ["exit", {}, "the licence is missing"],
    ["no-protocol", { startTimeout: 4000 }, "this is no server"],
    ["endless-line", { startTimeout: 20_000 }, "a line of more than"],
  ])("R21 a server that cannot be used is reported with its last words: %s", async (mode, more, words) => {
    const failures = await openOne(mode, more).ready();
    expect(failures).toHaveLength(1);
    expect(failures[0]?.message).toContain(words);
  });

  it("a server whose program is missing, or whose variable is not set, is reported in words", async () => {
    const toolbox = project.open({
      none: { command: "no-such-program-at-all" },
      unset: { ...fixture(), env: { KEY: "$NO_SUCH_VARIABLE" } },
    });
    const told = JSON.stringify(await toolbox.ready());
    expect(told).toContain("no-such-program-at-all");
    expect(told).toContain("NO_SUCH_VARIABLE, which is not set");
  });

  it("P28 a server that dies is started again with the next call; the call is not repeated", async () => {
    const toolbox = openOne("crash-once");
    const lost = await toolbox.call("evil__echo", { text: "1" });
    expect(lost.error?.type).toBe("mcp_connection_lost");
    expect(textOf(await toolbox.call("evil__echo", { text: "2" }))).toContain("2");
    expect(starts()).toBe(2);
  });

  it("P28 a call is repeated when a trusted server calls the tool harmless, and only then", async () => {
    const trusted = openOne("hints", { trust: true }, {});
    expect(textOf(await trusted.call("evil__echo", { text: "again" }))).toContain("again");
    expect(starts()).toBe(2);
  });

  it("P28 a server that always dies costs one start for each call, and never hangs", async () => {
    const toolbox = openOne("crash");
    for (let call = 0; call < 3; call += 1) {
      expect((await toolbox.call("evil__echo", {})).error?.type).toBe("mcp_connection_lost");
    }
    expect(starts()).toBe(3);
  });

  it("a call that hangs ends at its limit, the dead server is ended, and a cancelled call at once", async () => {
    const toolbox = openOne("hang", { timeout: 1500 });
    await toolbox.ready();
    const hung = await toolbox.call("evil__echo", {});
    expect(hung.error?.message).toMatch(/timed out/i);
    const stop = new AbortController();
    const call = toolbox.call("evil__echo", {}, stop.signal);
    await pause(100);
    stop.abort();
    expect((await call).error?.type).toBe("cancelled");
  });

  it("P28 a call made before the server is up waits for it, by its full name", async () => {
    const toolbox = openOne("sleep", { args: fixture("sleep", "800").args });
    expect(textOf(await toolbox.call("evil__echo", { text: "late" }))).toContain("late");
  });

  it("P28 a session does not wait for a server that sleeps, neither for its first request nor for its end", async () => {
    const toolbox = project.open({ evil: fixture("sleep", "60000") }, yolo);
    void toolbox.ready();
    expect((await toolbox.call("list_directory", { path: project.root })).error).toBeUndefined();
    await expect.poll(() => existsSync(join(project.root, "starts")), { timeout: 20_000 }).toBe(true);
    await toolbox.close();
    expect(starts()).toBe(1);
  });

  it("P28 the list of an earlier session declares the tools before the server is up", async () => {
    const slow = { ...fixture("sleep", "400") };
    const first = project.open({ evil: slow }, yolo);
    await first.ready();
    await first.close();
    const second = project.open({ evil: slow }, yolo);
    expect(textOf(await second.call("evil__echo", { text: "known" }))).toContain("known");
    expect(existsSync(join(project.home, "cache", "mcp"))).toBe(true);
  });
});
