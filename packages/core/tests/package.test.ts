import { execFile, execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startFakeModelServer } from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeAll, describe, expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
const node = process.execPath;

let consumer: string;

/** A program of somebody else's, with the packed package as its only dependency. */
beforeAll(() => {
  consumer = createTemporaryFolder();
  execFileSync(node, ["build.mjs", "--types"], { cwd: repository });
  const packed = execFileSync(
    "npm",
    ["pack", "--silent", "--ignore-scripts", "--pack-destination", consumer],
    {
      cwd: join(repository, "packages/core"),
      encoding: "utf8",
    },
  );
  const home = join(consumer, "node_modules/@burin/core");
  mkdirSync(home, { recursive: true });
  execFileSync("tar", ["-xzf", join(consumer, packed.trim()), "-C", home, "--strip-components=1"]);
  writeFileSync(join(consumer, "package.json"), '{ "type": "module" }');
});

/** With a home of its own: what runs beside it has left something in the user's. */
function program(name: string, text: string): string {
  writeFileSync(join(consumer, name), text);
  const env = { ...process.env, BURIN_HOME: join(consumer, "home") };
  return execFileSync(node, [name], { cwd: consumer, encoding: "utf8", env });
}

function codeBlocks(page: string): string[] {
  const content = readFileSync(join(repository, page), "utf8");
  return [...content.matchAll(/```js\n(.*?)```/gs)].map((found) => found[1] ?? "");
}

