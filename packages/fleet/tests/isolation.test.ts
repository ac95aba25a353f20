import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { needs } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commands, dataOf, openScriptedRoom, type ScriptedRoom } from "./fleet-room.mjs";

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom();
});

afterAll(async () => {
  await room.close();
});

describe("burin fleet, with a folder that is not to be trusted,", needs("PostgreSQL"), () => {
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
    room.replies.set("nested", commands("echo more >> start.txt"));
    const file = await room.writeTasks([{ id: "nested", prompt: "nested" }]);
    await room.fleet("run", file, "--run", "hostile");
    expect((await room.commands.results("hostile"))[0]?.patch).toContain("+more\n");
    expect(existsSync(evil)).toBe(false);
    git("status");
    expect(existsSync(evil)).toBe(true);
  });

  it(
    "P21 runs commands in the sandbox beside a database of its own, which they do not see",
    needs("bwrap"),
    async () => {
      const settings = join(room.folder, "home/settings.json");
      const before = await readFile(settings, "utf8");
      await writeFile(settings, "{}");
      const data = dataOf(join(room.folder, "home/fleet/database"));
      room.replies.set("look around", commands(`ls ${data} ${dirname(data)}; echo seen > seen.txt`));
      const file = await room.writeTasks([
        { id: "looks", prompt: "look around", setup: "echo made > made.txt" },
      ]);
      await room.fleet("run", file, "--run", "own");
      await writeFile(settings, before);
      const [end] = await room.commands.results("own");
      expect(end?.error).toBeUndefined();
      expect(end?.patch).toContain("+seen\n");
      expect((await room.fleet("logs", "own.looks")).stdout).not.toMatch(/PG_VERSION|\n +burin-fleet-/);
    },
  );
});
