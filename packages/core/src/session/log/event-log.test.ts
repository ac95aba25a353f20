import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentEvent } from "@burin/contract/agent-event";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { EventLog } from "./event-log.ts";
import { createLogState, readLog } from "./read-log.ts";
import { resolveSessionPath } from "./session-files.ts";

let top: string;
let path: string;

beforeEach(() => {
  top = createTemporaryFolder();
  path = resolveSessionPath(top, "/project", "one");
});

const said = (text: string): AgentEvent => ({ type: "text", role: "model", text });
const asked = (text: string): AgentEvent => ({ type: "text", role: "user", text });
const call = (status: "validating" | "executing", display?: string): AgentEvent => ({
  type: "tool_call",
  call: { callId: "c1", name: "ls", args: {}, description: "", status, ...(display ? { display } : {}) },
});

function logAt(lastNumber = 0, isMidLine = false): EventLog {
  const place = {
    id: "one",
    home: top,
    root: "/project",
    secrets: { environment: {} },
    isRecorded: true,
  };
  const resumed = { session: { path, lastNumber, isMidLine, seen: [] }, lock: { release: () => {} } };
  return new EventLog(lastNumber > 0 || isMidLine ? { ...place, resumed } : place);
}

async function write(...events: AgentEvent[]): Promise<void> {
  const log = logAt();
  for (const event of events) log.note(event);
  await log.close();
}

function read() {
  const state = createLogState();
  return { events: [...readLog(path, state)].map(({ event }) => event), state };
}

describe("the log of a session", () => {
  it("holds one event a line as plain JSON, numbered, for its owner alone", async () => {
    await write(asked("a\nb"), said("é"), { type: "notice", message: "n" });
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { n: 1, len: expect.any(Number), sum: expect.stringMatching(/^[0-9a-f]{8}$/), event: asked("a\nb") },
      { n: 2, at: expect.stringMatching(/^\d{4}-.*Z$/), event: said("é") },
      { n: 3, event: { type: "notice" } },
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  it("P19 holds no character that a terminal obeys, and gives each back", async () => {
    const all = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join("");
    const event = asked(`${all}\\${all}\u009b31m`);
    await write(event);
    expect(readFileSync(path, "utf8")).not.toMatch(/[^\P{Cc}\n]/u);
    expect(read().events).toEqual([event]);
  });

  it("joins the pieces of a text, and leaves live output and repeated states out", async () => {
    await write(said("a"), said("b"), call("validating"), call("validating"), call("executing"));
    const log = logAt(3);
    log.note(call("executing", "line 1"));
    log.note(said("c"));
    await log.close();
    expect(read().events).toEqual([said("ab"), call("validating"), call("executing"), said("c")]);
  });

  it("joins reasoning up to its signature, and not beyond a restart", async () => {
    const thought = (text: string, signature?: string): AgentEvent => ({
      type: "thought",
      text,
      ...(signature ? { signature } : {}),
    });
    await write(thought("a"), thought("b", "s"), thought("c"), {
      type: "notice",
      message: "",
      restart: true,
    });
    expect(read().events.slice(0, 2)).toEqual([thought("ab", "s"), thought("c")]);
  });

  it("P13 cut at any byte it is read up to the last whole record, and goes on from there", async () => {
    await write(asked("first"), { type: "notice", message: "n" }, asked("é".repeat(20)));
    const whole = readFileSync(path);
    const ends = [...whole.keys()].filter((at) => whole[at] === 0x0a);
    for (let cut = 0; cut <= whole.length; cut += 1) {
      writeFileSync(path, whole.subarray(0, cut));
      const complete = ends.filter((end) => cut >= end).length;
      const { events, state } = read();
      expect(events).toHaveLength(complete);
      expect(state.lost).toBe(0);
      const log = logAt(state.lastNumber, !state.endsLine);
      log.note(asked("on"));
      await log.close();
      const again = read();
      expect([again.events.length, again.events.at(-1), again.state.lost]).toEqual([
        complete + 1,
        asked("on"),
        0,
      ]);
      expect(readFileSync(path).subarray(0, cut)).toEqual(whole.subarray(0, cut));
    }
  });

  it("P13 a record broken in the middle is told and left out, whatever byte of it is wrong", async () => {
    await write(asked("first"), asked("second"), asked("third"));
    const whole = readFileSync(path);
    const [first = 0, second = 0] = [...whole.keys()].filter((at) => whole[at] === 0x0a);
    for (let at = first + 1; at < second; at += 1) {
      const broken = Buffer.from(whole);
      broken[at] = (broken[at] ?? 0) ^ 1;
      writeFileSync(path, broken);
      const { events, state } = read();
      expect(events).toEqual([asked("first"), asked("third")]);
      expect(state).toMatchObject({ lost: 1, isTorn: false });
    }
  });

  it("a line that is none of its own does no harm", async () => {
    await write(asked("first"));
    appendFileSync(path, 'hello\n{"n":2}\n\n');
    expect(read()).toMatchObject({ events: [asked("first")], state: { lost: 0, lastNumber: 1 } });
  });

  it("keeps what it cannot write, and writes it when it can", async () => {
    writeFileSync(join(top, "sessions"), "in the way");
    const log = logAt();
    log.note(asked("first"));
    await expect(log.recorded()).rejects.toThrow("ENOTDIR");
    await rm(join(top, "sessions"));
    log.note(asked("second"));
    await log.close();
    expect(read().events).toEqual([asked("first"), asked("second")]);
  });
});
