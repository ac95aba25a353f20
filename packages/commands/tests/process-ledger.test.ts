import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir, uptime } from "node:os";
import { basename, join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import {
  createTemporary,
  endLeftovers,
  ProcessLedger,
  removeTemporary,
  TEMPORARY_PREFIX,
} from "../src/processes/process-ledger.ts";
import { findProcess } from "../src/processes/process-table.ts";
import { RUN_VARIABLE } from "../src/processes/process-tree.ts";
import { Supervisor } from "../src/processes/supervisor.ts";
import { createGuardCheck, createGuardNote } from "../src/sandbox/guard-notes.ts";
import { createGuardFactory } from "../src/sandbox/sandbox-guard.ts";

const checkGuard = createGuardCheck(process.env);

let home: string;

beforeEach(() => {
  home = createTemporaryFolder();
});

function sleeper(runId?: string): number {
  const env = { PATH: process.env.PATH, ...(runId === undefined ? {} : { [RUN_VARIABLE]: runId }) };
  return spawn("sleep", ["600"], { env, detached: true, stdio: "ignore" }).pid ?? 0;
}

function isAlive(pid: number): boolean {
  const found = findProcess(pid);
  return found !== null && !found.isZombie;
}

/** The ledger as a Burin that has crashed would have left it: same system, but no such process any more. */
function orphaned(ledger: ProcessLedger, change: Record<string, unknown> = { started: "0" }): string {
  const path = join(home, "running", `${ledger.id}.jsonl`);
  const [first = "{}", ...rest] = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, [JSON.stringify({ ...JSON.parse(first), ...change }), ...rest].join("\n"));
  return path;
}

/** As if nobody had written the file since this machine started. */
function beforeThisBoot(path: string): void {
  const then = Date.now() / 1000 - uptime() - 60;
  utimesSync(path, then, then);
}

