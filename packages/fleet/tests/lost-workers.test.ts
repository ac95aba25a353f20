import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAnswers, openScriptedRoom, type ScriptedRoom, shell, waitUntil } from "./fleet-room.mjs";

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom();
});

afterAll(async () => {
  await room.close();
});

/** false also for one that has ended and whose parent has not noticed. */
function isRunning(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !readFileSync(stat, "utf8").includes(") Z ");
}

describe("burin fleet, when workers are lost,", requirePrograms("PostgreSQL"), () => {
  it("goes on where a killed worker stopped, on another machine: no reply is asked for and no effect done twice", async () => {
    const ledger = join(room.folder, "ledger");
    room.replies.set("kill me", (messages) => {
      const answers = listAnswers(messages);
      const last = answers.at(-1)?.text ?? "";
      if (answers.length === 0) return shell("printf kept > kept.txt && ln -s kept.txt link && rm start.txt");
      if (answers.length === 1)
        return shell(`echo x >> ${ledger} && while [ -e ${ledger} ]; do sleep 0.1; done`);
      if (last.includes("may have run")) return shell("cat link; echo; ls");
      return { text: "went on" };
    });
    const file = await room.writeTasks([{ id: "killed", prompt: "kill me" }]);
    const asked = room.server.requests.length;
    const worker = await room.commands.startWorker();
    await room.keepDatabase();
    await room.fleet("run", file, "--run", "second", "--no-follow");
    await waitUntil(() => existsSync(ledger));
    const BURIN_FLEET_DATABASE = room.databaseUrl();
    const other = await room.commands.startWorker(1, {
      BURIN_HOME: join(room.folder, "other"),
      BURIN_FLEET_DATABASE,
    });
    worker.child.kill("SIGKILL");
    await waitUntil(() => room.hasEnded("second.killed"));
    const { stdout: log } = await room.fleet("logs", "second.killed");
    expect(log.match(/--- worker/g)).toHaveLength(2);
    expect(log).toContain("may have run");
    expect(log).toMatch(/kept\n +kept\.txt\n +link\n/);
    expect(log).not.toContain("start.txt\n ");
    expect(await readFile(ledger, "utf8")).toBe("x\n");
    expect(room.server.requests.length - asked).toBe(4);
    expect(room.server.problems).toEqual([]);
    const [state] = await room.commands.states("second");
    expect(state?.end).toMatchObject({ status: "success", result: "went on" });
    other.child.kill("SIGINT");
    expect((await other.end).code).toBe(130);
  });

  it("ends what a killed worker has left running, with its temporary files, when the next one starts", async () => {
    const [noted, TMPDIR] = [join(room.folder, "left-running"), join(room.folder, "temporary")];
    await mkdir(TMPDIR);
    room.replies.set("stay", (messages) =>
      listAnswers(messages).length === 0 ? shell(`echo $$ > ${noted}; exec sleep 600`) : { text: "moved on" },
    );
    const file = await room.writeTasks([{ id: "stays", prompt: "stay" }]);
    const worker = await room.commands.startWorker(1, { TMPDIR });
    await room.fleet("run", file, "--run", "left", "--no-follow");
    await waitUntil(() => existsSync(noted) && readFileSync(noted, "utf8") !== "");
    worker.child.kill("SIGKILL");
    await worker.end;
    const pid = Number(await readFile(noted, "utf8"));
    expect(isRunning(pid)).toBe(true);
    expect(await readdir(TMPDIR)).not.toEqual([]);
    const next = await room.commands.startWorker(1, { TMPDIR });
    expect(isRunning(pid)).toBe(false);
    await waitUntil(() => room.hasEnded("left.stays"));
    next.child.kill("SIGINT");
    await next.end;
    expect(await readdir(TMPDIR)).toEqual([]);
  });

  it("takes an answer on a machine where the folder of the task lies elsewhere, without asking again", async () => {
    room.replies.set("ask me", (messages) => {
      const answers = listAnswers(messages);
      const directory = /Directory: (.*)/.exec(answers[0]?.text ?? "")?.[1];
      if (directory === undefined) return shell("pwd");
      if (answers.length > 1) return { text: "as agreed" };
      const args = { file_path: join(directory, "agreed.txt"), content: `in ${directory}` };
      return { calls: [{ name: "write_file", args }] };
    });
    const file = await room.writeTasks([{ id: "asking", prompt: "ask me", approvalMode: "default" }]);
    const asked = room.server.requests.length;
    const worker = await room.commands.startWorker();
    await room.fleet("run", file, "--run", "moved", "--no-follow");
    await waitUntil(() => room.hasEnded("moved.asking"));
    worker.child.kill("SIGINT");
    await worker.end;
    await room.fleet("answer", "moved.asking", "yes");
    const other = await room.commands.startWorker(1, {
      BURIN_HOME: join(room.folder, "elsewhere"),
      BURIN_FLEET_DATABASE: room.databaseUrl(),
    });
    await waitUntil(() => room.hasEnded("moved.asking"));
    const [end] = await room.commands.results("moved");
    expect(end).toMatchObject({ status: "success", result: "as agreed" });
    const place = join(room.folder, "elsewhere", "fleet", "work", "moved.asking", "project");
    expect(end?.patch).toContain(`+in ${place}`);
    expect(room.server.requests.length - asked).toBe(3);
    expect(room.server.problems).toEqual([]);
    other.child.kill("SIGINT");
    await other.end;
  });

  it("sets a task aside that takes its workers with it, says during what, and tries again when told to", async () => {
    let pid = 0;
    room.replies.set("poison", async () => {
      await waitUntil(() => pid !== 0);
      return shell(`kill -9 ${pid}`);
    });
    const file = await room.writeTasks([{ id: "bad", prompt: "poison", tries: 2 }]);
    await room.fleet("run", file, "--run", "third", "--no-follow");
    for (let tries = 0; tries < 2; tries += 1) {
      pid = 0;
      const worker = await room.commands.startWorker(1);
      pid = worker.child.pid ?? 0;
      await worker.end;
    }
    const last = await room.commands.startWorker(1);
    await waitUntil(() => room.hasEnded("third.bad"));
    const [state] = await room.commands.states("third");
    expect(state?.end).toMatchObject({ status: "set_aside", turns: 2 });
    expect(state?.end.error.message).toMatch(
      /^2 workers in a row were lost with this task, the last one during run_shell_command/,
    );
    room.replies.set("poison", () => ({ text: "well again" }));
    await room.fleet("retry", "third");
    await waitUntil(() => room.hasEnded("third.bad"));
    expect((await room.commands.states("third"))[0]?.end).toMatchObject({
      status: "success",
      result: "well again",
    });
    last.child.kill("SIGINT");
    await last.end;
  });

  it("sets aside only the task that its workers are lost by, not one that worked beside it", async () => {
    const [healthy, go] = [join(room.folder, "healthy"), join(room.folder, "go")];
    room.replies.set("kills", async () => {
      await waitUntil(() => existsSync(healthy));
      return shell(`rm -f ${healthy}; kill -9 $PPID; sleep 600`);
    });
    room.replies.set("waits", (messages) => {
      const isDone = listAnswers(messages).some(({ text }) => text.includes("Exit code: 0"));
      // What a killed worker leaves ends with the room.
      const wait = `touch ${healthy}; while [ -e ${room.folder} ] && [ ! -e ${go} ]; do sleep 0.1; done; echo done`;
      return isDone ? { text: "survived" } : shell(wait);
    });
    const file = await room.writeTasks([
      { id: "bad", prompt: "kills" },
      { id: "good", prompt: "waits" },
    ]);
    await room.fleet("run", file, "--run", "beside", "--no-follow");
    for (let lost = 0; lost < 2; lost += 1) await (await room.commands.startWorker(4)).end;
    const worker = await room.commands.startWorker(4);
    // Its third loss was that of a process for it alone.
    await waitUntil(() => room.hasEnded("beside.bad"));
    await writeFile(go, "");
    await waitUntil(() => room.hasEnded("beside.good"));
    worker.child.kill("SIGINT");
    await worker.end;
    const states = await room.commands.states("beside");
    const [bad, good] = ["beside.bad", "beside.good"].map((id) => states.find((state) => state.id === id));
    expect(bad?.end).toMatchObject({ status: "set_aside" });
    expect(bad?.end.error.message).toMatch(
      /^3 workers in a row were lost with this task, the last one during/,
    );
    expect(good?.end).toMatchObject({ status: "success", result: "survived" });
  });
});
