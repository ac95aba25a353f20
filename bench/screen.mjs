// npm run bench -- screen [--short]: the screen in a pseudo-terminal of 120x40, read by a headless xterm, as a person
// at a terminal has it. CPU times are the program's own, from /proc; bytes are those it writes to the terminal.
import { spawn } from "node:child_process";
import { median, printResult } from "./measure.mjs";
import { measureLength, measureNames, measureResume } from "./screen-long.mjs";
import { makeLines, measureBareEcho, openScreen, pause, Screen, startModel } from "./screen-program.mjs";

function bareNode() {
  return new Promise((resolve) => {
    const began = performance.now();
    spawn(process.execPath, ["-e", "process.stdout.write('>')"]).stdout.once("data", () =>
      resolve(performance.now() - began),
    );
  });
}

/** @param {string} url */
async function measureStart(url) {
  const [ours, bare, memory] = [[], [], []].map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < 7; round += 1) {
    bare?.push(await bareNode());
    const screen = new Screen(url);
    await screen.until(() => screen.text().includes("> "));
    ours?.push(performance.now() - screen.began);
    await screen.until(() => screen.text().includes("bench · asks before changes"));
    memory?.push(screen.peakMb());
    screen.close();
  }
  const ratio = median(ours ?? []) / median(bare ?? []);
  printResult({
    what: "first prompt",
    value: ratio,
    unit: "x bare Node",
    most: 3,
    more: `${median(ours ?? []).toFixed(0)} ms`,
  });
  printResult({ what: "memory at the first prompt", value: median(memory ?? []), unit: "MB", most: 60 });
}

/**
 * Types one letter at a time and waits until the caret has moved.
 * @param {Screen} screen
 * @param {number} count
 * @param {() => Promise<unknown>} between
 */
async function echoTimes(screen, count, between = () => pause(15)) {
  const times = [];
  for (let n = 0; n < count; n += 1) {
    const wanted = "x".repeat((n % 40) + 1);
    const began = performance.now();
    screen.pty.write(n % 40 === 0 && n > 0 ? "\u0015x" : "x");
    await screen.until(
      () => screen.text().includes(`> ${wanted}\n`) || screen.text().includes(`> ${wanted} `),
    );
    times.push(performance.now() - began);
    await between();
  }
  screen.pty.write("\u0015");
  return times.sort((a, b) => a - b);
}

/** A program that has done nothing for this long has done nothing for longer, too. */
const IDLE_MS = 800;

/**
 * Keys that each come after a while of nothing; in turn with a bare echo, which shows what the machine takes to wake.
 * @param {Screen} screen
 * @param {number} count
 */
async function measureFirstKeys(screen, count) {
  const bare = measureBareEcho();
  /** @type {number[]} */
  const least = [];
  const cpu = screen.cpuMs();
  const times = await echoTimes(screen, count, async () => {
    await pause(IDLE_MS / 2);
    least.push(await bare.key());
    await pause(IDLE_MS / 2);
  });
  bare.close();
  least.sort((a, b) => a - b);
  const cpuMs = ((screen.cpuMs() - cpu) / count).toFixed(2);
  printResult({
    what: `first key after ${IDLE_MS} ms of nothing, 99 of 100`,
    value: ninetyNinth(times),
    unit: "ms",
    most: 5,
    more: `median ${median(times).toFixed(1)}, a bare echo ${median(least).toFixed(1)} and ${ninetyNinth(least).toFixed(1)}, CPU ${cpuMs}`,
  });
}

/** @param {readonly number[]} sorted */
const ninetyNinth = (sorted) => sorted[Math.min(Math.floor(sorted.length * 0.99), sorted.length - 1)] ?? 0;

/** @param {readonly string[]} args */
export async function run(args) {
  const isShort = args.includes("--short");
  const next = { lines: /** @type {string[]} */ ([]), perSecond: 0 };
  const model = await startModel(next);
  try {
    await measureStart(model.url);
    await measureFlood(model.url, next, isShort ? 10 : 40);
    await measurePace(model.url, next, isShort ? 5 : 25);
    await measureResize(model.url, next);
    await measureLength(model.url, next, isShort ? 20_000 : 80_000);
    await measureNames(model.url, isShort ? 20_000 : 200_000);
    await measureResume(model.url, next);
  } finally {
    model.close();
  }
}

/**
 * @param {string} url
 * @param {{ lines: string[], perSecond: number }} next
 * @param {number} firstKeys
 */
