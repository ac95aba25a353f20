import { existsSync } from "node:fs";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findDataFolder, openScriptedRoom, type ScriptedRoom } from "./fleet-room.mjs";

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom();
});

afterAll(async () => {
  await room.close();
});

it(
  "P44 says what the fleet has here, and removes it when that is meant and nobody uses it",
  requirePrograms("PostgreSQL"),
  async () => {
    expect((await room.fleet("remove")).stderr).toContain("there is nothing of the fleet here");
    const top = join(room.folder, "home/fleet");
    const data = findDataFolder(join(top, "database"));
    const file = await room.writeTasks([{ id: "only" }]);
    await room.fleet("run", file, "--run", "short");
    const said = await room.fleet("remove");
    for (const words of [data, top, "1 done", "burin fleet remove --yes"])
      expect(said.stdout).toContain(words);
    expect(existsSync(data)).toBe(true);
    const worker = await room.commands.startWorker();
    const refused = await room.fleet("remove", "--yes");
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("use the database: end them first"),
    ]);
    worker.child.kill("SIGINT");
    await worker.end;
    expect((await room.fleet("remove", "--yes")).code).toBe(0);
    expect([data, top].filter((place) => existsSync(place))).toEqual([]);
    expect((await room.fleet("status")).stderr).toContain("there are no runs yet");
  },
);
