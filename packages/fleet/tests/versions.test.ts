import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  installCopy,
  listAnswers,
  openScriptedRoom,
  type ScriptedRoom,
  shell,
  waitUntil,
} from "./fleet-room.mjs";

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom();
});

afterAll(async () => {
  await room.close();
});

/** The workers that a task has had, by its log. */
async function workersOf(id: string): Promise<readonly string[]> {
  const { stdout } = await room.fleet("logs", id);
  return [...stdout.matchAll(/^--- worker (\S+)$/gm)].map(([, name = ""]) => name);
}

function nameOf({ soFar }: { readonly soFar: { readonly stderr: string } }): string {
  return /worker (\S+):/.exec(soFar.stderr)?.[1] ?? "";
}

describe("burin fleet with workers of two versions", requirePrograms("PostgreSQL"), () => {
  it("ends tasks on the version that began them, also when their worker is lost, and begins new ones on the new one", async () => {
    const [begun, go] = [join(room.folder, "begun"), join(room.folder, "go")];
    room.replies.set("slow", (messages) => {
      const wait = `touch ${begun}; while [ -e ${room.folder} ] && [ ! -e ${go} ]; do sleep 0.1; done`;
      return listAnswers(messages).length === 0 ? shell(wait) : { text: "ended" };
    });
    let changed = 0;
    const burin = await installCopy(join(room.folder, "next"), (code) =>
      code.replace(
        /((?:appVersion|applicationVersion): |\[\w+, |\[\s*\w+,\s*\w+,\s*)"1"/g,
        (_, before: string) => {
          changed += 1;
          return `${before}"next"`;
        },
      ),
    );
    expect(changed).toBe(4);
    const old = await room.commands.startWorker(4);
    await room.keepDatabase();
    const next = await room.commands.startWorker(4, {}, { burin });
    const slow = await room.writeTasks([{ id: "slow", prompt: "slow" }]);
    await room.fleet("run", slow, "--run", "old", "--no-follow");
    await waitUntil(() => existsSync(begun));
    const tasks = ["a", "b", "c", "d"].map((id) => ({ id }));
    const more = await room.writeTasks(tasks);
    await room.commands.start(["run", more, "--run", "new", "--no-follow"], {}, { burin }).end;
    for (const { id } of tasks) await waitUntil(() => room.hasEnded(`new.${id}`));
    for (const { id } of tasks) expect(await workersOf(`new.${id}`)).toEqual([nameOf(next)]);

    old.child.kill("SIGKILL");
    await old.end;
    await room.commands.start(["run", more, "--run", "newer", "--no-follow"], {}, { burin }).end;
    for (const { id } of tasks) await waitUntil(() => room.hasEnded(`newer.${id}`));
    expect(await workersOf("old.slow")).toEqual([nameOf(old)]);
    const status = await room.commands.start(["status", "old"], {}, { burin }).end;
    expect(status.stderr).toContain("1 task can run only on a worker of the submitting version of Burin");
    expect((await room.fleet("status", "old")).stderr).not.toContain("need a worker");

    const second = await room.commands.startWorker(4);
    await writeFile(go, "");
    await waitUntil(() => room.hasEnded("old.slow"));
    expect(await workersOf("old.slow")).toEqual([nameOf(old), nameOf(second)]);
    for (const { child, end } of [next, second]) {
      child.kill("SIGINT");
      await end;
    }
  });
});