async function measureFlood(url, next, firstKeys) {
  const screen = await openScreen(url);
  // What a start leaves for later, such as a look at git, is its own work.
  await pause(1000);
  const idle = screen.cpuMs();
  await pause(3000);
  printResult({ what: "CPU in 3 s of doing nothing", value: screen.cpuMs() - idle, unit: "ms", most: 0 });
  const echo = await echoTimes(screen, 40);
  printResult({
    what: "key echoed, idle, 99 of 100",
    value: ninetyNinth(echo),
    unit: "ms",
    most: 5,
    more: `median ${median(echo).toFixed(1)}`,
  });
  await measureFirstKeys(screen, firstKeys);
  Object.assign(next, { lines: makeLines(5000), perSecond: 0 });
  const size = next.lines.join("").length;
  const [cpu, bytes] = [screen.cpuMs(), screen.bytes];
  screen.pty.write("go\r");
  await screen.until(() => screen.text().includes("line 04999") && screen.text().includes("? for keys"));
  printResult({
    what: "5,000 lines at once",
    value: (screen.cpuMs() - cpu) / 1000,
    unit: "s of CPU",
    most: 1,
  });
  printResult({
    what: "written for a byte of text",
    value: (screen.bytes - bytes) / size,
    unit: "bytes",
    most: 1.5,
  });
  screen.close();
}

/**
 * @param {string} url
 * @param {{ lines: string[], perSecond: number }} next
 * @param {number} seconds
 */
async function measurePace(url, next, seconds) {
  const screen = await openScreen(url);
  Object.assign(next, { lines: makeLines(10_000), perSecond: 0 });
  screen.pty.write("go\r");
  await screen.until(() => screen.text().includes("line 09999") && screen.text().includes("? for keys"));
  Object.assign(next, { lines: makeLines(200 * seconds), perSecond: 200 });
  const [cpu, bytes] = [screen.cpuMs(), screen.bytes];
  const size = next.lines.join("").length;
  screen.pty.write("go\r");
  const last = `line ${String(200 * seconds - 1).padStart(5, "0")}`;
  await screen.until(() => screen.text().includes(last) && screen.text().includes("? for keys"));
  const most = (3 * seconds) / 25;
  printResult({
    what: `200 lines a second for ${seconds} s`,
    value: (screen.cpuMs() - cpu) / 1000,
    unit: "s of CPU",
    most,
  });
  printResult({
    what: "written for a byte of text at that pace",
    value: (screen.bytes - bytes) / size,
    unit: "bytes",
    most: 1.5,
  });
  screen.pty.write("go\r");
  await screen.until(() => screen.text().includes("line 00050"));
  const echo = await echoTimes(screen, 100);
  printResult({
    what: "key echoed while 200 lines a second stream, 99 of 100",
    value: ninetyNinth(echo),
    unit: "ms",
    most: 16,
    more: `median ${median(echo).toFixed(1)}`,
  });
  printResult({ what: "memory behind 10,000 lines", value: screen.peakMb(), unit: "MB", most: 120 });
  screen.close();
}

/**
 * @param {string} url
 * @param {{ lines: string[], perSecond: number }} next
 */
async function measureResize(url, next) {
  const screen = await openScreen(url);
  const words =
    "that is long enough to be wrapped where the window is narrow, and to be put together again where it is not";
  const lines = Array.from(
    { length: 1000 },
    (_, n) => `mark${String(n).padStart(4, "0")} ${words.slice(0, 20 + ((n * 7) % 80))}\n`,
  );
  Object.assign(next, { lines, perSecond: 200 });
  screen.pty.write("go\r");
  let at = 0;
  for (const columns of [80, 160, 100, 60, 120, 80, 160, 120]) {
    at += 100;
    await screen.until(() => screen.text().includes(`mark${String(at).padStart(4, "0")}`));
    screen.terminal.resize(columns, 40);
    screen.pty.resize(columns, 40);
  }
  await screen.until(() => screen.text().includes("mark0999") && screen.text().includes("? for keys"));
  const found = [...screen.all().matchAll(/mark(\d{4})/g)].map(([, number]) => Number(number));
  const wrong = found.filter((number, index) => number !== index).length + Math.abs(found.length - 1000);
  printResult({
    what: "lines lost, doubled or out of order in 8 resizes",
    value: wrong,
    unit: "lines",
    most: 0,
  });
  screen.close();
}