describe("@burin/core as others get it", () => {
  it("the examples of README.md and of the page on the contract run as they stand", () => {
    const [embed] = codeBlocks("README.md");
    expect(program("embed.js", embed ?? "")).toContain(
      `Directory listing for ${consumer}:\n[DIR] node_modules`,
    );
    const greetings = codeBlocks("docs/tool-contract.md");
    expect(greetings).toHaveLength(2);
    for (const greet of greetings) expect(program("greet.js", greet)).toContain("llmContent: 'Hello, Ada.'");
  });

  it("the examples of the page on the library run as they stand", async () => {
    const [ten = "", loop = "", , session = "", model = ""] = codeBlocks("docs/library.md");
    expect(program("ten.js", ten)).toMatch(/\{ hits: \d+ \}\nlist_directory success\nglob success\n$/);
    const service = await startFakeModelServer([
      { calls: [{ name: "list_directory", args: { path: "." } }] },
      { text: "There are some." },
    ]);
    const env = { ...process.env, OPENAI_BASE_URL: service.baseUrl, OPENAI_MODEL: "m" };
    writeFileSync(join(consumer, "loop.js"), loop);
    const { stdout } = await promisify(execFile)(node, ["loop.js"], { cwd: consumer, env });
    await service.close();
    expect(stdout).toBe("There are some.\n");
    const messages = service.requests[1]?.body.messages as unknown[];
    expect(messages.at(-1)).toMatchObject({
      role: "tool",
      tool_call_id: "call_1",
      content: expect.stringContaining("node_modules"),
    });
    expect(program("session.js", session)).toMatch(
      /asks: Create hello.txt\?\nI wrote hello.txt.\nsuccess\n$/,
    );
    expect(readFileSync(join(consumer, "hello.txt"), "utf8")).toBe("Hello.\n");
    expect(program("model.js", model)).toBe("You said: Hello\n");
  });

  it("importing it starts nothing: the program ends at once and prints nothing", () => {
    expect(program("idle.js", 'import "@burin/core"; import "@burin/core/testing";')).toBe("");
  });

  it("importing it loads no part of Node for the network, for programs or for ciphers", () => {
    const parts = ["net", "http", "https", "tls", "zlib", "crypto", "child_process", "worker_threads"];
    const loaded = program(
      "parts.js",
      `const before = new Set(process.moduleLoadList);
await import("@burin/core");
const late = process.moduleLoadList.filter((one) => !before.has(one));
console.log(JSON.stringify(late.map((one) => one.replace("NativeModule ", ""))));`,
    );
    expect((JSON.parse(loaded) as string[]).filter((name) => parts.includes(name))).toEqual([]);
    expect(JSON.parse(loaded)).toContain("module");
  });

  it("P45 importing it loads its classes alone, and a toolbox that reads a file neither models nor sessions", () => {
    const loaded = program(
      "chunks.js",
      `import { createRequire } from "node:module";
const { cache } = createRequire(import.meta.url);
const loaded = () => Object.keys(cache).map((path) => path.replace(/.*[/\\\\]|-[\\w-]*\\.cjs$/g, ""));
const { createToolbox } = await import("@burin/core");
const imported = loaded();
const toolbox = createToolbox({ root: "." });
await toolbox.call("read_file", { path: import.meta.filename });
await toolbox.close();
console.log(JSON.stringify([imported, loaded()]));`,
    );
    const [imported, used] = JSON.parse(loaded) as [string[], string[]];
    expect(imported.filter((name) => name !== "rolldown")).toEqual(["door"]);
    expect(used).toContain("calls");
    expect(used.filter((name) => ["models", "session", "changes", "commands"].includes(name))).toEqual([]);
  });

  it("require gives the module that import gives, and no warning", () => {
    writeFileSync(
      join(consumer, "required.cjs"),
      `const { BaseTool, createToolbox } = require("@burin/core");
const { startFakeModelServer } = require("@burin/core/testing");
import("@burin/core").then(async (imported) => {
  const toolbox = createToolbox({ root: __dirname });
  const { error } = await toolbox.call("list_directory", { path: "." });
  await toolbox.close();
  console.log(BaseTool === imported.BaseTool, typeof startFakeModelServer, error);
});`,
    );
    const { stdout, stderr } = spawnSync(node, ["required.cjs"], { cwd: consumer, encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: "true function undefined\n", stderr: "" });
  });

  it("X9 require gives it also where no ES module can be required, as in Jest", () => {
    const code = `const { createToolbox, ToolRegistry } = require("@burin/core");
const { scriptedModel } = require("@burin/core/testing");
console.log(typeof createToolbox, typeof ToolRegistry, scriptedModel([]).name);`;
    writeFileSync(join(consumer, "old.cjs"), code);
    const args = ["--no-experimental-require-module", "old.cjs"];
    const { stdout } = spawnSync(node, args, { cwd: consumer, encoding: "utf8" });
    expect(stdout).toBe("function function scripted\n");
  });

  it.each([
    ["edit-match", "findEdit"],
    ["shell-judge", "judgeCommand"],
  ])("X9 so it does for @burin/%s, which is a package of its own", (name, exported) => {
    const code = `console.log(typeof require(${JSON.stringify(join(repository, "packages", name))}).${exported})`;
    const args = ["--no-experimental-require-module", "--eval", code];
    expect(spawnSync(node, args, { encoding: "utf8" }).stdout).toBe("function\n");
  });

  it("X9 what copies only the files that it sees imported, as Next.js and Nitro, copies all of the library", () => {
    const installed = join(consumer, "node_modules/@burin/core");
    const seen = new Set([join(installed, "dist/index.js")]);
    for (const file of seen) {
      const taken = /\bcjs\b/.test(relative(installed, file))
        ? /\brequire\("(\.[^"]+)"/g
        : /\b(?:import\(|from ?)"(\.[^"]+)"/g;
      for (const [, path = ""] of readFileSync(file, "utf8").matchAll(taken))
        seen.add(join(dirname(file), path));
    }
    const server = createTemporaryFolder();
    for (const file of [join(installed, "package.json"), join(installed, "dist/cjs/package.json"), ...seen])
      cpSync(file, join(server, relative(consumer, file)));
    const page = join(server, "page.ipynb");
    writeFileSync(page, '{"nbformat":4,"cells":[{"cell_type":"markdown","source":"Hello"}]}');
    const code = `import { createSession, createToolbox, scriptedModel } from "@burin/core";
const toolbox = createToolbox({ root: ".", approvalMode: "yolo" });
const calls = { read_file: { absolute_path: ${JSON.stringify(page)} }, run_shell_command: { command: "echo it ran" } };
for (const [name, args] of Object.entries(calls)) console.log((await toolbox.call(name, args)).llmContent);
await toolbox.close();
const session = createSession({ root: ".", model: scriptedModel([{ text: "It said so." }]) });
for await (const { result } of session.run("Hello")) if (result) console.log(result);`;
    writeFileSync(join(server, "program.mjs"), code);
    const { stdout, stderr } = spawnSync(node, ["program.mjs"], { cwd: server, encoding: "utf8" });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/## Cell 1.*it ran.*It said so\./s);
  });

  it.each([
    ["", "createToolbox"],
    ["adapters", "anthropic"],
    ["machine", "nodeMachine"],
    ["sessions", "openStore"],
    ["testing", "startFakeModelServer"],
  ])("resolvers that know no exports find the module and its types by the folder: %j", (inner, name) => {
    const folder = join(consumer, "node_modules/@burin/core", inner);
    // For a path Node itself looks at "main" alone.
    const code = `console.log(typeof require(${JSON.stringify(folder)}).${name})`;
    expect(program("old.cjs", code)).toMatch(/^(function|object)\n$/);
    const { types } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { types: string };
    expect(readFileSync(join(folder, types), "utf8")).toMatch(/^export /m);
  });

  it("runs in a worker thread", () => {
    const inside = `import { parentPort } from "node:worker_threads";
import { createToolbox } from "@burin/core";
const toolbox = createToolbox({ root: process.cwd(), settings: { permissions: { allow: ["run_shell_command"] } } });
const { llmContent } = await toolbox.call("run_shell_command", { command: "echo from a worker" });
await toolbox.close();
parentPort.postMessage(llmContent);`;
    writeFileSync(join(consumer, "inside.js"), inside);
    const outside = `import { Worker } from "node:worker_threads";
new Worker(new URL("inside.js", import.meta.url)).on("message", (said) => console.log(said));`;
    writeFileSync(join(consumer, "outside.js"), outside);
    const { stdout, stderr } = spawnSync(node, ["outside.js"], { cwd: consumer, encoding: "utf8" });
    expect(stdout).toContain("from a worker");
    expect(stderr).toBe("");
  });

  it("its types hold in a strict program without any other types or settings of TypeScript", () => {
    writeFileSync(
      join(consumer, "typed.ts"),
      `import { BaseTool, createSession, createToolbox, type AgentEvent, type ToolResult } from "@burin/core";
import { startFakeModelServer } from "@burin/core/testing";
class Greet extends BaseTool<{ name: string }> {
  readonly name = "greet";
  readonly displayName = "Greet";
  readonly kind = "read";
  readonly description = "Greets.";
  readonly parameterSchema = { type: "object", properties: { name: { type: "string" } } };
  getDescription(params: { name: string }): string { return params.name; }
  async execute(params: { name: string }): Promise<ToolResult> {
    return { llmContent: params.name, returnDisplay: params.name };
  }
}
export const toolbox = createToolbox({ root: ".", tools: [new Greet()] });
export const result: Promise<ToolResult> = toolbox.call("greet", { name: "Ada" });
export async function events(): Promise<AgentEvent[]> {
  const server = await startFakeModelServer([{ text: "hi" }]);
  const session = createSession({ root: ".", settings: { model: { name: "m", baseUrl: server.baseUrl } } });
  const all: AgentEvent[] = [];
  for await (const event of session.run("hello")) all.push(event);
  return all;
}
`,
    );
    writeFileSync(
      join(consumer, "wrong.ts"),
      'import { createToolbox } from "@burin/core"; createToolbox({ rot: "." });',
    );
    const options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext"];
    const typeRoots = ["--typeRoots", join(repository, "node_modules/@types")];
    const compiler = join(repository, "node_modules/typescript/bin/tsc");
    const compile = (file: string) =>
      spawnSync(node, [compiler, ...options, ...typeRoots, file], { cwd: consumer, encoding: "utf8" }).stdout;
    expect(compile("typed.ts")).toBe("");
    writeFileSync(
      join(consumer, "required.cts"),
      `import { createToolbox, type ToolResult } from "@burin/core";
import { startFakeModelServer } from "@burin/core/testing";
export const result: Promise<ToolResult> = createToolbox({ root: "." }).call("greet", {});
export const server = startFakeModelServer([{ text: "hi" }]);
`,
    );
    expect(compile("required.cts")).toBe("");
    expect(compile("wrong.ts")).toContain("'rot' does not exist");
  });

  it("R1 R5 what others write against it compiles without a cast under the strictest settings", () => {
    for (const name of [
      "openai",
      "@anthropic-ai",
      "@google",
      "ai",
      "@ai-sdk",
      "@langchain",
      "zod",
      "valibot",
    ]) {
      const place = join(consumer, "node_modules", name);
      rmSync(place, { force: true });
      symlinkSync(join(repository, "node_modules", name), place);
    }
    cpSync(join(repository, "examples/loops"), join(consumer, "loops"), { recursive: true });
    writeFileSync(
      join(consumer, "forms.ts"),
      `import type Anthropic from "@anthropic-ai/sdk";
import { BaseTool, createToolbox, defineTool, type ToolResult } from "@burin/core";
import { anthropic, openai } from "@burin/core/adapters";
import { openStore } from "@burin/core/sessions";
import type OpenAI from "openai";
import * as v from "valibot";
import { z } from "zod";

const shout = defineTool({ name: "shout", description: "Shouts.", parameterSchema: z.object({ text: z.string() }),
  execute: async (p) => ({ llmContent: p.text.toUpperCase(), returnDisplay: "shouted" }) });
const whisper = defineTool({ name: "whisper", kind: "read", description: "Whispers.",
  parameterSchema: v.object({ text: v.string() }), execute: ({ text }) => text.toLowerCase() });
const add = defineTool({ name: "add", kind: "read", description: "Adds.",
  parameterSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a"] },
  execute: ({ a, b = 0 }) => String(a + b) });
class Count extends BaseTool<{ text: string }> {
  constructor() { super({ name: "count", displayName: "Count", kind: "read", description: "...", parameterSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } }); }
  override getDescription(params: { text: string }) { return \`count \${params.text}\`; }
  override async execute(params: { text: string }): Promise<ToolResult> { return { llmContent: params.text, returnDisplay: "" }; }
}
class Greet extends BaseTool<{ name: string }> {
  name = "greet";
  displayName = "Greet";
  kind = "read";
  description = "Greets.";
  parameterSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  getDescription({ name }: { name: string }) { return name; }
  async execute({ name }: { name: string }) { return { llmContent: name, returnDisplay: name }; }
}
export async function sessions(id: string, questionId: string): Promise<void> {
  const store = openStore({ home: "/home", root: "." });
  const session = await store.resume(id, { instructions: "You are a librarian." });
  session.answer(questionId, { outcome: "once" });
  for await (const event of session.continue())
    if (event.type === "done" && event.status === "error") console.log(event.error.message);
  for (const { id, parked } of await store.list()) console.log(id, parked?.confirmation.title);
  await (await store.fork(id, { at: 1 })).close();
}
const toolbox = createToolbox({ root: ".", home: false, toolTimeouts: { shout: 10 }, tools: [shout, whisper, add, new Count(), new Greet()] });
export async function answer(message: Anthropic.Message, choice: OpenAI.Chat.Completions.ChatCompletion.Choice, signal: AbortSignal) {
  const tools: Anthropic.Tool[] = anthropic.tools(toolbox);
  const answer: Anthropic.MessageParam = { role: "user", content: await anthropic.results(toolbox, message.content, { signal }) };
  const more: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = await openai.results(toolbox, choice.message.tool_calls ?? [], {});
  const results = await toolbox.callAll([{ name: "greet", args: { name: "a" } }], { signal });
  const words: (string | undefined)[] = results.map(({ status, error, data }) => status === "error" ? error.type : data?.changedFiles?.[0]?.path);
  return [tools, answer, more, words];
}
`,
    );
    writeFileSync(join(consumer, "answers.ts"), ANSWERS);
    writeFileSync(join(consumer, "wrong.ts"), WRONG_ANSWERS);
    writeFileSync(
      join(consumer, "half.ts"),
      `import { BaseTool } from "@burin/core";
export class Half extends BaseTool<{ text: string }> { override getDescription() { return "half"; } }`,
    );
    const strict = ["strict", "exactOptionalPropertyTypes", "noUncheckedIndexedAccess", "noImplicitOverride"];
    const more = ["noPropertyAccessFromIndexSignature", "noImplicitReturns", "skipLibCheck", "noEmit"];
    const options = [...strict, ...more].map((name) => `--${name}`);
    const compiler = join(repository, "node_modules/typescript/bin/tsc");
    const typeRoots = ["--typeRoots", join(repository, "node_modules/@types")];
    const target = ["--target", "es2022", "--module", "nodenext"];
    const compile = (files: readonly string[]) => {
      const args = [compiler, ...options, ...target, ...typeRoots, ...files];
      return spawnSync(node, args, { cwd: consumer, encoding: "utf8" }).stdout;
    };
    const loops = readdirSync(join(consumer, "loops")).map((name) => `loops/${name}`);
    expect(loops.length).toBeGreaterThan(5);
    expect(compile(["forms.ts", "answers.ts", ...loops])).toBe("");
    expect(compile(["wrong.ts"]).match(/^wrong\.ts\(\d/gm)).toEqual([
      "wrong.ts(2",
      "wrong.ts(3",
      "wrong.ts(4",
    ]);
    expect(compile(["half.ts"])).toContain("does not implement inherited abstract member");
  });
});

