import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lockPath } from "./path-lock.ts";

const SOURCE = fileURLToPath(new URL("./path-lock.ts", import.meta.url));

/** Holds the lock until told otherwise; with a number it adds that often to the number in the file instead. */
const CHILD = `
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { lockPath } from "./path-lock.mjs";
const [path, count] = process.argv.slice(2);
if (count === undefined) {
  await lockPath(path, async () => {
    process.stdout.write("held");
    await new Promise((resolve) => process.stdin.once("data", resolve));
  });
  process.exit();
}
for (let at = 0; at < Number(count); at += 1) {
  await lockPath(path, async () => {
    const before = Number(readFileSync(path, "utf8"));
    await pause(Math.random());
    writeFileSync(path, String(before + 1));
  });
}
`;

let folder: string;
let path: string;

beforeAll(async () => {
  folder = createTemporaryFolder();
  const build = await rolldown({ input: SOURCE, platform: "node" });
  await build.write({ file: join(folder, "path-lock.mjs"), format: "esm" });
  await build.close();
  writeFileSync(join(folder, "child.mjs"), CHILD);
  mkdirSync(join(folder, "project"));
  path = join(folder, "project", "counted");
  writeFileSync(path, "0");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [join(folder, "child.mjs"), path, ...args], {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
}

async function holder(): Promise<ChildProcess> {
  const child = start([]);
  if (child.stdout) await once(child.stdout, "data");
  return child;
}

describe("a path that several processes change", () => {
  it("P25 belongs to one of them at a time, whatever home and temporary folder each was given", async () => {
    const children = [1, 2, 3, 4].map((number) => {
      const own = join(folder, `own-${number}`);
      mkdirSync(own);
      return start(["50"], { HOME: own, TMPDIR: own, BURIN_HOME: own });
    });
    const ends = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
    expect(ends).toEqual([0, 0, 0, 0]);
    expect(readFileSync(path, "utf8")).toBe("200");
    expect(readdirSync(join(folder, "project"))).toEqual(["counted"]);
    expect(readdirSync(join(folder, "own-1"))).toEqual([]);
  });

  it("P25 is free again when the one who has it is killed", async () => {
    const child = await holder();
    const got = lockPath(path, async () => "got");
    child.kill("SIGKILL");
    expect(await got).toBe("got");
  });

  it("P25 is waited for until it is given back", async () => {
    const child = await holder();
    const seen: string[] = [];
    const waiting = Promise.all(
      [1, 2, 3].map((number) => lockPath(path, async () => void seen.push(`in ${number}`))),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    seen.push("given back");
    child.stdin?.write("go");
    await waiting;
    expect(seen).toEqual(["given back", "in 1", "in 2", "in 3"]);
  });

  it("P25 is not waited for without end: the error names the process that has it", async () => {
    const child = await holder();
    try {
      await expect(lockPath(path, async () => {}, { timeoutMs: 200 })).rejects.toThrow(
        `${path} has been locked by process ${child.pid} for more than 0.2 s, so nothing was written.`,
      );
      child.kill("SIGSTOP");
      await expect(lockPath(path, async () => {}, { timeoutMs: 200 })).rejects.toThrow(
        "has been locked by another process for more",
      );
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("P25 a wait for it ends with its signal", async () => {
    const child = await holder();
    try {
      const controller = new AbortController();
      const waiting = lockPath(path, async () => {}, { signal: controller.signal });
      setTimeout(() => controller.abort(new Error("enough")), 50);
      await expect(waiting).rejects.toThrow("enough");
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("P25 is given back when the work fails, and within one process too", async () => {
    const failing = lockPath(path, async () => {
      throw new Error("no");
    });
    const next = lockPath(path, async () => "next");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("next");
  });
});
