import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSession } from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { buildHistory, type LogRecord, restoreSession, scriptedModel } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";

let top: string;
let root: string;
let environment: NodeJS.ProcessEnv;

beforeEach(async () => {
  top = createTemporaryFolder();
  root = join(top, "project");
  environment = { BURIN_HOME: join(top, "home") };
  await mkdir(root);
});

const recordsIn = (lines: string): LogRecord[] =>
  lines
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** What the records tell, in a word each. */
function toldIn(lines: string): string[] {
  return recordsIn(lines).flatMap(({ event }) => {
    if (event.type === "tool_call") return `${event.call.name} ${event.call.status}`;
    return event.type === "text" ? `${event.role}: ${event.text}` : event.type === "done" ? "done" : [];
  });
}

const write = (path: string) => ({
  name: "write_file",
  args: { file_path: join(root, path), content: "new" },
});

async function run(parts: string[], keep: (lines: string) => Promise<void>) {
  const list = { name: "list_directory", args: { path: root } };
  const model = scriptedModel([{ calls: [list] }, { calls: [write("a.txt")] }, { text: "ready" }]);
  const keepLog = async (lines: string) => {
    await keep(lines);
    parts.push(lines);
  };
  const session = createSession({ root, environment, model, approvalMode: "yolo", keepLog });
  const events = await collectEvents(session.run("go"));
  await session.close();
  return events.at(-1);
}

describe("P13 a record that is kept elsewhere", () => {
  it("is handed on before each call does its work, also one that only reads, and behind it, without a gap", async () => {
    const parts: string[] = [];
    const found: boolean[] = [];
    const isThere = () =>
      readFile(join(root, "a.txt")).then(
        () => true,
        () => false,
      );
    await run(parts, async () => void found.push(await isThere()));
    expect(parts.map(toldIn)).toEqual([
      ["user: go", "list_directory validating", "list_directory executing"],
      ["list_directory success"],
      ["write_file validating", "write_file executing"],
      ["write_file success"],
      ["model: ready", "done"],
    ]);
    expect(found).toEqual([false, false, false, true, true]);
    expect(recordsIn(parts.join("")).map(({ n }) => n)).toEqual(
      recordsIn(parts.join("")).map((_, index) => index + 1),
    );
  });

  it("holds the session back for as long as it is not kept, and ends the work when it cannot be", async () => {
    const parts: string[] = [];
    const end = await run(parts, async () => {
      if (parts.length === 2) throw new Error("the database is gone");
    });
    await expect(readFile(join(root, "a.txt"))).rejects.toThrow("ENOENT");
    expect(parts).toHaveLength(2);
    expect(end).toMatchObject({ type: "done", status: "error", error: { type: "not_recorded" } });
  });

  it("becomes a session again in another folder and home, where it goes on with what had not begun", async () => {
    const parts: string[] = [];
    await run(parts, async () => {});
    const lines = parts.slice(0, 2).join("");
    const other = join(top, "other");
    await mkdir(other);
    await writeFile(join(other, "b.txt"), "b");
    const home = join(top, "second-home");
    const id =
      recordsIn(lines).flatMap(({ event }) => (event.type === "session" ? event.sessionId : []))[0] ?? "";
    await restoreSession({ home, root: other, id, lines });
    const model = scriptedModel([{ text: "went on" }]);
    const resume = await resumeSession({ home, root: other, id });
    const session = createSession({ root: other, environment: { BURIN_HOME: home }, model, resume });
    let last: unknown;
    for await (const event of session.goOn()) last = event;
    expect(last).toMatchObject({ status: "success", result: "went on" });
    const before = buildHistory(recordsIn(lines).map(({ event }) => event));
    // What it knows of its folder is said of the one that it has now.
    const moved = JSON.parse(JSON.stringify(before).replaceAll(root, other));
    expect(moved).not.toEqual(before);
    expect(session.history.slice(0, before.length)).toEqual(moved);
    await session.close();
  });
});
