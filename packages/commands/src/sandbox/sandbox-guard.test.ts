import {
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { createGitHome, createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { takeBackCreated } from "./judge-changes.ts";
import { AllowedCalls } from "./permissions.ts";
import { createGuardFactory } from "./sandbox-guard.ts";
import { Surveyor } from "./sandbox-survey.ts";

const environment = process.env;

/** What is known of a folder in which no call was allowed and no repository had anything. */
function beforeIn(surveyor: Surveyor, home: string) {
  const nothing = { calls: new AllowedCalls(home), tips: new Map(), steps: new Set<string>() };
  return { since: Date.now(), ...surveyor.survey(), ...nothing };
}

/** A submodule whose git folder becomes one while a look at what the command made is under way. */
function submoduleMade(more: (folder: string) => void) {
  const { base, root, git, write, makeRepository } = createGitHome();
  makeRepository(root);
  makeRepository(join(base, "library"));
  const surveyor = new Surveyor({ roots: [root], temporary: join(base, "temporary"), environment });
  const home = join(base, "home");
  const before = beforeIn(surveyor, home);
  git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", join(base, "library"), "module");
  const folder = join(root, ".git/modules/module");
  more(folder);
  const head = join(folder, "HEAD");
  renameSync(head, `${head}.lock`);
  const survey = surveyor.survey();
  renameSync(`${head}.lock`, head);
  const taken = takeBackCreated(before, { survey, roots: [root], home, environment, isGoingOn: true });
  return { taken: taken.map(({ path }) => path), root, write };
}

it("P53 a submodule that git is making while its folder is looked at stays whole", () => {
  const { taken, root } = submoduleMade(() => {});
  expect(taken).toEqual([]);
  expect(existsSync(join(root, "module/.git"))).toBe(true);
});

it("P53 P21 one that has a hook by then is taken back", () => {
  const { taken, root } = submoduleMade((folder) => {
    renameSync(join(folder, "hooks/pre-push.sample"), join(folder, "hooks/pre-push"));
  });
  expect(taken).toEqual([join(root, "module/.git")]);
});

it("P53 a file in a folder that was made in the millisecond before the first look stays", () => {
  const root = realpathSync(createTemporaryFolder());
  const file = join(root, ".npmrc");
  const { birthtimeMs } = lstatSync(root);
  for (; lstatSync(root).ctimeMs <= birthtimeMs; writeFileSync(file, "before")) rmSync(file, { force: true });
  const surveyor = new Surveyor({ roots: [root], temporary: `${root}-temporary`, environment });
  const before = { ...beforeIn(surveyor, `${root}-home`), since: Math.floor(birthtimeMs) };
  const ground = { survey: surveyor.survey(), roots: [root], home: `${root}-home`, environment };
  expect(takeBackCreated(before, ground)).toEqual([]);
  expect(readFileSync(file, "utf8")).toBe("before");
});

it("P53 a protected file that cannot be put back, as another program has made it again, ends nothing", async () => {
  const root = realpathSync(createTemporaryFolder());
  const file = join(root, ".env");
  writeFileSync(file, "KEY=1\n");
  linkSync(file, join(root, "other-name"));
  const fs = process.getBuiltinModule("node:fs");
  const { renameSync: rename } = fs;
  const begin = createGuardFactory({
    roots: [root],
    home: `${root}-home`,
    temporary: `${root}-temporary`,
    environment,
  });
  const guard = await begin();
  writeFileSync(join(root, "other-name"), "KEY=changed\n");
  fs.renameSync = (from, to) => {
    rename(from, to);
    writeFileSync(file, "made meanwhile\n");
  };
  syncBuiltinESMExports();
  try {
    // What is made at each try is told as well, where the clock of the file system has gone on.
    expect(new Set((await guard.release()).map(({ path }) => path))).toEqual(new Set([file]));
    expect(readFileSync(file, "utf8")).toBe("made meanwhile\n");
  } finally {
    fs.renameSync = rename;
    syncBuiltinESMExports();
  }
});
