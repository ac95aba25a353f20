import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Confirmation } from "@burin/core";
import type { FakeReply } from "@burin/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { BURIN, buildEnvironment, burin, matchFailure } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { root } from "./project.ts";

let child: ChildProcess | null = null;

afterEach(() => {
  child?.kill("SIGKILL");
  child = null;
});

type Line = Record<string, unknown> & { readonly type: string };

const DRIVEN = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];

/** A program that drives Burin: it says lines and waits for events. */
async function driver(args: readonly string[], ...replies: FakeReply[]) {
  const env = await modelEnv(...replies);
  const started = spawn(process.execPath, [BURIN, ...DRIVEN, ...args], {
    cwd: root,
    env: buildEnvironment(root, env),
    stdio: ["pipe", "pipe", "ignore"],
  });
  child = started;
  const seen: Line[] = [];
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  const code = new Promise<number | null>((resolve) => started.on("close", resolve));
  return {
    seen,
    say: (...said: readonly (object | string)[]) =>
      started.stdin.write(
        said.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join(""),
      ),
    /** Its input stays open: only the signal can end it. */
    interruptProcess: () => {
      started.kill("SIGINT");
      return code;
    },
    /** Reads up to the next event of that type. */
    until: async (type: string): Promise<Line> => {
      for (let next = await lines.next(); !next.done; next = await lines.next()) {
        const line = JSON.parse(next.value) as Line;
        seen.push(line);
        if (line.type === type) return line;
      }
      throw new Error(`It ended before ${type}: ${JSON.stringify(seen)}`);
    },
    end: async () => {
      started.stdin.end();
      for (let next = await lines.next(); !next.done; next = await lines.next()) {
        seen.push(JSON.parse(next.value) as Line);
      }
      return code;
    },
  };
}

const user = (text: string) => ({ type: "user", text });
const writing = () => ({ name: "write_file", args: { file_path: join(root, "a.txt"), content: "x\n" } });
const listing = () => ({ name: "list_directory", args: { path: root } });
const requestText = (index: number) => JSON.stringify(server.requests[index]?.body);
const asking = ["--confirm", "stdin"];

