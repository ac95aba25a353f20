import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentEvent, createSession, type Session } from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { type ScriptLine, scriptedModel } from "@burin/core/testing";
import { createFile } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { home, makeFolders, root } from "./folder.ts";

let file: string;

makeFolders();
beforeEach(() => {
  file = createFile(root, "a.txt", "alpha(1);\nbeta(2);\nold(3);\n");
});

type Call = NonNullable<ScriptLine["calls"]>[number];

const reading = (more: object = {}): Call => ({ name: "read_file", args: { absolute_path: file, ...more } });
const writing = (content: string): Call => ({ name: "write_file", args: { file_path: file, content } });
const editing = (old_string: string, new_string: string): Call => ({
  name: "edit",
  args: { file_path: file, old_string, new_string },
});

/** Makes the calls one after the other, in a session that goes on with the last one unless it is the first. */
async function making(calls: readonly Call[], resume?: Awaited<ReturnType<typeof resumeSession>>) {
  const one: Session = createSession({
    root,
    environment: { BURIN_HOME: home, PATH: process.env.PATH },
    model: scriptedModel([...calls.map((call) => ({ calls: [call] })), { text: "Done." }]),
    approvalMode: "yolo",
    record: true,
    settings: { tools: { editCorrection: false } },
    ...(resume ? { resume } : {}),
  });
  const errors: (string | undefined)[] = [];
  for await (const event of one.run("go")) {
    const call = event.type === "tool_call" ? event.call : null;
    if (call?.status === "error") errors.push(call.error.type);
    if (call?.status === "success") errors.push(undefined);
  }
  await one.close();
  return { id: one.id, errors };
}

const resumed = (more: { id?: string; fork?: boolean } = {}) => resumeSession({ home, root, ...more });
const content = () => readFileSync(file, "utf8");

function logPath(): string {
  const [project = ""] = readdirSync(join(home, "sessions"));
  const folder = join(home, "sessions", project);
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl")) ?? "");
}

describe("a session that is taken up again", () => {
  it("P2 P13 may overwrite what was read before, also line by line and also in a copy", async () => {
    for (const reads of [[reading()], [reading({ offset: 0, limit: 2 }), reading({ offset: 2, limit: 1 })]]) {
      const { id } = await making(reads);
      for (const fork of [true, false]) {
        const before = content();
        expect((await making([writing("new\n")], await resumed({ id, fork }))).errors).toEqual([undefined]);
        expect(content()).toBe("new\n");
        writeFileSync(file, before);
      }
    }
  });

  it("P2 P25 takes its own earlier write and edit for known", async () => {
    await making([writing("unread\n")]);
    expect(content()).not.toBe("unread\n");
    await making([reading(), writing("mine(1);\n")], await resumed());
    await making([editing("mine(1);", "mine(2);")], await resumed());
    expect((await making([writing("last\n")], await resumed())).errors).toEqual([undefined]);
    expect(content()).toBe("last\n");
  });

  it("P25 refuses to overwrite what has changed since, and to take a difference in it for a slip", async () => {
    await making([reading()]);
    writeFileSync(file, "alpha(1);\nbeta(2);\nomega(3);\n");
    const slip = editing("alpha(1);\nbeta(2);\nomgea(3);", "alpha(1);\nbeta(22);\nomgea(3);");
    const calls = [writing("mine\n"), slip, reading(), slip, writing("mine\n")];
    expect((await making(calls, await resumed())).errors).toEqual([
      "changed_on_disk",
      "no_occurrence",
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("P2 P11 knows nothing of a read whose answer a crash has taken away", async () => {
    await making([reading(), reading()]);
    const lines = readFileSync(logPath(), "utf8").trimEnd().split("\n");
    const answers = lines.flatMap((line, index) => (statusIn(line) === "success" ? [index] : []));
    for (const [count, error] of [
      [answers[0], "not_read"],
      [(answers[0] ?? 0) + 1, undefined],
    ] as const) {
      writeFileSync(logPath(), `${lines.slice(0, count).join("\n")}\n`);
      expect((await making([writing("new\n")], await resumed())).errors.at(-1)).toBe(error);
    }
  });

  it("P2 P11 counts of reads side by side none while one of them has no answer", async () => {
    const other = createFile(root, "b.txt", "b\n");
    const both = [reading(), { name: "read_file", args: { absolute_path: other } }];
    const one = createSession({
      root,
      environment: { BURIN_HOME: home, PATH: process.env.PATH },
      model: scriptedModel([{ calls: both }, { text: "Done." }]),
      record: true,
    });
    for await (const _event of one.run("go"));
    await one.close();
    const lines = readFileSync(logPath(), "utf8").trimEnd().split("\n");
    const first = lines.findIndex((line) => statusIn(line) === "success");
    writeFileSync(logPath(), `${lines.slice(0, first + 1).join("\n")}\n`);
    for (const _time of [1, 2]) {
      expect((await making([writing("new\n")], await resumed())).errors.at(-1)).toBe("not_read");
    }
  });
});

function statusIn(line: string): string | null {
  const { event } = JSON.parse(line) as { event: AgentEvent };
  return event.type === "tool_call" ? event.call.status : null;
}
