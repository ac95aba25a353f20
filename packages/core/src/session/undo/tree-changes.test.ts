import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { StoredContents } from "./kept-contents.ts";
import { TreeChanges } from "./tree-changes.ts";
import { TreeStates } from "./tree-state.ts";

it("P1 takes no ignored file for a new one where there were too many to look at", async () => {
  const top = createTemporaryFolder();
  const [folder, root] = [join(top, "home"), join(top, "project")];
  mkdirSync(join(root, "data"), { recursive: true });
  execFileSync("git", ["init", "-q", root]);
  writeFileSync(join(root, ".gitignore"), "data/\n");
  const environment = { PATH: process.env.PATH };
  const settings = { ignoreFileNames: [], ignore: [], environment };
  const request = { roots: [root], settings, except: folder };
  const states = new TreeStates({ request, environment, kept: new StoredContents(folder) });
  const { signal } = new AbortController();
  const { work, ...before } = await states.lookBeforeCall(signal);
  const file = join(root, "data", "table.db");
  // The clock of the disk goes in steps of some milliseconds.
  await setTimeout(50);
  writeFileSync(`${file}-new`, "new\n");
  renameSync(`${file}-new`, file);
  const after = await states.readTree(signal);
  const others = { files: new Map(), refs: new Map(), hasCalls: false };
  const findFiles = async (hasMoreIgnored: boolean) => {
    const look = { ...before, work: { ...work, hasMoreIgnored } };
    const { changes } = await new TreeChanges(states, folder).find({ before: look, after, others });
    return changes.map((change) => change.file);
  };
  expect(await findFiles(false)).toEqual([file]);
  expect(await findFiles(true)).toEqual([]);
});