describe("prompts on stdin", () => {
  it("P44 several in one process, a document for each, in one session", async () => {
    const env = await modelEnv({ text: "One." }, { text: "Two." }, { text: "Three." });
    const stdin = `\ufeff${JSON.stringify(user("second"))}\n\n${JSON.stringify(user("third\nline"))}`;
    const args = ["-p", "first", "--input-format", "stream-json", "--json"];
    const { code, stdout } = await burin(args, { cwd: root, env, stdin });
    const documents = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(documents).toMatchObject([{ result: "One." }, { result: "Two." }, { result: "Three." }]);
    expect(documents[0].sessionId).toBe(documents[2].sessionId);
    expect(code).toBe(0);
    expect(requestText(2)).toContain("third\\nline");
  });

  it.each([
    ["no JSON", "hello", "not valid JSON"],
    ["no object", "[1]", "not an object"],
    ["no prompt", '{"type":"user"}', 'has no "text"'],
    [
      "of parts that are none",
      '{"type":"user","parts":[{"inlineData":{"mimeType":"image/png"}}]}',
      '"parts"',
    ],
    ["of no known type", '{"type":"system","text":"x"}', '"system"'],
  ])("P44 a line that is %s is told by its number and harms nothing", async (_what, line, words) => {
    const run = await driver([], { text: "One." }, { text: "Two." });
    run.say(user("first"), line, user("second"));
    expect(await run.end()).toBe(2);
    const faults = run.seen.filter(({ type }) => type === "input_error");
    expect(faults).toEqual([{ type: "input_error", line: 2, message: expect.stringContaining(words) }]);
    const ends = run.seen.filter(({ type }) => type === "done");
    expect(ends).toMatchObject([
      { status: "success", result: "One." },
      { status: "success", result: "Two." },
    ]);
  });

  it("P12 images and files go with prompts and with words for the work in hand, in their order", async () => {
    const image = (data: string) => ({ inlineData: { mimeType: "image/png", data } });
    const run = await driver([], { calls: [listing()] }, { text: "One." }, { text: "Two." });
    run.say(
      { type: "user", text: "first", parts: [{ text: "picture" }, image("Zmlyc3Q=")] },
      { type: "steer", parts: [image("c3RlZXJlZA==")] },
      { type: "user", parts: [image("bGFzdA==")] },
    );
    expect(await run.end()).toBe(0);
    expect(requestText(0)).toContain('"text":"first\\n\\npicture"');
    expect(requestText(0)).toContain("base64,Zmlyc3Q=");
    const last = requestText(2);
    const places = ["Zmlyc3Q=", "c3RlZXJlZA==", "bGFzdA=="].map((data) => last.indexOf(`base64,${data}`));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual([...places].sort((one, other) => one - other));
    const said = run.seen.filter(({ type, role }) => type === "text" && role === "user");
    expect(said.map(({ media }) => media)).toEqual([
      [{ mimeType: "image/png", data: "Zmlyc3Q=" }],
      [{ mimeType: "image/png", data: "c3RlZXJlZA==" }],
      [{ mimeType: "image/png", data: "bGFzdA==" }],
    ]);
  });

  it("P44 no prompt at all: says so, exit code 2", async () => {
    const env = await modelEnv();
    const { code, stdout } = await burin(DRIVEN, { cwd: root, env });
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ type: "done", error: { message: expect.any(String) } });
  });

  it("P11 an interruption ends the prompt in hand, and the next one works", async () => {
    const run = await driver([], { raw: () => {} }, { text: "Two." });
    run.say(user("first"));
    await run.until("text");
    await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBe(1);
    run.say({ type: "interrupt" }, user("second"));
    expect(await run.until("done")).toMatchObject({ status: "cancelled" });
    expect(await run.until("done")).toMatchObject({ status: "success", result: "Two." });
    run.say({ type: "interrupt" });
    expect(await run.end()).toBe(130);
    expect(server.problems).toEqual([]);
  });

  it("P11 an interruption right behind a prompt is for that prompt", async () => {
    const run = await driver([], { text: "Two." });
    run.say(user("first"), { type: "interrupt" }, user("second"));
    expect(await run.until("done")).toMatchObject({ status: "cancelled" });
    expect(await run.until("done")).toMatchObject({ status: "success", result: "Two." });
    expect(await run.end()).toBe(130);
  });

  it("P16 a word in between goes behind the answers; one that comes too late is a prompt of its own", async () => {
    const run = await driver([], { calls: [listing()] }, { text: "One." }, { text: "Two." });
    run.say(user("first"), { type: "steer", text: "look at b" });
    await run.until("done");
    run.say({ type: "steer", text: "and at c" });
    expect(await run.until("done")).toMatchObject({ result: "Two." });
    expect(await run.end()).toBe(0);
    const said = run.seen.filter(({ type, role }) => type === "text" && role === "user");
    expect(said.map(({ text }) => text)).toEqual(["first", "look at b", "and at c"]);
    expect(requestText(0)).not.toContain("look at b");
    expect(requestText(1)).toContain("look at b");
  });

  it("P44 Ctrl-C while it waits for a prompt ends it: exit code 130", async () => {
    const run = await driver([], { text: "One." });
    run.say(user("first"));
    await run.until("done");
    expect(await run.interruptProcess()).toBe(130);
  });
});