/** The system's administrator has every right, whatever a folder says. */
async function asUser(work: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe("a temporary folder", () => {
  it.runIf(process.platform === "linux")(
    "P26 is removed whatever rights a command left in it, and not what a link in it leads to",
    async () => {
      const folder = join(tmpdir(), `${TEMPORARY_PREFIX}rights${process.pid}`);
      const precious = `${folder}-precious`;
      const fs = process.getBuiltinModule("node:fs/promises");
      const { readdir } = fs;
      try {
        await asUser(async () => {
          for (const path of [precious, join(folder, "unread/inner")]) mkdirSync(path, { recursive: true });
          for (const path of [join(folder, "unread/inner/a"), join(precious, "a")]) writeFileSync(path, "a");
          symlinkSync(precious, join(folder, "link"));
          for (const path of [join(folder, "unread/inner"), precious]) chmodSync(path, 0o500);
          chmodSync(join(folder, "unread"), 0);
          await removeTemporary(folder, home);
          expect(existsSync(folder)).toBe(false);
          const swapped = join(folder, "closed/swapped");
          mkdirSync(swapped, { recursive: true });
          chmodSync(join(folder, "closed"), 0o500);
          // As a program that still runs would do it, right after the look.
          fs.readdir = (async (...asked: Parameters<typeof readdir>) => {
            const found = await readdir(...asked);
            if (found.some((entry) => String(entry.name) === "swapped")) {
              rmSync(swapped, { recursive: true });
              symlinkSync(precious, swapped);
            }
            return found;
          }) as typeof readdir;
          syncBuiltinESMExports();
          await removeTemporary(folder, home).catch(() => {});
          expect([statSync(precious).mode & 0o777, readdirSync(precious)]).toEqual([0o500, ["a"]]);
        });
      } finally {
        fs.readdir = readdir;
        syncBuiltinESMExports();
        for (const path of [folder, precious]) {
          if (existsSync(path)) execFileSync("chmod", ["-R", "u+rwx", path]);
          rmSync(path, { recursive: true, force: true });
        }
      }
    },
  );

  it("P26 is made elsewhere where a full disk takes folders and no content, so that a command can make room", () => {
    const fs = process.getBuiltinModule("node:fs");
    const { appendFileSync } = fs;
    fs.appendFileSync = (path, ...rest) => {
      if (!String(path).startsWith(home)) throw Object.assign(new Error(), { code: "ENOSPC" });
      appendFileSync(path, ...rest);
    };
    syncBuiltinESMExports();
    try {
      mkdirSync(join(home, "tmp"));
      const folder = createTemporary(home, []);
      expect([folder.startsWith(join(home, "tmp")), readdirSync(folder)]).toEqual([true, []]);
      expect(existsSync(join(tmpdir(), basename(folder)))).toBe(false);
    } finally {
      fs.appendFileSync = appendFileSync;
      syncBuiltinESMExports();
    }
  });
});

describe("the ledger of processes", () => {
  it("P26 ends what carries the mark or is the noted process, and nothing else", async () => {
    const ledger = new ProcessLedger(home);
    const [marked, noted, reused, stranger] = [
      sleeper(`${ledger.id}.4`),
      sleeper(),
      sleeper(),
      sleeper("other.1"),
    ];
    ledger.note({ pid: noted, started: findProcess(noted)?.started ?? "" });
    ledger.note({ pid: reused, started: "1" });
    const path = orphaned(ledger);
    expect(await endLeftovers(home, checkGuard)).toBe(2);
    expect([marked, noted, reused, stranger].map(isAlive)).toEqual([false, false, true, true]);
    expect(existsSync(path)).toBe(false);
    for (const pid of [reused, stranger]) process.kill(pid);
  });

  it("P26 leaves alone what belongs to a Burin that runs, or to another space of processes", async () => {
    const ledger = new ProcessLedger(home);
    const pid = sleeper(`${ledger.id}.1`);
    ledger.note({ pid, started: findProcess(pid)?.started ?? "" });
    expect(await endLeftovers(home, checkGuard)).toBe(0);
    orphaned(ledger, { started: "0", space: "pid:[1]" });
    expect(await endLeftovers(home, checkGuard)).toBe(0);
    expect(isAlive(pid)).toBe(true);
    process.kill(pid);
  });

  it("P26 after a new start of the system nothing is ended and the ledger goes", async () => {
    const ledger = new ProcessLedger(home);
    const pid = sleeper(`${ledger.id}.1`);
    ledger.note({ pid, started: findProcess(pid)?.started ?? "" });
    const path = orphaned(ledger, { boot: "an earlier one" });
    beforeThisBoot(path);
    expect(await endLeftovers(home, checkGuard)).toBe(0);
    expect(isAlive(pid)).toBe(true);
    expect(readdirSync(join(home, "running"))).toEqual([]);
    process.kill(pid);
  });

  it("P3 P26 removes the files of writes that a crash ended, and nothing else in their folder", async () => {
    const folder = createTemporaryFolder();
    const [ledger, other] = [new ProcessLedger(home), new ProcessLedger(home)];
    const { name } = ledger.beginWrite(folder);
    const outside = join(createTemporaryFolder(), "outside");
    const kept = [
      "file.txt",
      ".burin-0123456789abcdef.tmp",
      other.beginWrite(folder).name,
      `${ledger.beginWrite(folder).name}.txt`,
    ];
    for (const one of [name, ...kept]) writeFileSync(join(folder, one), "");
    writeFileSync(outside, "");
    const [link, directory] = [ledger.beginWrite(folder).name, ledger.beginWrite(folder).name];
    symlinkSync(outside, join(folder, link));
    mkdirSync(join(folder, directory));
    orphaned(ledger);
    await endLeftovers(home, checkGuard);
    expect(readdirSync(folder).sort()).toEqual([...kept, link, directory].sort());
    expect(existsSync(outside)).toBe(true);
    // The other one is not over, and this ledger has done its work.
    expect(readdirSync(join(home, "running"))).toEqual([`${other.id}.jsonl`]);
  });

  it("P3 P26 what another machine may be writing on a shared disk stays, also its ledger", async () => {
    const folder = createTemporaryFolder();
    const ledger = new ProcessLedger(home);
    const [old, fresh] = [ledger.beginWrite(folder).name, ledger.beginWrite(folder).name];
    for (const one of [old, fresh]) writeFileSync(join(folder, one), "");
    beforeThisBoot(join(folder, old));
    const path = orphaned(ledger, { boot: "of another machine" });
    await endLeftovers(home, checkGuard);
    expect(readdirSync(folder).sort()).toEqual([old, fresh].sort());
    expect(existsSync(path)).toBe(true);
    // What was last written before this machine started is from before that; a file in it may still be another's.
    beforeThisBoot(path);
    await endLeftovers(home, checkGuard);
    expect(readdirSync(folder)).toEqual([fresh]);
  });

  it("P3 P26 notes a folder once, and keeps the ledger while a write is not finished", () => {
    const ledger = new ProcessLedger(home);
    const path = join(home, "running", `${ledger.id}.jsonl`);
    const writes = Array.from({ length: 50 }, () => ledger.beginWrite(home));
    expect(new Set(writes.map(({ name }) => name)).size).toBe(50);
    expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(2);
    ledger.close();
    expect(existsSync(path)).toBe(true);
    for (const { end } of writes) end();
    ledger.close();
    expect(existsSync(path)).toBe(false);
  });

  it("removes temporary folders that were left, but only its own", async () => {
    const ledger = new ProcessLedger(home);
    const temporary = join(tmpdir(), `${TEMPORARY_PREFIX}test${process.pid}`);
    const precious = join(home, "precious");
    for (const folder of [temporary, precious]) mkdirSync(folder);
    for (const folder of [temporary, precious, `${temporary}/../../${home}`])
      ledger.note({ temporary: folder });
    orphaned(ledger);
    await endLeftovers(home, checkGuard);
    expect([temporary, precious].map((folder) => existsSync(folder))).toEqual([false, true]);
  });

  it("P26 P53 looks after a command that a crash left alone: what it made goes, what was there or came later stays", async () => {
    const root = join(home, "project");
    mkdirSync(root);
    writeFileSync(join(root, ".npmrc"), "before");
    const begin = createGuardFactory({ roots: [root], home, temporary: "/tmp/x", environment: process.env });
    const ledger = new ProcessLedger(home);
    const [done, left] = [await begin(), await begin()];
    // Nobody looks any more, as after a crash.
    for (const guard of [done, left]) await guard.release();
    const note = { roots: [root], temporary: "/tmp/x" };
    if (done.before === null || left.before === null) throw new Error("nothing is guarded");
    ledger.noteGuard(createGuardNote({ ...done.before, ...note }))();
    ledger.noteGuard(createGuardNote({ ...left.before, ...note }));
    writeFileSync(join(root, ".env"), "planted");
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    writeFileSync(join(root, ".git/commondir"), "../elsewhere");
    const path = orphaned(ledger);
    writeFileSync(join(root, ".envrc"), "made long after the crash");
    const lastBeat = new Date(Date.now() - 60_000);
    utimesSync(path, lastBeat, lastBeat);
    await endLeftovers(home, checkGuard);
    expect(readdirSync(root).sort()).toEqual([".env", ".envrc", ".git", ".npmrc"]);
    const again = new ProcessLedger(home);
    again.noteGuard(createGuardNote({ ...left.before, ...note }));
    orphaned(again);
    await endLeftovers(home, checkGuard);
    expect(readdirSync(root)).toEqual([".npmrc"]);
    expect(readFileSync(join(root, ".npmrc"), "utf8")).toBe("before");
    expect(readdirSync(join(home, "running"))).toEqual([]);
  });

  it("P26 P53 a link that a command changed is put back, also by the notes of an earlier version", async () => {
    const root = join(home, "project");
    mkdirSync(root);
    symlinkSync("own", join(root, ".npmrc"));
    const { before, release } = await createGuardFactory({
      roots: [root],
      home,
      temporary: "/tmp/x",
      environment: process.env,
    })();
    await release();
    if (before === null) throw new Error("nothing is guarded");
    const places = [...before.places].map(([key, { kind, target }]) => [key, kind, target]);
    const ledger = new ProcessLedger(home);
    ledger.note();
    const path = orphaned(ledger);
    const note = { guard: 1, since: before.since, isWhole: true, named: [...before.named], places };
    appendFileSync(path, `${JSON.stringify({ ...note, roots: [root], temporary: "/tmp/x" })}\n`);
    rmSync(join(root, ".npmrc"));
    symlinkSync("planted", join(root, ".npmrc"));
    await endLeftovers(home, checkGuard);
    expect(readlinkSync(join(root, ".npmrc"))).toBe("own");
  });

  it.each(["", "not json", "[]", '{"owner":"x"}', '{"pid":1,"started":"1"}\nnull\n5', "\0\0"])(
    "P26 a ledger that holds %j harms nothing",
    async (text) => {
      mkdirSync(join(home, "running"));
      writeFileSync(join(home, "running", "0123456789abcdef.jsonl"), text);
      writeFileSync(join(home, "running", "other"), text);
      expect(await endLeftovers(home, checkGuard)).toBe(0);
    },
  );

  it("P26 is there before a program starts, so that one is found whose process id was never noted", async () => {
    const supervisor = new Supervisor({ home, environment: {} });
    const program = { program: "/does/not/exist", args: [], env: {}, cwd: home, isVerbatim: false };
    await expect(supervisor.start({ ...program, writeEnd: null, sandbox: null })).rejects.toThrow();
    orphaned(supervisor.ledger);
    const pid = sleeper(`${supervisor.ledger.id}.1`);
    expect(await endLeftovers(home, checkGuard)).toBe(1);
    expect(isAlive(pid)).toBe(false);
  });

  it("is for its owner alone, and gone when it is closed; a home that cannot be written costs nothing", () => {
    const ledger = new ProcessLedger(home);
    ledger.note({ pid: 1, started: "1" });
    const path = join(home, "running", `${ledger.id}.jsonl`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, "running")).mode & 0o777).toBe(0o700);
    ledger.close();
    expect(existsSync(path)).toBe(false);
    writeFileSync(join(home, "file"), "");
    const nowhere = new ProcessLedger(join(home, "file"));
    nowhere.note({ pid: 1, started: "1" });
    nowhere.close();
    expect(statSync(join(home, "file")).isFile()).toBe(true);
  });
});
