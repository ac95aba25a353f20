import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openScriptedRoom, type ScriptedRoom } from "./fleet-room.mjs";

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom();
});

afterAll(async () => {
  await room.close();
});

/** What a command says that has come to nothing. */
async function saidBy(...args: string[]): Promise<string> {
  const { code, stderr } = await room.fleet(...args);
  expect(code).toBe(2);
  return stderr.trimEnd();
}

describe("burin fleet, asked wrongly,", requirePrograms("PostgreSQL"), () => {
  it("says what is wrong before it starts a database", async () => {
    expect(await saidBy()).toMatch(
      /^burin: say what to do: burin fleet run, worker, .*serve, remove; see burin help fleet$/,
    );
    expect(await saidBy("statu")).toBe(
      "burin: there is no burin fleet statu; did you mean burin fleet status?",
    );
    expect(await saidBy("plugh")).toMatch(
      /^burin: there is no burin fleet plugh; there are run, .*serve, remove$/,
    );
    expect(await saidBy("worker", "two")).toBe('burin: burin fleet worker does not take "two"');
    expect(await saidBy("status", "one", "two")).toBe('burin: burin fleet status does not take "two"');
    expect(await saidBy("serve", "--port", "65536")).toBe(
      'burin: --port must be a whole number up to 65535, not "65536".',
    );
    expect(await saidBy("worker", "--per-model", "0")).toContain(
      "--per-model must be a whole number above 0",
    );
    expect(await saidBy("run", "tasks.jsonl", "--run", "../x")).toContain(
      "--run must be letters, digits, - and _",
    );
    expect(await saidBy("run")).toBe("burin: name a file of tasks: burin fleet run tasks.jsonl");
    expect(await saidBy("run", "none.jsonl")).toContain("none.jsonl cannot be read: there is no such file");
    const asked = async (task: object) => saidBy("run", await room.writeTasks([{ id: "a", ...task }]));
    expect(await asked({ budget: "lots" })).toMatch(
      /^burin: Line 1: "budget" cannot be used: The budget "lots" .*[^.]\.$/,
    );
    expect(await asked({ folder: "none" })).toBe(
      `burin: Task "a": there is no folder ${join(room.folder, "none")}.`,
    );
    expect(await asked({ folder: "project/start.txt" })).toContain('Task "a": there is no folder ');
    expect(await asked({ folder: undefined, tarball: "none.tgz" })).toBe(
      `burin: Task "a": there is no tarball ${join(room.folder, "none.tgz")}.`,
    );
    expect(await saidBy("status", "--database", "user:secret@host")).toBe(
      "burin: the database must be named as postgresql://user:password@host/name",
    );
    expect(await saidBy("status", "--database", "postgresql://user:secret@127.0.0.1:1/name")).toMatch(
      /^burin: the database 127\.0\.0\.1:1\/name cannot be reached: .*ECONNREFUSED/,
    );
    expect(existsSync(join(room.folder, "home/fleet"))).toBe(false);
  });

  it.each([
    "status",
    "results",
    "questions",
    "logs a",
    "answer a yes",
    "cancel a",
    "retry a",
    "status one --json",
  ])("P44 where nothing was ever run, burin fleet %s makes no database", async (line) => {
    expect(await saidBy(...line.split(" "))).toBe(
      "burin: there are no runs yet: burin fleet run tasks.jsonl",
    );
    expect(existsSync(join(room.folder, "home/fleet"))).toBe(false);
  });

  it("says that there are no runs, and which tarball or repository is none; a branch need not be the first one", async () => {
    expect(await saidBy("status")).toBe("burin: there are no runs yet: burin fleet run tasks.jsonl");
    const origin = join(room.folder, "origin");
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", origin, "-c", "user.name=a", "-c", "user.email=a@b", ...args]);
    await mkdir(origin);
    git("init", "-q", "-b", "main");
    git("commit", "-q", "--allow-empty", "-m", "one");
    git("checkout", "-q", "-b", "side/branch");
    await writeFile(join(origin, "side.txt"), "side\n");
    git("add", "-A");
    git("commit", "-q", "-m", "two");
    git("checkout", "-q", "main");
    const code = { folder: undefined, git: "./origin" };
    const tarball = await room.writeTasks([{ id: "a", folder: undefined, tarball: "project/start.txt" }]);
    expect(await saidBy("run", tarball)).toMatch(
      /start\.txt could not be unpacked: exit code 2: tar: .*not look like a tar archive/,
    );
    const file = await room.writeTasks([
      { id: "side", ...code, revision: "side/branch", setup: "cat side.txt" },
      { id: "first", ...code, setup: "cat side.txt" },
      { id: "revision", ...code, revision: "nope" },
      { id: "none", ...code, git: "./none" },
    ]);
    const { stdout } = await room.fleet("run", file, "--run", "wrong");
    expect(stdout).toMatch(/wrong\.side +success/);
    expect(stdout).toMatch(/wrong\.first +error .*The setup command failed: exit code 1: cat: side\.txt/);
    const { stdout: revision } = await room.fleet("logs", "revision");
    expect(revision).toMatch(/^error: .*origin has no revision "nope" that can be checked out: /m);
    expect((await room.fleet("logs", "none")).stdout).toMatch(
      /^error: .*none could not be cloned: exit code 128: fatal: /m,
    );
  });
});