describe("questions on stdin", () => {
  it("P44 are events with an id, and the answer lets the call run", async () => {
    const run = await driver(asking, { calls: [writing()] }, { text: "Done." });
    run.say(user("write"));
    const { id, confirmation } = await run.until("question");
    expect(confirmation as Confirmation).toMatchObject({ kind: "edit", path: join(root, "a.txt") });
    expect(existsSync(join(root, "a.txt"))).toBe(false);
    run.say({ type: "answer", id, decision: { outcome: "once" } });
    expect(await run.until("done")).toMatchObject({ status: "success", result: "Done." });
    expect(await run.end()).toBe(0);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("x\n");
  });

  it("P44 an answer that is none leaves the question open, and words of a no reach the model", async () => {
    const run = await driver(asking, { calls: [writing()] }, { text: "I see." });
    run.say(user("write"));
    const { id } = await run.until("question");
    run.say({ type: "answer", id, decision: { outcome: "filled", values: {} } });
    expect(await run.until("input_error")).toMatchObject({
      line: 2,
      message: expect.stringContaining("edited"),
    });
    run.say({ type: "answer", id: "other", decision: { outcome: "once" } });
    expect(await run.until("input_error")).toMatchObject({
      line: 3,
      message: expect.stringContaining('"other"'),
    });
    run.say({ type: "answer", id, decision: { outcome: "cancel", reason: "not there" } });
    expect(await run.until("done")).toMatchObject({ status: "refused", error: { type: "cancelled" } });
    expect(await run.end()).toBe(3);
    expect(requestText(1)).toContain("not there");
    expect(existsSync(join(root, "a.txt"))).toBe(false);
  });

  it("P44 stdin that ends leaves nobody to answer, and blames no user", async () => {
    const run = await driver(asking, { calls: [writing()] }, { text: "I could not." });
    run.say(user("write"));
    await run.until("question");
    expect(await run.end()).toBe(3);
    const { error } = run.seen.at(-1) as unknown as { error: { type: string; message: string } };
    expect(error).toMatchObject({
      type: "needs_approval",
      message: expect.stringContaining("nobody can be asked"),
    });
    expect(error.message).not.toContain("user");
  });

  it("P44 an interruption while a question is open answers it with nothing done", async () => {
    const run = await driver(asking, { calls: [writing()] }, { text: "Two." });
    run.say(user("write"));
    const { id } = await run.until("question");
    run.say({ type: "interrupt" }, user("else"));
    expect(await run.until("done")).toMatchObject({ status: "cancelled" });
    run.say({ type: "answer", id, decision: { outcome: "once" } });
    expect(await run.until("done")).toMatchObject({ status: "success" });
    await run.end();
    expect(existsSync(join(root, "a.txt"))).toBe(false);
  });

  it("P44 without --confirm nothing is asked and nothing waits", async () => {
    const run = await driver([], { calls: [writing()] }, { text: "I could not." });
    run.say(user("write"));
    expect(await run.until("done")).toMatchObject({ status: "refused", error: { type: "needs_approval" } });
    expect(await run.end()).toBe(3);
    expect(run.seen.map(({ type }) => type)).not.toContain("question");
  });

  it("P44 with --park the first question ends it, and what was not begun is named", async () => {
    const run = await driver(["--park"], { calls: [writing()] });
    run.say(user("write"), user("then this"));
    expect(await run.end()).toBe(3);
    const [end, left, ...more] = run.seen.slice(-2);
    expect(end).toMatchObject({ type: "done", error: { type: "parked" }, confirmation: { kind: "edit" } });
    expect(left).toMatchObject({ type: "notice", message: expect.stringContaining('"then this"') });
    expect(more).toEqual([]);
  });

  it("P46 a subagent asks the same way, and says who it is", async () => {
    const args = { description: "write", prompt: "write a.txt", subagent_type: "general" };
    const task = { name: "task", args };
    const run = await driver(
      asking,
      { calls: [task] },
      { calls: [writing()] },
      { text: "Written." },
      { text: "Done." },
    );
    run.say(user("write"));
    const { id, agent } = await run.until("question");
    expect(agent).toBe("general");
    run.say({ type: "answer", id, decision: { outcome: "once" } });
    expect(await run.until("done")).toMatchObject({ status: "success", result: "Done." });
    await run.end();
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("x\n");
  });

  it.each([
    [["-p", "x", "--confirm", "stdin"], "--input-format stream-json"],
    [[...DRIVEN, "--confirm", "stdin", "--park"], "cannot be combined with --park"],
    [[...DRIVEN, "--confirm", "tty"], "must be one of stdin"],
  ])("%j: exit code 2 with what to write", async (args, words) => {
    const env = await modelEnv();
    expect(await burin(args, { cwd: root, env })).toEqual(matchFailure(2, words));
  });
});
