import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToolbox, defineTool } from "@burin/core";
import { nodeMachine } from "@burin/core/machine";
import {
  type ChatModel,
  createSession,
  type ModelRequest,
  openStore,
  type ScriptLine,
  type Session,
  SessionError,
  scriptedModel,
} from "@burin/core/sessions";
import { afterEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function kept<Opened extends { close(): Promise<void> }>(one: Opened): Opened {
  opened.push(one);
  return one;
}

async function said(session: Session, prompt: string): Promise<string | undefined> {
  const end = (await collectEvents(session.run(prompt))).at(-1);
  return end?.type === "done" ? end.result : undefined;
}

/** A scripted model that keeps what it is asked. */
function watched(script: readonly ScriptLine[]): ChatModel & { readonly requests: ModelRequest[] } {
  const model = scriptedModel(script);
  const requests: ModelRequest[] = [];
  return {
    ...model,
    name: model.name,
    requests,
    stream: (request, signal) => {
      requests.push(request);
      return model.stream(request, signal);
    },
  };
}

const write = () => ({
  calls: [{ name: "write_file", args: { file_path: join(root, "a.txt"), content: "one\n" } }],
});

describe("a store of sessions", () => {
  it("R15 makes a session, lists it, and opens it again with its history", async () => {
    const store = openStore({ home, root });
    expect(await store.list()).toEqual([]);
    const first = kept(await store.create({ model: scriptedModel([{ text: "Noted." }]) }));
    expect(await said(first, "The word is sesame.")).toBe("Noted.");
    await expect(store.resume(first.id)).rejects.toBeInstanceOf(SessionError);
    await first.close();
    expect(await store.list()).toMatchObject([{ id: first.id, prompt: "The word is sesame." }]);
    const model = watched([{ text: "Sesame." }]);
    const again = kept(await store.resume(first.id, { model }));
    expect(again.id).toBe(first.id);
    expect(await said(again, "Which word?")).toBe("Sesame.");
    expect(JSON.stringify(model.requests[0]?.history)).toContain("The word is sesame.");
    await again.close();
    const last = kept(await store.resume(undefined, { model }));
    expect(last.id).toBe(first.id);
    await last.close();
    await expect(store.resume("nothing")).rejects.toBeInstanceOf(SessionError);
  });

  it("R15 a fork goes its own way from a turn on, and leaves the session as it is", async () => {
    const store = openStore({ home, root });
    const first = kept(await store.create({ model: scriptedModel([{ text: "One." }, { text: "Two." }]) }));
    await said(first, "first");
    await said(first, "second");
    await first.close();
    const model = watched([{ text: "Three." }]);
    const fork = kept(await store.fork(first.id, { at: 1, model }));
    expect(fork.id).not.toBe(first.id);
    await said(fork, "other");
    const asked = JSON.stringify(model.requests[0]?.history);
    expect(asked).toContain("One.");
    expect(asked).not.toContain("second");
    await fork.close();
    expect(await store.list()).toHaveLength(2);
    const whole = kept(await store.fork(first.id, { model: watched([]) }));
    expect(JSON.stringify(whole.history)).toContain("Two.");
    await expect(store.fork(first.id, { at: 9 })).rejects.toThrow("no turn 9");
  });

  it("R31 R32 a question that a session was parked with is answered by its id, before it continues", async () => {
    const store = openStore({ home, root });
    const parked = kept(await store.create({ model: scriptedModel([write()]), park: true }));
    const end = (await collectEvents(parked.run("Write it."))).at(-1);
    expect(end).toMatchObject({ status: "refused", error: { type: "parked" } });
    await parked.close();
    const [summary] = await store.list();
    const session = kept(await store.resume(parked.id, { model: scriptedModel([{ text: "Done." }]) }));
    expect(session.answer(summary?.parked?.id ?? "", { outcome: "once" })).toBeNull();
    expect((await collectEvents(session.continue())).at(-1)).toMatchObject({
      status: "success",
      result: "Done.",
    });
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n");
  });
});

describe("isolation", () => {
  it("R48 with home false nothing of the user is read, and what was stored goes", async () => {
    const own = { HOME: home, BURIN_HOME: join(home, ".burin"), PATH: process.env.PATH };
    for (const [name, text] of [
      [".burin/AGENTS.md", "The user's secret wish."],
      [".burin/skills/one/SKILL.md", "---\nname: one\ndescription: The user's secret skill.\n---\nDo it."],
      [".claude/skills/two/SKILL.md", "---\nname: two\ndescription: Another secret skill.\n---\nDo it."],
    ] as const) {
      const path = join(home, name);
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, text);
    }
    const asked = async (options: object) => {
      const model = watched([write(), { text: "Done." }]);
      const session = kept(
        createSession({ root, model, environment: own, approvalMode: "yolo", ...options }),
      );
      await said(session, "Write it.");
      await session.close();
      return JSON.stringify(model.requests);
    };
    expect(await asked({})).toMatch(/secret wish.*secret skill/s);
    expect(await asked({ home: false, record: true })).not.toContain("secret");
    expect(existsSync(join(own.BURIN_HOME, "sessions"))).toBe(false);
    expect(await asked({ home: join(home, "other"), record: true })).not.toContain("secret wish");
    expect(existsSync(join(home, "other/sessions"))).toBe(true);
  });

  it("R48 instructions stand in place of Burin's own", async () => {
    const model = watched([{ text: "Yes." }]);
    const session = kept(createSession({ root, home: false, model, instructions: "You are a librarian." }));
    await said(session, "Hello");
    expect(model.requests[0]?.system).toMatch(/^You are a librarian\./);
    expect(model.requests[0]?.system).not.toContain("Burin");
  });

  it("R33 a tool that takes longer than it may is stopped, also one that ignores the signal", async () => {
    const waits = (name: string, heeds: boolean) =>
      defineTool({
        name,
        kind: "read",
        description: "Waits.",
        parameterSchema: { type: "object" },
        execute: (_, signal) =>
          new Promise<string>((_resolve, reject) => {
            if (heeds) signal.addEventListener("abort", () => reject(signal.reason));
          }),
      });
    const tools = [waits("waits", true), waits("deaf", false)];
    const toolbox = kept(createToolbox({ root, home: false, tools, toolTimeouts: { waits: 20, deaf: 20 } }));
    for (const name of ["waits", "deaf"]) {
      const { status, error } = await toolbox.call(name, {});
      expect([status, error?.type]).toEqual(["error", "timeout"]);
    }
    expect((await toolbox.call("list_directory", { path: "." })).status).toBe("success");
    const stopped = await toolbox.call("waits", {}, { signal: AbortSignal.abort() });
    expect(stopped.status).toBe("cancelled");
  });

  it("R48 the machine of this computer is behind its own door", async () => {
    const toolbox = kept(createToolbox({ root, home: false, machine: nodeMachine }));
    expect((await toolbox.call("list_directory", { path: "." })).status).toBe("success");
  });
});
