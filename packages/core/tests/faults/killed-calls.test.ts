import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createToolbox } from "@burin/core";
import { listUndoEntries, settleCutCalls, undo } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, expect, it } from "vitest";

const CALL = fileURLToPath(new URL("./journal-call.mjs", import.meta.url));

let root: string;
let home: string;
let environment: NodeJS.ProcessEnv;
const at = (name: string) => join(root, name);
const read = (name: string) => readFileSync(at(name), "utf8");
const back = (more = {}) => undo({ home, root, environment, ...more });

beforeEach(() => {
  const top = createTemporaryFolder();
  [root, home] = [join(top, "project"), join(top, "home")];
  mkdirSync(root);
  for (const name of ["a.txt", "b.txt", "c.txt"]) writeFileSync(at(name), "old\n");
  environment = { ...process.env, BURIN_HOME: home };
});

/** Kills the Burin that runs the command when the file `begun` is there. */
async function killDuring(command: string): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [
    CALL,
    root,
    home,
    `${command}; touch begun; sleep 60`,
  ]);
  const ended = new Promise((resolve) => child.once("close", resolve));
  await expect.poll(() => existsSync(at("begun")), { timeout: 30_000 }).toBe(true);
  child.kill("SIGKILL");
  await ended;
}

it("P1 what a command had changed when Burin was killed is found by the next one, and taken back", async () => {
  await killDuring("echo new > a.txt; rm b.txt; mkdir made; mv c.txt made/");
  const [entry, ...others] = await listUndoEntries({ home, root });
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ cut: "during", isInForce: true });
  expect(entry?.files).toEqual(["a.txt", "b.txt", "begun", "c.txt", "made", "made/c.txt"]);
  expect((await back()).files.filter(({ what }) => what === "refused")).toEqual([]);
  expect(["a.txt", "b.txt", "c.txt"].map(read)).toEqual(["old\n", "old\n", "old\n"]);
  expect([existsSync(at("begun")), existsSync(at("made"))]).toEqual([false, false]);
});

it("P1 what changed after the kill stays when the call is taken back, and can be taken back by its name", async () => {
  await killDuring("echo new > a.txt");
  await pause(1500);
  writeFileSync(at("b.txt"), "of the user\n");
  const [cut] = await settleCutCalls({ home, root, environment });
  expect(cut).toMatchObject({ files: ["a.txt", "begun"], later: ["b.txt"], isKnown: true });
  await back();
  expect([read("a.txt"), read("b.txt")]).toEqual(["old\n", "of the user\n"]);
  expect((await back({ count: 1 })).files).toEqual([]);
  await back({ call: cut?.laterId });
  expect(read("b.txt")).toBe("old\n");
});

it("P1 the next call counts nothing of a killed one as its own", async () => {
  await killDuring("echo new > a.txt");
  const toolbox = createToolbox({ root, environment, approvalMode: "yolo", record: true });
  await toolbox.call("run_shell_command", { command: "echo newer > c.txt" });
  await toolbox.close();
  const entries = await listUndoEntries({ home, root });
  expect(entries.map(({ files }) => files)).toEqual([["c.txt"], ["a.txt", "begun"]]);
});

it("P1 says plainly that nothing is known when the look before the call is gone", async () => {
  await killDuring("echo new > a.txt");
  const folder = join(home, "undo", readdirSync(join(home, "undo"))[0] ?? "");
  for (const name of readdirSync(folder)) if (name.endsWith(".look")) rmSync(join(folder, name));
  const cut = await settleCutCalls({ home, root, environment });
  expect(cut).toMatchObject([{ isKnown: false, files: [] }]);
  expect((await back()).files).toEqual([]);
});

it("P25 each undo takes back only its own, in 40 steps of two sessions and a user in one folder", async () => {
  const { runSteps } = await import("./journal-steps.mjs");
  const { undo, together } = await runSteps(40, 7);
  expect([undo, together]).toEqual([9, 9]);
}, 240_000);

it("P1 keeps each content once, and can take back the last of 100 commands", async () => {
  const { runCommands } = await import("./journal-store.mjs");
  const { most } = await runCommands(100, 65_536);
  expect(most).toBeGreaterThan(99 * 65_536);
}, 240_000);

it("P1 takes back everything after 10 kills at random moments of a command, its journal and an undo", async () => {
  const { killJournals } = await import("./kill-journal.mjs");
  const { killed } = await killJournals(10);
  expect(killed).toBe(10);
}, 240_000);
