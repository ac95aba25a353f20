import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createToolbox } from "@burin/core";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, expect, it } from "vitest";

const WRITE_ONCE = fileURLToPath(new URL("./write-once.mjs", import.meta.url));
/** Large enough that it is seen while it is written. */
const BYTES = 160_000_000;

let root: string;
let environment: NodeJS.ProcessEnv;
beforeEach(() => {
  root = createTemporaryFolder();
  environment = { ...process.env, BURIN_HOME: join(dirname(root), "home") };
  mkdirSync(join(root, "deep/er"), { recursive: true });
});

/** A process of its own that writes a large file. */
function writer(path: string): { child: ChildProcess; ended: Promise<unknown> } {
  const args = [WRITE_ONCE, root, path, "b", String(BYTES)];
  const child = spawn(process.execPath, args, { stdio: "ignore", env: environment });
  return { child, ended: new Promise((resolve) => child.once("close", resolve)) };
}

const unfinished = (folder: string) => readdirSync(folder).filter((name) => /^\.burin-.*\.tmp$/.test(name));
const isBegun = (folder: string) => expect.poll(() => unfinished(folder).length, { interval: 1 }).toBe(1);

/** One call of the next Burin, which changes nothing. */
async function startNext(): Promise<void> {
  const toolbox = createToolbox({ root, environment });
  expect((await toolbox.call("list_directory", { path: root })).error).toBeUndefined();
  await toolbox.close();
}

it("P3 P26 the file of a write that was killed is gone after the next start, wherever it was", async () => {
  const folders = [root, join(root, "deep/er")];
  for (const folder of folders) {
    writeFileSync(join(folder, "file.txt"), "old\n");
    const { child, ended } = writer(join(folder, "file.txt"));
    await isBegun(folder);
    child.kill("SIGKILL");
    await ended;
    expect(unfinished(folder)).toHaveLength(1);
  }
  await startNext();
  for (const folder of folders) {
    expect(readdirSync(folder).filter((name) => name !== "deep")).toEqual(["file.txt"]);
    expect(readFileSync(join(folder, "file.txt"), "utf8")).toBe("old\n");
  }
  expect(readdirSync(join(environment.BURIN_HOME ?? "", "running"))).toEqual([]);
});

it("P3 P26 a write that is still going on ends well, whatever starts meanwhile", async () => {
  const path = join(root, "file.txt");
  const { child, ended } = writer(path);
  await isBegun(root);
  child.kill("SIGSTOP");
  await startNext();
  expect(unfinished(root)).toHaveLength(1);
  child.kill("SIGCONT");
  await ended;
  expect(existsSync(path)).toBe(true);
  expect(readFileSync(path).length).toBe(BYTES);
  expect(unfinished(root)).toEqual([]);
});
