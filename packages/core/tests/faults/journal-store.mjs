// Many commands in one folder, each of which replaces a file with other bytes: what is kept for undo stays within its
// limit, and the last command can still be taken back. node packages/core/tests/faults/journal-store.mjs [commands] [bytes]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createToolbox, undo } from "./core.mjs";

const MAX_KEPT_BYTES = 512 * 1024 * 1024;
/** The limit is looked at once in so many changes. */
const BETWEEN_LOOKS = 256;
const LOOKS = 20;
const FILES = 200;

/** What is kept, without the lists of changes. @param {string} home */
function measureKept(home) {
  const folder = join(home, "undo");
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  const files = paths.map((path) => ({ path, stats: lstatSync(path) })).filter(({ stats }) => stats.isFile());
  const kept = files.filter(({ path }) => !path.endsWith(".jsonl"));
  const sum = (/** @type {typeof files} */ list) => list.reduce((total, { stats }) => total + stats.size, 0);
  return { files: kept.length, bytes: sum(kept), lists: sum(files) - sum(kept) };
}

/**
 * @param {number} commands
 * @param {number} bytes written by each command
 */
export async function runCommands(commands, bytes) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-store-")));
  const [root, home] = [join(top, "project"), join(top, "home")];
  const environment = { ...process.env, BURIN_HOME: home, GIT_CONFIG_GLOBAL: "/dev/null" };
  const data = join(root, "data.bin");
  try {
    mkdirSync(root);
    for (let at = 0; at < FILES; at += 1) writeFileSync(join(root, `file-${at}.txt`), `${at}\n`);
    execFileSync("git", ["init", "-q"], { cwd: root });
    execFileSync("git", ["add", "-A"], { cwd: root });
    const settings = { sandbox: { mode: "off" } };
    const box = createToolbox({ root, environment, settings, approvalMode: "yolo", record: true });
    const command = `head -c ${bytes} /dev/urandom > data.bin`;
    let most = 0;
    let before = Buffer.alloc(0);
    /** The milliseconds of each command. @type {number[]} */
    const times = [];
    for (let at = 0; at < commands; at += 1) {
      if (at === commands - 1) before = readFileSync(data);
      const begun = performance.now();
      const { status } = await box.call("run_shell_command", { command });
      times.push(performance.now() - begun);
      assert.equal(status, "success");
      if ((at + 1) % Math.ceil(commands / LOOKS) === 0) most = Math.max(most, measureKept(home).bytes);
    }
    await box.close();
    const end = measureKept(home);
    most = Math.max(most, end.bytes);
    // Each content once, and what the looks at single files leave.
    const slack = 4 * 1024 * 1024;
    assert.ok(most <= MAX_KEPT_BYTES + BETWEEN_LOOKS * bytes + slack, `${most} bytes were kept`);
    assert.ok(most <= (commands + 1) * bytes + slack, `${most} bytes were kept of ${commands} contents`);
    await undo({ home, root, environment, count: 1 });
    assert.ok(readFileSync(data).equals(before), "the last command was not taken back");
    const median = (/** @type {number[]} */ list) =>
      list.sort((one, other) => one - other)[list.length >> 1] ?? 0;
    const tenth = Math.ceil(commands / 10);
    const slower = median(times.slice(-tenth)) / median(times.slice(0, tenth));
    return { commands, most, files: end.files, lists: end.lists, slower };
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [commands = 300, bytes = 16 * 1024] = process.argv.slice(2).map(Number);
  process.stdout.write(`${JSON.stringify(await runCommands(commands, bytes))}\n`);
}
