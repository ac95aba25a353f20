import { existsSync } from "node:fs";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  findDataFolder,
  listAnswers,
  openScriptedRoom,
  query,
  type ScriptedRoom,
  scriptCommands,
  shell,
  waitUntil,
} from "./fleet-room.mjs";

let room: ScriptedRoom;
let data: string;

beforeAll(async () => {
  room = await openScriptedRoom();
  data = findDataFolder(join(room.folder, "home/fleet/database"));
  room.replies.set("might I", (messages) =>
    listAnswers(messages).length === 0 ? shell("touch yes.txt") : { text: "thank you" },
  );
});

afterAll(async () => {
  await room.close();
});

const isUp = () => existsSync(join(data, "postmaster.pid"));

describe("burin fleet, for one person alone,", requirePrograms("PostgreSQL"), () => {
  it("P44 tells the status without its database, says who continues, and continues itself", async () => {
    const tasks = [{ id: "plain" }, { id: "asks", prompt: "might I", approvalMode: "default" }];
    const file = await room.writeTasks(tasks);
    const { stderr } = await room.fleet("run", file, "--run", "own");
    expect(stderr).toMatch(/1 done · 1 waits for you: burin fleet answer own\.asks yes\n$/);
    expect(isUp()).toBe(false);
    const status = await room.fleet("status");
    expect(status.stdout).toMatch(/own\.asks +waiting/);
    expect(status.stdout).toContain("1 done · 1 waits for you");
    expect((await room.commands.states("own")).map(({ state }) => state)).toEqual(["ended", "ended"]);
    expect((await room.fleet("status", "none")).stderr).toContain("none is not among the last runs");
    expect(isUp()).toBe(false);

    const answered = await room.fleet("answer", "asks", "yes");
    expect(answered.stderr).toContain("own.asks is in the queue again");
    expect(answered.stderr).toContain("no worker runs; to continue: burin fleet worker");
    expect((await room.fleet("status", "own")).stdout).toContain("1 queued · 1 done");
    const again = await room.writeTasks([
      ...tasks,
      { id: "more", prompt: "might I", approvalMode: "default" },
    ]);
    expect((await room.fleet("run", again, "--run", "own")).stderr).toMatch(
      /2 done · 1 waits for you: .* own\.more yes\n$/,
    );
    const followed = await room.fleet("answer", "more", "yes", "--follow");
    expect(followed.stderr).toMatch(/3 done\n$/);
    expect(followed.stdout).toMatch(/own\.more +success/);
    expect(followed.code).toBe(0);
  });

  it("P44 says nothing of a worker to start where one runs", async () => {
    const worker = await room.commands.startWorker();
    const file = await room.writeTasks([{ id: "asks", prompt: "might I", approvalMode: "default" }]);
    await room.fleet("run", file, "--run", "woken", "--no-follow");
    await waitUntil(() => room.hasEnded("woken.asks"));
    const { stderr } = await room.fleet("answer", "woken.asks", "yes");
    expect(stderr).not.toContain("no worker runs");
    await waitUntil(() => room.hasEnded("woken.asks"));
    worker.child.kill("SIGINT");
    await worker.end;
  });

  it("P44 leaves no queue of a worker that was killed while it had nothing to do", async () => {
    const killed = await room.commands.startWorker();
    const name = /worker (\S+):/.exec(killed.soFar.stderr)?.[1] ?? "";
    const queues = async () => {
      const rows: { name: string }[] = await query(room.databaseUrl(), "select name from dbos.queues");
      return rows.map((row) => row.name);
    };
    expect(await queues()).toContain(`burin_worker:${name}`);
    const next = await room.commands.startWorker();
    killed.child.kill("SIGKILL");
    await killed.end;
    const last = await room.commands.startWorker();
    expect(await queues()).toHaveLength(2);
    for (const { child, end } of [next, last]) {
      child.kill("SIGINT");
      await end;
    }
  });

  it("P44 finishes the call at work on SIGTERM, and the next worker does not repeat it", async () => {
    const [begun, ledger] = [join(room.folder, "begun"), join(room.folder, "ledger")];
    room.replies.set(
      "slow",
      scriptCommands(`touch ${begun}; sleep 2; echo once >> ${ledger}`, "echo second"),
    );
    const file = await room.writeTasks([{ id: "slow", prompt: "slow" }]);
    const worker = await room.commands.startWorker(1);
    await room.keepDatabase();
    await room.fleet("run", file, "--run", "drained", "--no-follow");
    await waitUntil(() => existsSync(begun));
    worker.child.kill("SIGTERM");
    expect((await worker.end).code).toBe(143);
    const [state] = await room.commands.states("drained");
    expect(state?.state).toBe("queued");
    const other = await room.commands.startWorker(1);
    await waitUntil(() => room.hasEnded("drained.slow"));
    const { stdout } = await room.fleet("logs", "drained.slow");
    expect(stdout.match(/--- worker/g)).toHaveLength(2);
    expect(stdout).not.toContain("may have run");
    expect(stdout.match(/call {6}run_shell_command .*sleep 2/g)).toHaveLength(1);
    other.child.kill("SIGINT");
    await other.end;
  });

  it("P44 tells whoever watches over it whether a worker runs and is ready", async () => {
    const worker = room.commands.start(["worker", "--health", "0"]);
    await waitUntil(() => worker.soFar.stderr.includes("at a time"));
    const port = /at port (\d+)/.exec(worker.soFar.stderr)?.[1];
    const ask = (path: string, method = "GET") => fetch(`http://127.0.0.1:${port}${path}`, { method });
    const health = await ask("/health");
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({ ready: true, tasks: 0, concurrency: 4, draining: false });
    expect((await ask("/ready")).status).toBe(200);
    expect((await ask("/other")).status).toBe(404);
    expect((await ask("/ready", "POST")).status).toBe(405);
    worker.child.kill("SIGINT");
    await worker.end;
    const wrong = await room.fleet("worker", "--health", "here:80");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--health must be a port")]);
  });
});
