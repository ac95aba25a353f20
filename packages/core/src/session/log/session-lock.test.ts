import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { findLockHolder, resolveLockPath, takeLock } from "./session-lock.ts";

let folder: string;
let log: string;

beforeEach(() => {
  folder = createTemporaryFolder();
  log = join(folder, "one.jsonl");
});

function changeHolder(change: object): void {
  const path = resolveLockPath(log);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), ...change }));
}

describe("the lock of a session", () => {
  it("P13 tells the second who has it and what to do, and lets it in afterwards", async () => {
    const lock = await takeLock(log);
    await expect(takeLock(log)).rejects.toThrow(new RegExp(`in use by process ${process.pid}.*--fork`));
    expect([await findLockHolder(log), readdirSync(folder)]).toEqual([
      `process ${process.pid}`,
      ["one.lock"],
    ]);
    lock.release();
    expect([await findLockHolder(log), readdirSync(folder)]).toEqual([null, []]);
    (await takeLock(log)).release();
  });

  it("P13 leaves nothing in a folder that takes no content, such as one on a full disk", async () => {
    const fs = process.getBuiltinModule("node:fs");
    const { writeFileSync } = fs;
    fs.writeFileSync = (path, _content, options) => {
      writeFileSync(path, "", options);
      throw new Error("ENOSPC: no space left on device, write");
    };
    syncBuiltinESMExports();
    try {
      await expect(takeLock(log)).rejects.toThrow("ENOSPC");
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      fs.writeFileSync = writeFileSync;
      syncBuiltinESMExports();
    }
  });

  it.each([
    ["ended", { pid: spawnSync(process.execPath, ["-e", "0"]).pid }],
    ["gave its number to another one", { started: "1" }],
    ["ran before the system was started anew", { boot: "another" }],
  ])("takes over from a process that %s", async (_how, change) => {
    await takeLock(log);
    changeHolder(change);
    expect(await findLockHolder(log)).toBe(null);
    (await takeLock(log)).release();
    expect(existsSync(resolveLockPath(log))).toBe(false);
  });

  it("P13 removes what processes have left that were killed while they took it, and nothing of others", async () => {
    await takeLock(log);
    const own = JSON.parse(readFileSync(resolveLockPath(log), "utf8"));
    const put = (name: string, change: object) =>
      writeFileSync(join(folder, name), JSON.stringify({ ...own, ...change }));
    put("one.lock", { started: "1" });
    put("one.lock.5-ended", { started: "1" });
    put("one.lock.6-waits", {});
    put("one.lock.7-elsewhere", { started: "1", host: "elsewhere" });
    put("two.lock.5-ended", { started: "1" });
    (await takeLock(log)).release();
    expect(readdirSync(folder).sort()).toEqual([
      "one.lock.6-waits",
      "one.lock.7-elsewhere",
      "two.lock.5-ended",
    ]);
  });

  it.each([["", "{}", "5", '{"pid":"1","started":"1","boot":"x","space":"y","host":"elsewhere"}']])(
    "takes over a lock that names nobody: %j",
    async (...texts) => {
      for (const text of texts) {
        writeFileSync(resolveLockPath(log), text);
        expect(await findLockHolder(log)).toBe(null);
        (await takeLock(log)).release();
      }
    },
  );

  it("does not judge processes of another machine", async () => {
    await takeLock(log);
    changeHolder({ host: "elsewhere", pid: 1 });
    await expect(takeLock(log)).rejects.toThrow("process 1 on elsewhere");
  });
});
