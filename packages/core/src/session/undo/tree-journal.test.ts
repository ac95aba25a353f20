import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { TreeJournal } from "./tree-journal.ts";
import { undo } from "./undo.ts";

const MIB = 1024 * 1024;
const environment = { PATH: process.env.PATH };

/** Opens a journal of `root`, and collects its messages to the user. */
function openJournal(home: string, root: string) {
  const notices: string[] = [];
  const journal = new TreeJournal({
    home,
    root,
    writer: "one",
    request: { roots: [root], settings: { ignoreFileNames: [], ignore: [], environment }, except: home },
    environment,
    signal: new AbortController().signal,
    report: (message) => notices.push(message),
  });
  const change = (work: () => void) =>
    journal.runRecorded({ maker: "hook", what: "test" }, async () => work());
  return { notices, change };
}

it("P1 names a file only when its old content is not kept", async () => {
  const top = createTemporaryFolder();
  const [home, root] = [join(top, "home"), join(top, "project")];
  mkdirSync(join(root, "folder"), { recursive: true });
  const [small, large] = [join(root, "small.txt"), join(root, "large.bin")];
  writeFileSync(small, "old\n");
  writeFileSync(large, "");
  truncateSync(large, 65 * MIB);
  const { notices, change } = openJournal(home, root);
  await change(() => {
    writeFileSync(small, "new\n");
    chmodSync(join(root, "folder"), 0o700);
  });
  expect(notices).toEqual([]);
  await change(() => truncateSync(large, 66 * MIB));
  expect(notices).toEqual([
    `The old content of ${large} (it is larger than 64 MB) cannot be taken back with burin undo.`,
  ]);
});

it.each(["objects", "HEAD", ""])(
  "P1 says at once that a call destroyed the repository: .git/%s",
  async (name) => {
    const top = createTemporaryFolder();
    const [home, root] = [join(top, "home"), join(top, "project")];
    execFileSync("git", ["init", "-q", root]);
    const { notices, change } = openJournal(home, root);
    await change(() => writeFileSync(join(root, "a.txt"), "a\n"));
    expect(notices).toEqual([]);
    await change(() => rmSync(join(root, ".git", name), { recursive: true }));
    expect(notices).toEqual([
      `${root} is no longer a whole git repository. burin undo cannot bring back its commits and branches.`,
    ]);
  },
);

it("P1 says nothing of a work tree that a call removed, whose commits its repository keeps", async () => {
  const top = createTemporaryFolder();
  const [home, root] = [join(top, "home"), join(top, "project")];
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", root, "-c", "user.name=a", "-c", "user.email=a@b", ...words]);
  mkdirSync(root);
  git("init", "-q");
  git("commit", "-q", "--allow-empty", "-m", "one");
  git("worktree", "add", "-q", "tree");
  const { notices, change } = openJournal(home, root);
  await change(() => git("worktree", "remove", "tree"));
  expect(notices).toEqual([]);
});

it("P1 takes back what changed in a project inside of Burin's own folder, and says nothing of it", async () => {
  const home = join(createTemporaryFolder(), "home");
  const root = join(home, "fleet", "task");
  const names = ["top.txt", "src/deep/below.txt"];
  const paths = names.map((name) => join(root, name));
  mkdirSync(join(root, "src/deep"), { recursive: true });
  for (const path of paths) writeFileSync(path, "old\n");
  const { notices, change } = openJournal(home, root);
  await change(() => {
    for (const path of paths) writeFileSync(path, "new and longer\n");
  });
  expect(notices).toEqual([]);
  const { files } = await undo({ home, root, environment });
  expect(files.map(({ what }) => what)).toEqual(["restored", "restored"]);
  expect(paths.map((path) => readFileSync(path, "utf8"))).toEqual(["old\n", "old\n"]);
});

it("P53 names the programs of installed packages that a call changed, also behind links", async () => {
  const top = createTemporaryFolder();
  const [home, root] = [join(top, "home"), join(top, "project")];
  for (const folder of ["node_modules/.bin", "node_modules/tool", ".venv/bin"])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, ".gitignore"), "node_modules\n.venv\n");
  writeFileSync(join(root, "node_modules/tool/cli.js"), "1\n");
  symlinkSync("../tool/cli.js", join(root, "node_modules/.bin/tool"));
  writeFileSync(join(root, ".venv/bin/same"), "same\n");
  const { notices, change } = openJournal(home, root);
  await change(() => writeFileSync(join(root, "a.txt"), "a\n"));
  expect(notices).toEqual([]);
  await change(() => {
    writeFileSync(join(root, "node_modules/tool/cli.js"), "another\n");
    writeFileSync(join(root, ".venv/bin/new"), "new\n");
  });
  expect(notices).toEqual([
    "This call changed programs that you may run outside of the sandbox: node_modules/.bin/tool, .venv/bin/new.",
  ]);
});

it("P25 leaves out what a session beside this one writes before it takes a file's place", async () => {
  const top = createTemporaryFolder();
  const [home, root] = [join(top, "home"), join(top, "project")];
  mkdirSync(root);
  const unfinished = join(root, ".burin-0a1b2c3d4e5f6071-8293a4b5.tmp");
  writeFileSync(unfinished, "half\n");
  await openJournal(home, root).change(() => {
    rmSync(unfinished);
    writeFileSync(join(root, "own.txt"), "own\n");
  });
  const { files } = await undo({ home, root, environment, count: 1 });
  expect(files).toEqual([{ file: "own.txt", what: "removed" }]);
  expect(readdirSync(root)).toEqual([]);
});
