import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSession, type Question, type SessionOptions } from "@burin/core";
import { type ChatModel, type ScriptLine, scriptedModel } from "@burin/core/sessions";
import { beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();
beforeEach(async () => {
  await writeFile(join(root, "a.txt"), "alpha\n");
});

/** Each speaker has its own script: the first whose mark stands in the system prompt, else the session's. */
function models(
  main: readonly ScriptLine[],
  marked: Readonly<Record<string, readonly ScriptLine[] | ChatModel>>,
) {
  const session = scriptedModel(main);
  const others = Object.entries(marked).map(([mark, lines]) => {
    const isModel = "stream" in lines;
    return { mark, model: isModel ? lines : scriptedModel(lines) };
  });
  const systems: string[] = [];
  const model: ChatModel = {
    name: "many",
    stream(request, signal) {
      systems.push(request.system);
      const other = others.find(({ mark }) => request.system.includes(mark));
      return (other?.model ?? session).stream(request, signal);
    },
  };
  return { model, systems };
}

const EXPLORE = "You explore.";
const GENERAL = "You do the whole task";
const task = (subagent_type: string, prompt = "find it") => ({
  name: "task",
  args: { description: "find", prompt, subagent_type },
});
const read = () => ({ name: "read_file", args: { absolute_path: join(root, "a.txt") } });
const write = (name = "b.txt") => ({
  name: "write_file",
  args: { file_path: join(root, name), content: "b\n" },
});

async function run(model: ChatModel, options: Partial<SessionOptions> = {}, signal?: AbortSignal) {
  const session = createSession({ root, model, environment: { BURIN_HOME: home }, ...options });
  const events = await collectEvents(session.run("go", signal));
  await session.close();
  const answers = events.flatMap((event) =>
    event.type === "tool_call" && "llmContent" in event.call ? [event.call] : [],
  );
  return { events, answers, done: events.at(-1), session };
}

const yes = async () => ({ outcome: "once" as const });

describe("task", () => {
  it("R45 a subagent works with its own history, and only its answer comes back", async () => {
    const { model, systems } = models([{ calls: [task("explore")] }, { text: "It says alpha." }], {
      [EXPLORE]: [{ calls: [read()] }, { text: "a.txt says alpha" }],
    });
    const { answers, done, session, events } = await run(model);
    expect(done).toMatchObject({ status: "success", result: "It says alpha." });
    expect(answers).toMatchObject([{ name: "task", status: "success", llmContent: "a.txt says alpha" }]);
    expect(JSON.stringify(session.history)).not.toContain("read_file");
    expect(systems.filter((system) => system.includes(EXPLORE))).toHaveLength(2);
    const shown = events.flatMap((event) =>
      event.type === "tool_call" && event.call.status === "executing" && event.call.display
        ? [event.call.display]
        : [],
    );
    expect(shown).toContainEqual({
      kind: "progress",
      title: "Task for explore: find",
      lines: [expect.stringContaining("a.txt")],
    });
  });

  it("P46 three side by side: one denied, one crashing, one good; each outcome reaches the session", async () => {
    const crashing: ChatModel = {
      name: "crash",
      // A model that breaks its own contract.
      stream() {
        throw new Error("the engine fell off");
      },
    };
    await mkdir(join(home, "agents"));
    await writeFile(
      join(home, "agents/crasher.md"),
      "---\nname: crasher\ndescription: falls\n---\nYou crash.\n",
    );
    const { model } = models(
      [{ calls: [task("general"), task("crasher"), task("explore")] }, { text: "one of three" }],
      {
        [GENERAL]: [{ calls: [write()] }, { text: "" }],
        "You crash.": crashing,
        [EXPLORE]: [{ text: "found" }],
      },
    );
    const { answers, done } = await run(model);
    expect(done).toMatchObject({ status: "success", result: "one of three" });
    const byStatus = answers.map(({ status, llmContent }) => [status, String(llmContent)]);
    expect(byStatus.filter(([status]) => status === "success")).toEqual([["success", "found"]]);
    const failed = byStatus.filter(([status]) => status === "error").map(([, text]) => text);
    expect(failed).toHaveLength(2);
    expect(failed.find((text) => text?.includes("subagent general"))).toMatch(
      /without an answer[\s\S]*write_file was not run/,
    );
    expect(failed.find((text) => text?.includes("engine fell off"))).toBeDefined();
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("P46 approvals reach the person, who sees who asks; a subagent's own mode only makes it stricter", async () => {
    const asked: Question[] = [];
    await mkdir(join(home, "agents"));
    await writeFile(
      join(home, "agents/bold.md"),
      "---\ndescription: bold\napproval-mode: yolo\n---\nYou are bold.\n",
    );
    const { model } = models([{ calls: [task("bold")] }, { text: "ok" }], {
      "You are bold.": [{ calls: [write()] }, { text: "written" }],
    });
    const confirm: SessionOptions["confirm"] = async (_confirmation, _signal, question) => {
      asked.push(question);
      return { outcome: "once" as const };
    };
    const { answers } = await run(model, { confirm });
    expect(answers).toMatchObject([{ status: "success", llmContent: "written" }]);
    expect(asked).toMatchObject([{ agent: "bold", confirmation: { title: "Create b.txt?" } }]);
  });

  it("P14 P46 in plan mode a subagent changes nothing, whatever its definition or a rule says", async () => {
    const { model } = models([{ calls: [task("general")] }, { text: "ok" }], {
      [GENERAL]: [
        { calls: [write(), { name: "run_shell_command", args: { command: "echo x > c.txt" } }] },
        { text: "tried" },
      ],
    });
    const permissions = { allow: ["write_file", "run_shell_command"], ask: [], deny: [] };
    await run(model, { approvalMode: "plan", confirm: yes, settings: { permissions } });
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("R45 its list of tools is kept to, and it cannot hand out tasks itself", async () => {
    await mkdir(join(home, "agents"));
    await writeFile(
      join(home, "agents/narrow.md"),
      "---\ndescription: narrow\ntools: [read_*, task]\n---\nYou are narrow.\n",
    );
    const tools: string[][] = [];
    const narrow = scriptedModel([{ text: "done" }]);
    const { model } = models([{ calls: [task("narrow")] }, { text: "ok" }], {
      "You are narrow.": {
        name: "narrow",
        stream(request, signal) {
          tools.push(request.tools.map((tool) => tool.name));
          return narrow.stream(request, signal);
        },
      },
    });
    await run(model);
    expect(tools).toEqual([["read_file", "read_many_files"]]);
  });

  it.each([
    ["disallowedTools: Write, Edit, Bash", ["write_file", "edit", "run_shell_command"]],
    ["disallowedTools: [WebFetch, 'Bash(rm:*)', NotebookEdit]", ["web_fetch", "run_shell_command", "edit"]],
    ["tools: [read_*, glob]\ndisallowedTools: read_many_files", ["read_many_files", "write_file"]],
  ])(
    "P46 it gets no tool that its definition takes away, by the names of Claude Code too: %s",
    async (lines, without) => {
      await mkdir(join(home, "agents"));
      await writeFile(join(home, "agents/calm.md"), `---\ndescription: calm\n${lines}\n---\nYou are calm.\n`);
      let tools: string[] = [];
      const calm = scriptedModel([{ text: "done" }]);
      const { model } = models([{ calls: [task("calm")] }, { text: "ok" }], {
        "You are calm.": {
          name: "calm",
          stream(request, signal) {
            tools = request.tools.map((tool) => tool.name);
            return calm.stream(request, signal);
          },
        },
      });
      await run(model);
      expect(tools).toContain("read_file");
      expect(tools.filter((name) => without.includes(name))).toEqual([]);
    },
  );

  it("P46 permissionMode of Claude Code counts: one that plans changes nothing, and an unknown one is said", async () => {
    await mkdir(join(home, "agents"));
    const define = (name: string, mode: string) =>
      writeFile(
        join(home, `agents/${name}.md`),
        `---\ndescription: ${name}\npermissionMode: ${mode}\n---\nYou are ${name}.\n`,
      );
    await define("planner", "plan");
    await define("odd", "sometimes");
    const { model } = models([{ calls: [task("planner")] }, { text: "ok" }], {
      "You are planner.": [{ calls: [write()] }, { text: "tried" }],
    });
    const { events } = await run(model, { approvalMode: "yolo", confirm: yes });
    expect(await readdir(root)).toEqual(["a.txt"]);
    const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
    expect(notices.join()).toMatch(
      /odd\.md cannot be used: `permissionMode` must be one of plan, .*"sometimes"/,
    );
  });

  it("P46 one that names its tools as other agents do fails with these names, and is not asked", async () => {
    await mkdir(join(home, "agents"));
    await writeFile(
      join(home, "agents/moved.md"),
      "---\ndescription: moved\ntools: Read, Grep\n---\nYou have moved.\n",
    );
    const { model, systems } = models([{ calls: [task("moved")] }, { text: "ok" }], {});
    const { answers } = await run(model);
    const message = expect.stringContaining("none of its tools is known here: Read, Grep.");
    expect(answers).toMatchObject([{ status: "error", error: { type: "subagent_failed", message } }]);
    expect(systems.filter((text) => text.includes("You have moved."))).toEqual([]);
  });

  it("P2 what a subagent has read does not count as read by the session", async () => {
    const { model } = models([{ calls: [task("explore")] }, { calls: [write("a.txt")] }, { text: "ok" }], {
      [EXPLORE]: [{ calls: [read()] }, { text: "read it" }],
    });
    const { answers } = await run(model, { approvalMode: "auto-edit" });
    expect(answers.at(-1)).toMatchObject({ status: "error", error: { type: "not_read" } });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("alpha\n");
  });

  it("P11 cancelled with the session, and nothing of it runs later", async () => {
    const stop = new AbortController();
    const slow: ChatModel = {
      name: "slow",
      async *stream(_request, signal) {
        stop.abort();
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          signal.addEventListener("abort", () => resolve());
        });
        yield { type: "end", reason: "cancelled" };
      },
    };
    const { model } = models([{ calls: [task("general")] }], { [GENERAL]: slow });
    const { answers, done } = await run(model, {}, stop.signal);
    expect(done).toMatchObject({ status: "cancelled" });
    expect(answers).toMatchObject([{ name: "task", status: "cancelled" }]);
  });

  it("R16 an unknown subagent is named, with those there are", async () => {
    const { model } = models([{ calls: [task("explorer")] }, { text: "ok" }], {});
    const { answers } = await run(model);
    expect(answers).toMatchObject([
      {
        status: "error",
        error: {
          type: "invalid_arguments",
          message: expect.stringContaining("They are: explore, plan, general"),
        },
      },
    ]);
  });

  it("what subagents use is counted with the session", async () => {
    const usage = { inputTokens: 7, outputTokens: 3, cachedTokens: 0 };
    const counting: ChatModel = {
      name: "counting",
      async *stream() {
        yield { type: "text", text: "found" };
        yield { type: "usage", usage };
        yield { type: "end", reason: "stop" };
      },
    };
    const { model } = models([{ calls: [task("explore")] }, { text: "ok" }], { [EXPLORE]: counting });
    const { events } = await run(model);
    expect(events).toContainEqual({ type: "usage", usage, purpose: "subagent" });
  });
});

describe("definitions of subagents", () => {
  const define = async (folder: string, name: string, text: string) => {
    await mkdir(join(folder, "agents"), { recursive: true });
    await writeFile(join(folder, "agents", name), text);
  };

  it("R45 P24 those of the project count only in a trusted folder", async () => {
    await define(join(root, ".burin"), "mine.md", "---\ndescription: of the project\n---\nYou are mine.\n");
    const lines = [{ calls: [task("mine")] }, { text: "ok" }];
    const untrusted = await run(models(lines, {}).model);
    expect(untrusted.answers).toMatchObject([{ error: { type: "invalid_arguments" } }]);
    const trusted = await run(models(lines, { "You are mine.": [{ text: "here" }] }).model, {
      isTrusted: true,
    });
    expect(trusted.answers).toMatchObject([{ status: "success", llmContent: "here" }]);
  });

  it("P24 P46 one in the place of a built-in that changes nothing changes nothing either, unless it says so", async () => {
    const words = "description: looks around\n---\nYou are mine.\n";
    const tried = async (front: string) => {
      await define(join(root, ".burin"), "explore.md", `---\n${front}${words}`);
      const lines = [{ calls: [task("explore")] }, { text: "ok" }];
      const mine = { "You are mine.": [{ calls: [write()] }, { text: "tried" }] };
      await run(models(lines, mine).model, { isTrusted: true, approvalMode: "yolo" });
      return (await readdir(root)).includes("b.txt");
    };
    expect(await tried("")).toBe(false);
    expect(await tried("approval-mode: default\n")).toBe(false);
    expect(await tried("approval-mode: yolo\n")).toBe(true);
  });

  it.each([
    ["no description", "---\nname: x\n---\nWords.\n", "no `description`"],
    ["no words", "---\ndescription: x\n---\n", "no text below the front matter"],
    ["broken YAML", '---\ndescription: "x\n---\nWords.\n', "cannot be used"],
    ["a list as front matter", "---\n- a\n---\nWords.\n", "name: value"],
    ["an unknown mode", "---\ndescription: x\napproval-mode: wild\n---\nWords.\n", "must be one of plan"],
    ["a name with blanks", "---\nname: a b\ndescription: x\n---\nWords.\n", 'the name "a b"'],
  ])("one with %s is reported and harms no other", async (_what, text, words) => {
    await define(home, "broken.md", text);
    await define(home, "good.md", "---\ndescription: fine\n---\nYou are good.\n");
    const { model } = models([{ calls: [task("good")] }, { text: "ok" }], {
      "You are good.": [{ text: "yes" }],
    });
    const { events, answers } = await run(model);
    const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
    expect(notices).toEqual([expect.stringContaining("broken.md")]);
    expect(notices[0]).toContain(words);
    expect(answers).toMatchObject([{ status: "success", llmContent: "yes" }]);
  });
});
