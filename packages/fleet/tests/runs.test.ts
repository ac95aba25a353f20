import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  listAnswers,
  openScriptedRoom,
  type ScriptedRoom,
  scriptCommands,
  shell,
  waitUntil,
} from "./fleet-room.mjs";

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom();
  // Or each command would start the database, and end it.
  const first = await room.commands.startWorker();
  await room.keepDatabase();
  first.child.kill("SIGINT");
  await first.end;
});

afterAll(async () => {
  await room.close();
});

describe("burin fleet run, with a name that is used again,", requirePrograms("PostgreSQL"), () => {
  it("says what is new, what is gone and whose code has changed, and refuses a task that is another one now", async () => {
    const submit = async (...tasks: object[]) => {
      const file = await room.writeTasks(tasks);
      return room.fleet("run", file, "--run", "again", "--no-follow");
    };
    expect((await submit({ id: "a" }, { id: "b" })).stderr).toContain("run again: 2 tasks submitted\n");
    const more = await submit({ id: "c" }, { id: "b" });
    expect(more.stderr).toContain("run again: 1 task submitted, and 1 before\n");
    expect(more.stderr).toContain("a of the run are not in the file; they stay in the run");
    for (const [changed, name] of [
      [{ id: "b", prompt: "other" }, "prompt"],
      [{ id: "b", budget: "1k" }, "budget"],
      [{ id: "b", folder: undefined, git: "./project" }, "source"],
    ] as const) {
      const { code, stderr } = await submit({ id: "new" }, changed);
      expect(stderr).toContain(`Task "b" was submitted to the run again with another ${name}, and `);
      expect(code).toBe(2);
    }
    await writeFile(join(room.project, "more.txt"), "more\n");
    const changed = await submit({ id: "a" }, { id: "b" }, { id: "c" }, { id: "d" });
    expect(changed.stderr).toContain("run again: 1 task submitted, and 3 before\n");
    expect(changed.stderr).toContain("the code of a, b, c has changed; they keep what was submitted");
    await rm(join(room.project, "more.txt"));
    const states = await room.commands.states("again");
    expect(states.map(({ id }) => id).sort()).toEqual(["again.a", "again.b", "again.c", "again.d"]);
  });

  it("runs each task once for two commands at the same time, and both end with all results", async () => {
    const ledger = join(room.folder, "twice");
    room.replies.set("once", scriptCommands(`echo x >> ${ledger}`));
    const file = await room.writeTasks(["a", "b", "c", "d"].map((id) => ({ id, prompt: "once" })));
    const ends = await Promise.all([1, 2].map(() => room.fleet("run", file, "--run", "both")));
    for (const { code, stdout, stderr } of ends) {
      expect(stdout.match(/both\.\w +success/g), stderr).toHaveLength(4);
      expect(code).toBe(0);
    }
    expect(await readFile(ledger, "utf8")).toBe("x\n".repeat(4));
  });

  it("follows its tasks to the end when the database is down in between", async () => {
    const [begun, go] = [join(room.folder, "down"), join(room.folder, "up")];
    const wait = `touch ${begun}; while [ -e ${room.folder} ] && [ ! -e ${go} ]; do sleep 0.1; done`;
    room.replies.set("outage", scriptCommands(wait));
    const file = await room.writeTasks([{ id: "patient", prompt: "outage" }]);
    const run = room.commands.start(["run", file, "--run", "outage"]);
    await waitUntil(() => existsSync(begun));
    const log = room.commands.start(["logs", "outage.patient", "-f"]);
    await waitUntil(() => log.soFar.stdout.includes("call      run_shell_command"));
    await room.restartDatabase(3000);
    await writeFile(go, "");
    const [ended, logged] = await Promise.all([run.end, log.end]);
    expect(ended.stdout, ended.stderr).toMatch(/outage\.patient +success/);
    expect([ended.code, logged.code]).toEqual([0, 0]);
    expect(logged.stdout).toContain("model     done");
  });

  it("P44 says at its end which task waits for an answer, by the command that gives it, and so does status", async () => {
    room.replies.set("might I", (messages) =>
      listAnswers(messages).length === 0 ? shell("touch yes.txt") : { text: "thank you" },
    );
    const file = await room.writeTasks([
      { id: "plain" },
      { id: "asks", prompt: "might I", approvalMode: "default" },
    ]);
    const { code, stderr } = await room.fleet("run", file, "--run", "ends");
    const words = "1 done · 1 waits for you: burin fleet answer ends.asks yes";
    expect([code, stderr.trimEnd().split("\n").at(-1)]).toEqual([1, `burin: ${words}`]);
    expect((await room.fleet("status", "ends")).stdout).toMatch(new RegExp(`^${words}$`, "m"));
    expect((await room.fleet("answer", "ends.asks", "yes")).stderr).toContain("in the queue again");
    expect((await room.fleet("run", file, "--run", "ends")).stderr).toMatch(/burin: 2 done\n$/);
  });

  it("cancels a task that waits for an answer, takes no answer to it, and asks again when it is retried", async () => {
    room.replies.set("may I", (messages) =>
      listAnswers(messages).length === 0 ? shell("touch yes.txt") : { text: "thank you" },
    );
    const file = await room.writeTasks([{ id: "asks", prompt: "may I", approvalMode: "default" }]);
    const worker = await room.commands.startWorker();
    await room.keepDatabase();
    await room.fleet("run", file, "--run", "asked", "--no-follow");
    await waitUntil(() => room.hasEnded("asked.asks"));
    expect((await room.fleet("cancel", "asked")).stderr).toContain("1 task cancelled");
    expect((await room.commands.states("asked"))[0]?.state).toBe("cancelled");
    expect((await room.fleet("questions", "asked")).stderr).toContain("no task waits for an answer");
    const late = await room.fleet("answer", "asked.asks", "yes");
    expect(late.stderr).toContain("asked.asks does not wait for an answer");
    expect(late.code).toBe(2);
    expect((await room.fleet("retry", "asked")).stderr).toContain("1 task back in the queue");
    await waitUntil(() => room.hasEnded("asked.asks"));
    expect((await room.fleet("questions", "asked")).stdout).toContain("touch yes.txt");
    await room.fleet("answer", "asked.asks", "yes");
    await waitUntil(() => room.hasEnded("asked.asks"));
    expect((await room.commands.states("asked"))[0]?.end).toMatchObject({ status: "success" });
    worker.child.kill("SIGINT");
    await worker.end;
  });
});
