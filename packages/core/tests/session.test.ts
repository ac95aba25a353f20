import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, createSession, type Session, type SessionOptions } from "@burin/core";
import { type ResumedSession, resumeSession } from "@burin/core/internal";
import { buildHistory, type Message } from "@burin/core/sessions";
import { type ScriptLine, scriptedModel } from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";

let top: string;
let root: string;
let home: string;

beforeEach(async () => {
  top = createTemporaryFolder();
  root = join(top, "project");
  home = join(top, "home");
  await import("node:fs/promises").then(({ mkdir }) => mkdir(root));
});

function session(script: readonly ScriptLine[], more: Partial<SessionOptions> = {}): Session {
  return createSession({
    root,
    environment: { BURIN_HOME: home, PATH: process.env.PATH, MY_API_KEY: "canary-4711-value" },
    model: scriptedModel(script),
    approvalMode: "yolo",
    record: true,
    ...more,
  });
}

const resumed = (more: { id?: string; fork?: boolean } = {}): Promise<ResumedSession> =>
  resumeSession({ home, root, ...more });

function logs(): string[] {
  const [project = ""] = readdirSync(join(home, "sessions"));
  const folder = join(home, "sessions", project);
  return readdirSync(folder).map((name) => join(folder, name));
}

function loggedEvents(path = logs()[0] ?? ""): AgentEvent[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => (JSON.parse(line) as { event: AgentEvent }).event);
}

/** The log as a crash would have left it: without all that came after the first event that fits. */
function cutAfter(fits: (event: AgentEvent) => boolean): void {
  const [path = ""] = logs();
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const at = loggedEvents().findIndex(fits);
  writeFileSync(path, `${lines.slice(0, at + 1).join("\n")}\n`);
}

const writing = (name: string, content: string) => ({
  name: "write_file",
  args: { file_path: join(root, name), content },
});
const stateOf = (name: string, status: string) => (event: AgentEvent) =>
  event.type === "tool_call" && event.call.name === name && event.call.status === status;

function answersIn(history: readonly Message[]): unknown[] {
  return history.flatMap((message) => message.parts.flatMap((part) => part.functionResponse?.response ?? []));
}