/** What a question takes, what an end says, and a machine of the functions of Node. */
const ANSWERS = `import * as fs from "node:fs/promises";
import { type Confirm, type Confirmation, createToolbox, type Decision, describeEffects, buildQuestionView } from "@burin/core";
import { type MachineFunctions, machineOf } from "@burin/core/machine";
import type { ChatModel, RunEnd, RunErrorType } from "@burin/core/sessions";

export const confirm: Confirm = async (confirmation) => {
  console.log(buildQuestionView(confirmation).lines, describeEffects(confirmation));
  if (confirmation.kind === "edit") {
    const edited: Decision<typeof confirmation.kind> = { outcome: "edited", content: confirmation.diff.newContent };
    return edited;
  }
  return confirmation.kind === "exec" ? { outcome: "once", network: true } : null;
};
export const all: Record<Confirmation["kind"], Decision> = {
  edit: { outcome: "cancel", reason: "no" }, exec: { outcome: "once" }, form: { outcome: "filled", values: { a: 1 } },
  plan: { outcome: "approved_plan", mode: "auto-edit" }, mcp: { outcome: "always", scope: "session" },
  discovered: { outcome: "once" }, info: { outcome: "once" },
};
export function why(end: RunEnd): RunErrorType | undefined {
  return end.status === "error" ? end.error.type : end.error?.type;
}
export const model: ChatModel = {
  name: "m",
  async *stream() { yield { type: "end", reason: "error", error: { type: "rate_limited", message: "Later." } }; },
};
const few: MachineFunctions = {
  readFile: async () => new Uint8Array(),
  writeFile: async () => {},
  stat: async () => null,
  readdir: async () => ["a", { name: "b", isDirectory: true }],
};
export const toolboxes = [machineOf(fs), machineOf(few), machineOf({ ...few, exec: async () => ({ exitCode: 0, stdout: "" }) })]
  .map((machine) => createToolbox({ root: "/project", machine, confirm }));
`;

/** A command has no content, only a command may have the network, and only a plan is approved like this. */
const WRONG_ANSWERS = `import type { Decision } from "@burin/core";
export const one: Decision<"info"> = { outcome: "edited", content: "" };
export const two: Decision<"edit"> = { outcome: "once", network: true };
export const three: Decision<"mcp"> = { outcome: "approved_plan", mode: "default" };
`;
