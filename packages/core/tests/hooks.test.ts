import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Confirmation,
  createSession,
  createToolbox,
  type SessionOptions,
  type SettingsInput,
} from "@burin/core";
import { loadSettings, openTrust, readFolderTrust } from "@burin/core/internal";
import { type ScriptLine, scriptedModel } from "@burin/core/sessions";
import { beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();
beforeEach(async () => {
  await writeFile(join(root, "a.txt"), "alpha\n");
  await writeFile(join(root, "b.txt"), "beta\n");
});

type Hook = NonNullable<SettingsInput["hooks"]>[number];

/** A hook that prints this, after it has written down what it was told. */
function hook(event: Hook["event"], answer: object | string, more: Partial<Hook> = {}): Hook {
  const printed = typeof answer === "string" ? answer : JSON.stringify(answer);
  return { event, command: `cat >> "${home}/told"; echo >> "${home}/told"; echo '${printed}'`, ...more };
}

async function told(): Promise<Record<string, unknown>[]> {
  const text = existsSync(join(home, "told")) ? await readFile(join(home, "told"), "utf8") : "";
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

const settingsWith = (hooks: readonly Hook[], allow: readonly string[] = []) => ({
  hooks,
  permissions: { allow, ask: [], deny: [] },
});

function toolbox(hooks: readonly Hook[], options: Partial<Parameters<typeof createToolbox>[0]> = {}) {
  return createToolbox({ root, environment: environment(), settings: settingsWith(hooks), ...options });
}

const environment = () => ({ ...process.env, BURIN_HOME: home, OPENAI_API_KEY: "canary-key" });

const read = (name: string) => ["read_file", { absolute_path: join(root, name) }] as const;
const write = () => ["write_file", { file_path: join(root, "new.txt"), content: "new\n" }] as const;

async function run(lines: readonly ScriptLine[], options: Partial<SessionOptions>) {
  const requests: string[] = [];
  const script = scriptedModel(lines);
  const model = {
    name: "watched",
    stream(request: Parameters<typeof script.stream>[0], signal: AbortSignal) {
      requests.push(JSON.stringify(request.history));
      return script.stream(request, signal);
    },
  };
  const session = createSession({ root, model, environment: environment(), ...options });
  const events = await collectEvents(session.run("go"));
  await session.close();
  return { events, requests, session };
}

describe("a hook before a call", () => {
  it("is told of the call, and without a word from it nothing changes", async () => {
    const result = await toolbox([hook("before_tool", "")]).call(...read("a.txt"));
    expect(result.llmContent).toBe("alpha\n");
    expect(await told()).toEqual([
      {
        event: "before_tool",
        root,
        tool: "read_file",
        kind: "read",
        args: { absolute_path: join(root, "a.txt") },
      },
    ]);
  });

  it("can forbid it, by its answer or by exit code 2, and the model is told why", async () => {
    const byAnswer = await toolbox([hook("before_tool", { decision: "deny", reason: "not today" })]).call(
      ...read("a.txt"),
    );
    expect(byAnswer.error).toMatchObject({ type: "denied", message: expect.stringContaining("not today") });
    const byCode = toolbox([{ event: "before_tool", command: "echo never >&2; exit 2" }]);
    expect((await byCode.call(...read("a.txt"))).error?.message).toContain("never");
  });

  it("P42 sees the command that the user wrote in place of the model's, and can forbid it", async () => {
    const guard = `cat > "${home}/seen"; ! grep -q "rm b.txt" "${home}/seen" || { echo never >&2; exit 2; }`;
    const edited = { outcome: "edited", content: "rm b.txt" } as const;
    const guarded = toolbox([{ event: "before_tool", command: guard }], { confirm: async () => edited });
    const { error } = await guarded.call("run_shell_command", { command: "touch c.txt" });
    await guarded.close();
    expect(error?.message).toContain("never");
    expect(existsSync(join(root, "b.txt"))).toBe(true);
    expect(existsSync(join(root, "c.txt"))).toBe(false);
  });

  it("P24 a project's script that has changed since the folder was trusted does not run, and the call asks", async () => {
    await mkdir(join(root, ".burin"));
    const hooks = [{ event: "before_tool", command: "sh check.sh" }];
    await writeFile(join(root, ".burin", "settings.json"), JSON.stringify({ hooks }));
    await writeFile(join(root, "check.sh"), "exit 0\n");
    const effects = (await readFolderTrust({ home, root }))?.effects ?? [];
    await (await openTrust(home)).storeAnswer(root, true, effects);
    const { settings } = await loadSettings({ home, root });
    const box = createToolbox({ root, environment: environment(), settings });
    expect((await box.call(...read("a.txt"))).llmContent).toBe("alpha\n");
    const edit = {
      file_path: join(root, "check.sh"),
      old_string: "exit 0",
      new_string: `touch ${home}/canary`,
    };
    const open = { root, environment: environment(), approvalMode: "auto-edit" } as const;
    expect((await createToolbox(open).call("edit", edit)).error).toBeUndefined();
    const { error } = await box.call(...read("a.txt"));
    expect(error?.message).toContain('"check.sh" has changed since the folder was trusted');
    expect(error?.message).toContain("burin trust yes");
    expect(existsSync(join(home, "canary"))).toBe(false);
  });

  it("can make it one to be asked about, which in its absence is refused", async () => {
    const result = await toolbox([hook("before_tool", { decision: "ask", reason: "look first" })]).call(
      ...read("a.txt"),
    );
    expect(result.error).toMatchObject({
      type: "needs_approval",
      message: expect.stringContaining("look first"),
    });
  });

  it("P11 an interruption while it runs is one, and not an approval that is missing", async () => {
    const abort = new AbortController();
    const script = scriptedModel([{ calls: [{ name: write()[0], args: write()[1] }] }]);
    const settings = settingsWith([{ event: "before_tool", command: "sleep 30" }]);
    const session = createSession({ root, model: script, environment: environment(), settings });
    const calls: string[] = [];
    for await (const event of session.run("go", abort.signal)) {
      if (event.type !== "tool_call") continue;
      calls.push(event.call.status);
      setTimeout(() => abort.abort(), 50);
    }
    await session.close();
    expect(calls).toEqual(["validating", "cancelled"]);
  });

  it("can allow what would be asked about, but not what is always asked about or denied", async () => {
    const allowing = [hook("before_tool", { decision: "allow" })];
    expect((await toolbox(allowing).call(...write())).error).toBeUndefined();
    const secret = ["write_file", { file_path: join(root, ".env"), content: "x" }] as const;
    expect((await toolbox(allowing).call(...secret)).error?.type).toBe("needs_approval");
    const permissions = { allow: [], ask: [], deny: ["write_file"] };
    const denied = toolbox([], { settings: { hooks: allowing, permissions } });
    expect((await denied.call(...write())).error?.type).toBe("denied");
    const planning = toolbox(allowing, { approvalMode: "plan" });
    expect((await planning.call(...write())).error?.type).toBe("denied");
  });

  it("can give other arguments; they are checked, asked about and told like any", async () => {
    const other = { args: { absolute_path: join(root, "b.txt") } };
    const result = await toolbox([hook("before_tool", other)]).call(...read("a.txt"));
    expect(result.llmContent).toMatch(
      /^beta\n[\s\S]*\[From a hook of the user\] The arguments were changed to .*b\.txt/,
    );
    const wrong = await toolbox([hook("before_tool", { args: { path: 7 } })]).call(...read("a.txt"));
    expect(wrong.error?.type).toBe("invalid_arguments");
    const asked: Confirmation[] = [];
    const rewritten = toolbox([hook("before_tool", { args: { ...write()[1], content: "other\n" } })], {
      confirm: async (question) => {
        asked.push(question);
        return { outcome: "once" };
      },
    });
    await rewritten.call(...write());
    expect(asked).toMatchObject([{ kind: "edit", diff: { newContent: "other\n" } }]);
    expect(await readFile(join(root, "new.txt"), "utf8")).toBe("other\n");
  });

  it("hears only of the calls that its rules name", async () => {
    const box = toolbox([hook("before_tool", { decision: "deny" }, { tools: ["read_file(b*)", "glob"] })]);
    expect((await box.call(...read("a.txt"))).error).toBeUndefined();
    expect((await box.call(...read("b.txt"))).error?.type).toBe("denied");
    expect(await told()).toHaveLength(1);
  });

  it("P21 a later one whose rule only fits the changed arguments decides about them", async () => {
    const other = hook("before_tool", { args: { absolute_path: join(root, "b.txt") } });
    const guard = hook("before_tool", { decision: "deny", reason: "not b" }, { tools: "read_file(b*)" });
    const gone = hook("before_tool", { decision: "deny", reason: "not a" }, { tools: "read_file(a*)" });
    expect((await toolbox([other, gone, guard]).call(...read("a.txt"))).error?.message).toContain("not b");
    expect((await toolbox([other, gone]).call(...read("a.txt"))).llmContent).toMatch(/^beta/);
    const wrong = hook("before_tool", { args: { path: 7 } });
    expect((await toolbox([wrong, gone, guard]).call(...read("a.txt"))).error?.type).toBe(
      "invalid_arguments",
    );
  });

  it("several run in order; the strictest decision wins and the next sees what the last one changed", async () => {
    const hooks = [
      hook("before_tool", { args: { absolute_path: join(root, "b.txt") } }),
      hook("before_tool", { decision: "allow" }),
      hook("before_tool", { decision: "ask", reason: "two eyes" }),
    ];
    expect((await toolbox(hooks).call(...read("a.txt"))).error?.message).toContain("two eyes");
    expect((await told()).map((event) => event.args)).toEqual([
      { absolute_path: join(root, "a.txt") },
      { absolute_path: join(root, "b.txt") },
      { absolute_path: join(root, "b.txt") },
    ]);
  });

  it.each([
    ["garbage", "echo hello", "not JSON"],
    ["a failure", "echo broken >&2; exit 1", "exit code 1: broken"],
    ["a wrong decision", `echo '{"decision":"maybe"}'`, 'must be one of "allow", "ask", "deny"'],
    ["no such program", "no-such-program-anywhere", "exit code 127"],
    ["a hang", "sleep 60", "timed out after 0.3 s"],
  ])("that gives %s may have been a guard: the call is asked about", async (_what, command, words) => {
    const box = toolbox([
      { event: "before_tool", command, timeoutSeconds: command === "sleep 60" ? 0.3 : 20 },
    ]);
    const { error } = await box.call(...read("a.txt"));
    expect(error).toMatchObject({ type: "needs_approval", message: expect.stringContaining(words) });
  });

  it("P19 gets no key of a provider", async () => {
    await toolbox([{ event: "before_tool", command: `env > "${home}/env"` }]).call(...read("a.txt"));
    expect(await readFile(join(home, "env"), "utf8")).not.toContain("canary-key");
  });
});

describe("hooks at other moments", () => {
  it("after a call, the answer is told and context is added", async () => {
    const box = toolbox([hook("after_tool", { context: "run the linter" }, { tools: "read_file" })]);
    expect((await box.call(...read("a.txt"))).llmContent).toBe(
      "alpha\n\n\n[From a hook of the user] run the linter",
    );
    expect(await told()).toMatchObject([{ event: "after_tool", status: "success", text: "alpha\n" }]);
  });

  it("at the start and the end of a session, with its id; what the first says stands before the prompt", async () => {
    const hooks = [hook("session_start", { context: "the moon is full" }), hook("session_end", "")];
    const { events, requests, session } = await run([{ text: "hello" }], { settings: settingsWith(hooks) });
    expect(requests[0]).toMatch(/\[From a hook of the user\] the moon is full[\s\S]*go/);
    expect(events).toContainEqual({ type: "context", text: "[From a hook of the user] the moon is full" });
    expect(await told()).toEqual([
      { event: "session_start", root, sessionId: session.id },
      { event: "session_end", root, sessionId: session.id },
    ]);
  });

  it("a failing one is a notice and nothing else", async () => {
    const hooks: Hook[] = [{ event: "after_tool", command: "exit 3" }];
    const [name, args] = read("a.txt");
    const { events } = await run([{ calls: [{ name, args }] }, { text: "ok" }], {
      settings: settingsWith(hooks),
    });
    expect(events).toContainEqual({
      type: "notice",
      message: 'The hook "exit 3" gave no answer: it failed with exit code 3.',
    });
    expect(events.at(-1)).toMatchObject({ type: "done", status: "success" });
  });

  it.each(["session_start", "after_tool"] as const)(
    "one that would deny at %s, as a shell without its script does, is told of",
    async (event) => {
      const command = "echo cannot open check.sh >&2; exit 2";
      const [name, args] = read("a.txt");
      const { events } = await run([{ calls: [{ name, args }] }, { text: "ok" }], {
        settings: settingsWith([{ event, command }]),
      });
      const message = `The hook "${command}" cannot deny anything here: cannot open check.sh.`;
      expect(events).toContainEqual({ type: "notice", message });
      expect(events.at(-1)).toMatchObject({ type: "done", status: "success" });
    },
  );

  it("before a compaction; what it says is kept", async () => {
    const long = "word ".repeat(6000);
    await writeFile(join(root, "long.txt"), long);
    const hooks = [hook("before_compaction", { context: "never forget the moon" })];
    const [name, args] = read("long.txt");
    const settings = { ...settingsWith(hooks), model: { contextWindow: 8192 } };
    const { requests, events } = await run(
      [{ text: long, calls: [{ name, args }] }, { text: "a summary" }, { text: "done" }],
      { settings },
    );
    expect(events.map((event) => event.type)).toContain("compaction");
    expect(requests.at(-1)).toContain("never forget the moon");
    expect((await told()).map((event) => event.event)).toEqual(["before_compaction"]);
  });

  it("P14 P46 the calls of subagents pass the hooks too", async () => {
    const hooks = [hook("before_tool", { decision: "deny", reason: "no reading" }, { tools: "read_file" })];
    const [name, args] = read("a.txt");
    const task = { name: "task", args: { description: "x", prompt: "x", subagent_type: "explore" } };
    const { events } = await run(
      [{ calls: [task] }, { calls: [{ name, args }] }, { text: "could not" }, { text: "ok" }],
      {
        settings: settingsWith(hooks),
      },
    );
    expect(events.at(-1)).toMatchObject({ type: "done", result: "ok" });
    expect(await told()).toHaveLength(1);
  });
});
