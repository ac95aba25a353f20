import { execSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openScriptedRoom, type ScriptedRoom, scriptCommands, waitUntil } from "./fleet-room.mjs";

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom();
  await room.commands.startWorker(4);
  await room.keepDatabase();
});

afterAll(async () => {
  await room.close();
});

describe("the folder of a task", requirePrograms("PostgreSQL"), () => {
  it("cancels a task with its setup command, also one that never ends", async () => {
    const begun = join(room.folder, "preparing");
    const file = await room.writeTasks([{ id: "stuck", setup: `echo $$ > ${begun}; exec sleep 600` }]);
    await room.fleet("run", file, "--run", "stuck", "--no-follow");
    await waitUntil(() => existsSync(begun) && readFileSync(begun, "utf8") !== "");
    await room.fleet("cancel", "stuck.stuck");
    const pid = Number(await readFile(begun, "utf8"));
    await waitUntil(() => !existsSync(`/proc/${pid}`));
    expect((await room.commands.states("stuck"))[0]?.state).toBe("cancelled");
  });

  it("cancels a task whose repository never answers, and ends git with it", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const connected = once(server, "connection");
    const { port } = server.address() as AddressInfo;
    const file = await room.writeTasks([
      { id: "waits", folder: undefined, git: `http://127.0.0.1:${port}/r.git` },
    ]);
    await room.fleet("run", file, "--run", "clone", "--no-follow");
    const [socket] = (await connected) as [Socket];
    socket.on("error", () => {}).resume();
    const ended = once(socket, "close");
    await room.fleet("cancel", "clone.waits");
    await ended;
    expect((await room.commands.states("clone"))[0]?.state).toBe("cancelled");
    server.close();
  });

  it("keeps one folder for all tasks that begin with the same commit", async () => {
    const repo = join(room.folder, "shared-repo");
    await mkdir(repo);
    await writeFile(join(repo, "one.txt"), "one\n");
    const identity = "-c user.name=a -c user.email=a@example.org";
    execSync(`git init -q && git add -A && git ${identity} commit -qm one`, { cwd: repo });
    room.replies.set("look at it", scriptCommands("cat one.txt"));
    const ids = ["a", "b", "c", "d", "e"];
    const file = await room.writeTasks(
      ids.map((id) => ({ id, folder: undefined, git: "./shared-repo", prompt: "look at it" })),
    );
    const bases = join(room.folder, "home/fleet/bases");
    const before = await readdir(bases).catch((): string[] => []);
    await room.fleet("run", file, "--run", "shared", "--no-follow");
    for (const id of ids) await waitUntil(() => room.hasEnded(`shared.${id}`));
    for (const { status, result } of await room.commands.results("shared"))
      expect({ status, result }).toEqual({ status: "success", result: "done" });
    const commit = execSync("git rev-parse HEAD", { cwd: repo, encoding: "utf8" }).trim();
    expect((await readdir(bases)).filter((name) => !before.includes(name))).toEqual([`commit-${commit}`]);
  });

  it("ends a task that has removed its folder, with the removal as its result", async () => {
    room.replies.set("remove all", scriptCommands('rm -rf "$PWD"'));
    const file = await room.writeTasks([{ id: "gone", prompt: "remove all" }]);
    await room.fleet("run", file, "--run", "gone", "--no-follow");
    await waitUntil(() => room.hasEnded("gone.gone"));
    const [result] = await room.commands.results("gone");
    expect(result).toMatchObject({ status: "success", result: "done" });
    expect(result?.patch).toContain("deleted file mode 100644\n");
  });
});
