import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  findDataFolder,
  openScriptedRoom,
  type ScriptedRoom,
  scriptCommands,
  waitUntil,
} from "./fleet-room.mjs";

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom();
});

afterAll(async () => {
  await room.close();
});

/** Lets commands run in the sandbox, as they do by default. Returns a function that turns it off again. */
async function useSandbox(): Promise<() => Promise<void>> {
  const settings = join(room.folder, "home/settings.json");
  const before = await readFile(settings, "utf8");
  await writeFile(settings, "{}");
  return () => writeFile(settings, before);
}

describe("burin fleet, with a folder that is not to be trusted,", requirePrograms("PostgreSQL"), () => {
  it("P21 runs nothing that a repository within the folder of a task names as a program", async () => {
    const evil = join(room.folder, "evil");
    const nested = join(room.project, "nested");
    const git = (...args: string[]) => execFileSync("git", ["-C", nested, ...args], { stdio: "pipe" });
    await mkdir(nested);
    await writeFile(join(nested, "a.txt"), "a\n");
    git("init", "-q");
    git("add", "-A");
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one");
    git("config", "core.fsmonitor", `touch ${evil}; false`);
    room.replies.set("nested", scriptCommands("echo more >> start.txt"));
    const file = await room.writeTasks([{ id: "nested", prompt: "nested" }]);
    await room.fleet("run", file, "--run", "hostile");
    expect((await room.commands.results("hostile"))[0]?.patch).toContain("+more\n");
    expect(existsSync(evil)).toBe(false);
    git("status");
    expect(existsSync(evil)).toBe(true);
  });

  it("P21 ends the commands of a task that use more memory than --task-memory, and no others", async () => {
    const eat = `${process.execPath} -e 'const b = Buffer.alloc(400 * 1024 * 1024, 1); setInterval(() => b, 1000)'`;
    room.replies.set("eats", scriptCommands(eat));
    room.replies.set("modest", scriptCommands("sleep 4; echo modest"));
    const file = await room.writeTasks([
      { id: "eats", prompt: "eats" },
      { id: "modest", prompt: "modest" },
    ]);
    const { stderr } = await room.fleet("run", file, "--run", "memory", "--task-memory", "200M");
    expect(stderr).toMatch(
      /memory\.eats had \d+ MB in memory, more than --task-memory: its commands were ended/,
    );
    expect(stderr).not.toContain("memory.modest had");
    expect((await room.fleet("logs", "memory.eats")).stdout).toMatch(/SIGKILL|signal 9|137/);
    expect((await room.fleet("logs", "memory.modest")).stdout).toContain("Exit code: 0");
  });

  it("P21 keeps no password of a repository in the database, and gives it to the clone alone", async () => {
    const { createServer } = await import("node:http");
    const asked: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      asked.push(headers.authorization);
      response
        .writeHead(headers.authorization === undefined ? 401 : 404, { "www-authenticate": "Basic realm=a" })
        .end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as import("node:net").AddressInfo;
    const code = (password: string) => ({
      folder: undefined,
      git: `http://me:${password}@127.0.0.1:${port}/a.git`,
    });
    const refused = await room.fleet("run", await room.writeTasks([{ id: "bare", ...code("s3cret") }]));
    expect(refused.stderr).toContain('"git" has a password, which would be kept in the database');
    const file = await room.writeTasks([{ id: "named", ...code(`\${BURIN_GIT_PW}`) }]);
    const words = ["run", file, "--run", "secrets"];
    const { stdout } = await room.commands.start(words, { BURIN_GIT_PW: "s3/cret" }).end;
    expect(asked.map((one) => one && Buffer.from(one.slice(6), "base64").toString())).toContain("me:s3/cret");
    const logs = await room.fleet("logs", "secrets.named");
    expect(logs.stdout).toContain("could not be cloned");
    expect(stdout + logs.stdout).not.toMatch(/s3(?:\/|%2F)cret/);
    const without = await room.fleet("run", file, "--run", "missing");
    expect(without.stdout).toContain("this worker lacks the variable BURIN_GIT_PW");
    server.close();
  });

  it(
    "P21 runs commands in the sandbox beside a database of its own, which they do not see",
    requirePrograms("bwrap"),
    async () => {
      const restoreSettings = await useSandbox();
      const data = findDataFolder(join(room.folder, "home/fleet/database"));
      room.replies.set("look around", scriptCommands(`ls ${data} ${dirname(data)}; echo seen > seen.txt`));
      const file = await room.writeTasks([
        { id: "looks", prompt: "look around", setup: "echo made > made.txt" },
      ]);
      await room.fleet("run", file, "--run", "own");
      await restoreSettings();
      const [end] = await room.commands.results("own");
      expect(end?.error).toBeUndefined();
      expect(end?.patch).toContain("+seen\n");
      expect((await room.fleet("logs", "own.looks")).stdout).not.toMatch(/PG_VERSION|\n +burin-fleet-/);
    },
  );

  it(
    "R50 P44 runs unasked in auto what stays in the copy of a task, and waits for an answer before the rest",
    requirePrograms("bwrap"),
    async () => {
      const restoreSettings = await useSandbox();
      room.replies.set("clear", scriptCommands("echo made > made.txt; rm -rf start.txt data", "git push"));
      const setup =
        "git init -q; echo data/ > .gitignore; mkdir data; head -c 3000000 /dev/zero > data/table.db";
      const file = await room.writeTasks([{ id: "clears", prompt: "clear", setup, approvalMode: "auto" }]);
      await room.fleet("run", file, "--run", "auto", "--no-follow");
      const worker = await room.commands.startWorker();
      await waitUntil(() => room.hasEnded("auto.clears"));
      const { stdout } = await room.fleet("questions", "auto");
      expect(stdout).toContain("git push");
      expect(stdout).not.toContain("made.txt");
      await room.fleet("answer", "auto.clears", "no");
      await waitUntil(() => room.hasEnded("auto.clears"));
      const [end] = await room.commands.results("auto");
      expect(end?.patch).toMatch(/made\.txt[\s\S]*start\.txt/);
      await restoreSettings();
      worker.child.kill("SIGINT");
      await worker.end;
    },
  );
});