describe("a session that is recorded", () => {
  it("P13 is taken up with the same history, again and again, and exiting at once changes nothing", async () => {
    const first = session([
      { thought: "hm", text: "I write.", calls: [writing("a.txt", "a\n")] },
      { text: "Done." },
    ]);
    await collectEvents(first.run("go"));
    await first.close();
    expect(logs()).toHaveLength(1);
    const bytes = readFileSync(logs()[0] ?? "");
    for (let time = 0; time < 2; time += 1) {
      const again = session([], { resume: await resumed() });
      expect([again.id, again.history]).toEqual([first.id, first.history]);
      await again.close();
    }
    expect(readFileSync(logs()[0] ?? "")).toEqual(bytes);
    const last = session([{ text: "More." }], { resume: await resumed({ id: first.id.slice(0, 15) }) });
    await collectEvents(last.run("go on"));
    await last.close();
    expect(last.history).toHaveLength(6);
    expect(buildHistory(loggedEvents())).toEqual(last.history);
    expect(logs()).toHaveLength(1);
  });

  it("R37 the log holds what a stream-json reader hears, but for live output and joined texts", async () => {
    const one = session([{ text: "I write.", calls: [writing("a.txt", "a\n")] }, { text: "Done." }]);
    const heard = await collectEvents(one.run("go"));
    await one.close();
    const states = (events: readonly AgentEvent[]) =>
      events.map((event) => (event.type === "tool_call" ? event.call.status : event.type));
    expect(new Set(states(heard))).toEqual(new Set(states(loggedEvents())));
    expect(buildHistory(heard)).toEqual(buildHistory(loggedEvents()));
  });

  it("P11 tells the model of a call that never began, that may have run, and that only read", async () => {
    const reading = { name: "read_file", args: { absolute_path: join(root, "a.txt") } };
    const script = [
      { calls: [reading, writing("a.txt", "a\n"), writing("b.txt", "b\n")] },
      { text: "Done." },
    ];
    const first = session(script);
    await collectEvents(first.run("go"));
    await first.close();
    cutAfter(stateOf("write_file", "executing"));
    const again = session([{ text: "I look first." }], { resume: await resumed() });
    const events = await collectEvents(again.run("what happened?"));
    await again.close();
    expect(answersIn(again.history)).toEqual([
      { error: expect.stringContaining("does not exist") },
      { error: expect.stringMatching(/may have run.*It was not repeated/) },
      { error: expect.stringContaining("was not run: the session ended before it began") },
    ]);
    expect(events.filter((event) => event.type === "tool_call")).toHaveLength(2);
    expect(buildHistory(loggedEvents())).toEqual(again.history);
    const third = session([], { resume: await resumed() });
    expect(third.history).toEqual(again.history);
    await third.close();
  });

  it("P11 goes on where it stopped: what had not begun is run, what may have run is not", async () => {
    const script = [{ calls: [writing("a.txt", "a\n"), writing("b.txt", "b\n")] }, { text: "Done." }];
    const first = session(script);
    await collectEvents(first.run("go"));
    await first.close();
    cutAfter(stateOf("write_file", "executing"));
    await rm(join(root, "a.txt"));
    await rm(join(root, "b.txt"));
    const again = session([{ text: "Done." }], { resume: await resumed() });
    expect((await collectEvents(again.goOn())).at(-1)).toMatchObject({ status: "success", result: "Done." });
    expect(readdirSync(root)).toEqual(["b.txt"]);
    expect((await collectEvents(again.goOn())).at(-1)).toMatchObject({
      status: "error",
      error: { type: "nothing_left" },
    });
    await again.close();
  });

  it.each(["in the next process", "at once"])(
    "P13 P35 goes on behind a reply that broke off, %s",
    async (when) => {
      const broken = { text: "Half of", error: { message: "gone" } };
      const first = session([broken, ...(when === "at once" ? [{ text: "Done." }] : [])]);
      expect((await collectEvents(first.run("go"))).at(-1)).toMatchObject({ status: "error" });
      if (when !== "at once") await first.close();
      const again = when === "at once" ? first : session([{ text: "Done." }], { resume: await resumed() });
      expect((await collectEvents(again.goOn())).at(-1)).toMatchObject({
        status: "success",
        result: "Done.",
      });
      expect(again.history.map(({ role }) => role)).toEqual(["user", "model", "user", "model"]);
      expect((await collectEvents(again.goOn())).at(-1)).toMatchObject({ error: { type: "nothing_left" } });
      expect((await collectEvents(again.goOn())).at(-1)).toMatchObject({ error: { type: "nothing_left" } });
      await again.close();
    },
  );

  it("P13 goes on where the process was killed while the model was thinking", async () => {
    const first = session([{ text: "Ready." }, { thought: "hm", text: "Done." }]);
    await collectEvents(first.run("hello"));
    await collectEvents(first.run("go"));
    await first.close();
    cutAfter((event) => event.type === "thought");
    const again = session([{ text: "Done." }], { resume: await resumed() });
    expect((await collectEvents(again.goOn())).at(-1)).toMatchObject({ status: "success", result: "Done." });
    await again.close();
  });

  it("P11 closed in the middle of a run, it ends the run, and nothing begins or is written afterwards", async () => {
    const waiting = { name: "run_shell_command", args: { command: "sleep 0.2" } };
    const closed = session(Array.from({ length: 20 }, () => ({ calls: [waiting] })));
    const events: AgentEvent[] = [];
    let closing: Promise<number> | undefined;
    for await (const event of closed.run("go")) {
      events.push(event);
      if (stateOf("run_shell_command", "executing")(event))
        closing ??= closed.close().then(() => statSync(logs()[0] ?? "").size);
    }
    expect(events.at(-1)).toMatchObject({ type: "done", status: "cancelled" });
    expect(events.filter(stateOf("run_shell_command", "executing"))).toHaveLength(1);
    expect(statSync(logs()[0] ?? "").size).toBe(await closing);
  });

  it("P13 cut at any record it has a history that a strict model takes", async () => {
    const script = [
      { thought: "hm", text: "Two.", calls: [writing("a.txt", "a\n"), writing("b.txt", "b\n")] },
      { calls: [writing("c.txt", "c\n")] },
      { text: "Done." },
    ];
    const first = session(script);
    await collectEvents(first.run("go"));
    await first.close();
    const [path = ""] = logs();
    copyFileSync(path, join(top, "whole"));
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    for (let count = 0; count <= lines.length; count += 1) {
      for (const left of [lines.slice(0, count), lines.filter((_line, index) => index !== count)]) {
        writeFileSync(path, left.map((line) => `${line}\n`).join(""));
        const again = session([{ text: "ok" }], { resume: await resumed() });
        const events = await collectEvents(again.run("on"));
        await again.close();
        expect(events.at(-1), `${count} of ${lines.length}`).toMatchObject({ status: "success" });
        expect(again.history[0]?.role).toBe("user");
      }
    }
  });

  it("P13 a second process is told, and can go on with a copy", async () => {
    const first = session([{ text: "One." }, { text: "Two." }]);
    await collectEvents(first.run("go"));
    await expect(resumed()).rejects.toMatchObject({ code: "in_use" });
    const fork = session([{ text: "Else." }], { resume: await resumed({ fork: true }) });
    await collectEvents(fork.run("on"));
    await collectEvents(first.run("on"));
    await Promise.all([first.close(), fork.close()]);
    expect(fork.id).not.toBe(first.id);
    expect([first.history, fork.history].map((history) => history.at(-1)?.parts[0]?.text)).toEqual([
      "Two.",
      "Else.",
    ]);
    const { lock, session: past } = await resumed({ id: fork.id });
    expect([...past.listEvents(() => undefined)]).toContainEqual(
      expect.objectContaining({ type: "session", sessionId: fork.id, forkOf: first.id }),
    );
    lock.release();
  });

  it("P19 holds no secret of the environment and no token, and a resumed history neither", async () => {
    writeFileSync(join(root, "config"), "key=canary-4711-value\nid=AKIAIOSFODNN7EXAMPLE\nplain=yes\n");
    const reading = { name: "read_file", args: { absolute_path: join(root, "config") } };
    const first = session([{ calls: [reading] }, { text: "It is canary-4711-value." }]);
    await collectEvents(first.run("what is the key?"));
    await first.close();
    expect(JSON.stringify(first.history)).toContain("canary-4711-value");
    const text = readFileSync(logs()[0] ?? "", "utf8");
    expect(text).not.toMatch(/canary-4711|AKIAIOSFODNN7EXAMPLE/);
    const again = session([], { resume: await resumed() });
    expect(answersIn(again.history)).toEqual([
      { output: "key=[redacted: MY_API_KEY]\nid=[redacted: token]\nplain=yes\n" },
    ]);
    await again.close();
  });

  it("P19 leaves no secret in the file of a long output, once the command and the session are over", async () => {
    writeFileSync(join(root, "config"), "key=canary-4711-value\nid=AKIAIOSFODNN7EXAMPLE\n");
    const command = "seq 20000; cat config; seq 20000";
    for (const is_background of [false, true]) {
      const args = { command, is_background };
      const one = session([{ calls: [{ name: "run_shell_command", args }] }, { text: "Done." }]);
      await collectEvents(one.run("go"));
      const states = async () => (await one.commands.list()).map(({ state }) => state);
      await expect.poll(async () => new Set(await states())).toEqual(new Set(is_background ? ["ended"] : []));
      await one.close();
      const [name = "", ...others] = readdirSync(join(home, "output"));
      expect(others).toEqual([]);
      const path = join(home, "output", name);
      const lines = readFileSync(path, "utf8").split("\n");
      expect(lines.slice(20_000, 20_002)).toEqual(["key=[redacted: MY_API_KEY]", "id=[redacted: token]"]);
      expect(lines).toHaveLength(40_003);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      await rm(path);
    }
  });

  it("says what is wrong with the session that is asked for", async () => {
    await expect(resumed()).rejects.toMatchObject({ code: "not_found" });
    const first = session([{ text: "One." }]);
    await collectEvents(first.run("go"));
    await first.close();
    await expect(resumed({ id: "nope" })).rejects.toThrow("burin sessions list");
    await expect(resumeSession({ home, root: top, id: first.id })).rejects.toThrow(`--root '${root}'`);
  });

  it("without `record` nothing is written", async () => {
    const one = session([{ text: "One." }], { record: false });
    await collectEvents(one.run("go"));
    await one.close();
    expect(readdirSync(top)).toEqual(["project"]);
  });
});
