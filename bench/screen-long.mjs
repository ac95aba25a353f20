// What long sessions and large projects take of the screen.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { printResult } from "./measure.mjs";
import { makeLines, openScreen, pause, Screen } from "./screen-program.mjs";

/**
 * @param {string} url
 * @param {{ lines: string[], perSecond: number }} next
 * @param {number} count
 */
export async function measureLength(url, next, count) {
  const screen = await openScreen(url);
  Object.assign(next, { lines: makeLines(count), perSecond: 0 });
  screen.pty.write("go\r");
  const last = `line ${count - 1}`;
  await screen.until(() => screen.text().includes(last) && screen.text().includes("? for keys"));
  printResult({ what: `memory at most, over ${count} lines`, value: screen.peakMb(), unit: "MB", most: 120 });
  screen.close();
}

/**
 * @param {string} url
 * @param {number} count
 */
export async function measureNames(url, count) {
  const folder = mkdtempSync(join(tmpdir(), "burin-bench-names-"));
  try {
    for (let n = 0; n < count; n += 1) {
      const place = join(folder, `module${n % 400}`);
      if (n < 400) mkdirSync(place);
      writeFileSync(join(place, `component-${n}.ts`), "");
    }
    const screen = new Screen(url, { folder });
    await screen.until(() => screen.text().includes("bench · asks before changes"));
    screen.pty.write("@");
    await screen.until(() => screen.text().includes("› "));
    const times = [];
    for (const key of "comp399") {
      const before = screen.text();
      const began = performance.now();
      screen.pty.write(key);
      await screen.until(() => screen.text() !== before && screen.text().includes("› "));
      times.push(performance.now() - began);
      await pause(50);
    }
    const value = Math.max(...times);
    printResult({ what: `a key behind @ among ${count} files, the slowest`, value, unit: "ms", most: 30 });
    screen.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A session of 10,000 events, less the time in which an empty one opens.
 * @param {string} url
 * @param {{ lines: string[], perSecond: number }} next
 */
export async function measureResume(url, next) {
  const first = await openScreen(url);
  const { folder } = first;
  first.isOwnFolder = false;
  Object.assign(next, { lines: ["The end of it.\n"], perSecond: 0 });
  first.pty.write("go\r");
  await first.until(() => first.text().includes("The end of it.") && first.text().includes("? for keys"));
  first.pty.write("\u0004");
  await first.until(() => first.text().includes("To continue this session"));
  first.close();
  try {
    growLog(join(folder, ".home", "sessions"), 2500);
    const empty = await openScreen(url);
    const bare = performance.now() - empty.began;
    empty.close();
    const screen = new Screen(url, { folder, args: ["-c"] });
    await screen.until(() => screen.text().includes("The last of them."));
    const value = performance.now() - screen.began - bare;
    printResult({ what: "a session of 10,000 events drawn", value, unit: "ms", most: 300 });
    screen.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Appends so many prompts with their answers, calls of tools among them, to the only session there is.
 * @param {string} home
 * @param {number} count
 */
function growLog(home, count) {
  const project = join(home, readdirSync(home)[0] ?? "");
  const log = join(project, readdirSync(project).find((name) => name.endsWith(".jsonl")) ?? "");
  let number = readFileSync(log, "utf8").trimEnd().split("\n").length;
  /** @type {string[]} */
  const lines = [];
  /** @param {object} event */
  const add = (event) => {
    number += 1;
    const rest = `"n":${number},"at":"2026-01-01T00:00:00.000Z","event":${JSON.stringify(event)}}`;
    const sum = crc32(rest).toString(16).padStart(8, "0");
    lines.push(`{"len":${Buffer.byteLength(rest)},"sum":"${sum}",${rest}`);
  };
  const call = { name: "read_file", args: { absolute_path: "a.txt" }, description: "Read a.txt" };
  for (let n = 0; n < count; n += 1) {
    add({ type: "text", role: "user", text: `Question ${n}?` });
    add({ type: "tool_call", call: { ...call, callId: `c${n}`, status: "validating" } });
    const answer = { llmContent: "alpha", returnDisplay: "Read 1 line." };
    add({ type: "tool_call", call: { ...call, callId: `c${n}`, status: "success", ...answer } });
    const text = n === count - 1 ? "The last of them." : `Answer ${n}, with **words** that say something.`;
    add({ type: "text", role: "model", text });
  }
  add({ type: "done", status: "success", result: "", turns: 1 });
  appendFileSync(log, `${lines.join("\n")}\n`);
}
