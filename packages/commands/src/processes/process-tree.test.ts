import { describe, expect, it } from "vitest";
import { findProcess, listProcesses, type ProcessEntry, parsePs } from "./process-table.ts";
import { endTree, findMembers } from "./process-tree.ts";
import { startChild } from "./run-process.ts";

const entry = (pid: number, more: Partial<ProcessEntry> = {}): ProcessEntry => ({
  pid,
  parent: 1,
  group: pid,
  session: pid,
  started: String(pid),
  name: "x",
  isZombie: false,
  ...more,
});

const pids = (members: readonly ProcessEntry[]) => members.map(({ pid }) => pid).sort((a, b) => a - b);

describe("membersOf", () => {
  const known = new Map([[100, "100"]]);
  const noMark = () => null;

  it("P26 follows parents, groups, sessions and the mark, in any order", () => {
    const table = [
      entry(106, { parent: 105 }),
      entry(100),
      entry(101, { parent: 100 }),
      entry(102, { group: 100 }),
      entry(103, { session: 101 }),
      entry(104),
      entry(105),
      entry(200),
      entry(201, { parent: 200 }),
    ];
    const markOf = (pid: number) => (pid === 105 ? "run.1" : pid === 200 ? "run.11" : null);
    expect(pids(findMembers({ runId: "run.1", known }, table, markOf))).toEqual([
      100, 101, 102, 103, 105, 106,
    ]);
  });

  it("P26 all runs of one Burin, and the runs of a Burin inside", () => {
    const marks: Record<number, string> = { 300: "a.1", 301: "a.2", 302: "b.1 a.9", 303: "aa.1", 304: "b.1" };
    const table = [300, 301, 302, 303, 304].map((pid) => entry(pid));
    const markOf = (pid: number) => marks[pid] ?? null;
    expect(pids(findMembers({ runId: "a.", known: new Map() }, table, markOf))).toEqual([300, 301, 302]);
    expect(pids(findMembers({ runId: "b.1", known: new Map() }, table, markOf))).toEqual([302, 304]);
  });

  it("P26 a process id that was given out again is another process", () => {
    const table = [entry(100, { started: "later" }), entry(101, { parent: 100 })];
    expect(findMembers({ runId: "r", known }, table, noMark)).toEqual([]);
  });

  it("P26 the group of a leader that has ended still belongs", () => {
    expect(pids(findMembers({ runId: "r", known }, [entry(150, { group: 100 })], noMark))).toEqual([150]);
  });

  it("never counts this process, the first one, or the dead", () => {
    const table = [
      entry(1),
      entry(process.pid, { parent: 100 }),
      entry(100),
      entry(101, { parent: 100, isZombie: true }),
      entry(102, { parent: 1, group: 0, session: 0 }),
    ];
    expect(pids(findMembers({ runId: "r", known }, table, noMark))).toEqual([100]);
  });
});

describe("the table of processes", () => {
  it("holds this process as the system tells of it", () => {
    const me = listProcesses().find(({ pid }) => pid === process.pid);
    expect(me).toMatchObject({ parent: process.ppid, isZombie: false });
    expect(findProcess(process.pid)).toEqual(me);
    expect(findProcess(2 ** 30)).toBeNull();
  });

  it("reads what ps prints on other systems", () => {
    const text = [
      "    1     0     1 Ss   Mon Nov  3 08:12:01 2026     /sbin/launchd",
      "  812   640   812 S+   Thu Nov 20 23:01:59 2026     /Applications/A B.app/Contents/node",
      "  813   812   812 Z    Thu Nov 20 23:02:00 2026     (sh)",
      "",
    ].join("\n");
    expect(parsePs(text)).toMatchObject([
      { pid: 1, parent: 0, group: 1, name: "launchd", isZombie: false },
      { pid: 812, parent: 640, group: 812, name: "node", started: "Thu Nov 20 23:01:59 2026" },
      { pid: 813, isZombie: true },
    ]);
  });
});

it("P26 what does not end when it is asked to is killed soon, also when the clock is set back meanwhile", async () => {
  const args = ["-c", "trap '' TERM; echo up; while :; do sleep 0.1; done"];
  const { pid, ended, streams } = await startChild({
    ...{ program: "/bin/sh", args, cwd: "/", env: process.env },
    ...{ writeEnd: null, isVerbatim: false },
  });
  await new Promise((resolve) => streams[0]?.once("data", resolve));
  const { now } = Date;
  let hours = 0;
  Date.now = () => now() - 3_600_000 * hours++;
  try {
    const known = new Map([[pid, findProcess(pid)?.started ?? ""]]);
    expect(await endTree({ runId: "of nobody", known })).toEqual([]);
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
  } finally {
    Date.now = now;
  }
});
