// The screen in a pseudo-terminal of 120x40, read by a headless xterm, and a model that says what it is given.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import headless from "@xterm/headless";

const { spawn: spawnPty } = createRequire(import.meta.url)("@lydell/node-pty");
const BURIN = join(dirname(fileURLToPath(import.meta.url)), "../packages/cli/dist/burin.cjs");
const MAX_WAITING_MS = 120_000;

/** @param {number} milliseconds */
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** @param {number} count */
export const makeLines = (count) =>
  Array.from(
    { length: count },
    (_, n) => `line ${String(n).padStart(5, "0")} of the reply, with a few words more\n`,
  );

/**
 * A model whose next reply are these lines, so many a second (0: as fast as they are taken).
 * @param {{ lines: string[], perSecond: number }} next
 */
export async function startModel(next) {
  const server = createServer(async (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (request.method === "GET") {
      response.end();
      return;
    }
    const began = performance.now();
    for (const [index, content] of next.lines.entries()) {
      const chunk = JSON.stringify({ choices: [{ index: 0, delta: { content } }] });
      const isFree = response.write(`data: ${chunk}\n\n`);
      if (next.perSecond > 0) {
        const wait = began + ((index + 1) * 1000) / next.perSecond - performance.now();
        if (wait > 1) await pause(wait);
      } else if (!isFree) await new Promise((resolve) => response.once("drain", () => resolve(null)));
    }
    const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    response.end(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
}

export class Screen {
  /**
   * @param {string} url
   * @param {{ args?: readonly string[], folder?: string }} options
   */
  constructor(url, { args = [], folder } = {}) {
    this.isOwnFolder = folder === undefined;
    this.folder = folder ?? mkdtempSync(join(tmpdir(), "burin-bench-screen-"));
    const home = join(this.folder, ".home");
    mkdirSync(home, { recursive: true });
    // A window that holds all of it: how long a summary takes is the model's business.
    writeFileSync(join(home, "settings.json"), '{ "model": { "contextWindow": 10000000 } }');
    this.bytes = 0;
    this.terminal = new headless.Terminal({
      cols: 120,
      rows: 40,
      scrollback: 200_000,
      allowProposedApi: true,
    });
    this.began = performance.now();
    this.pty = spawnPty(process.execPath, [BURIN, ...args], {
      name: "xterm-256color",
      cols: 120,
      rows: 40,
      cwd: this.folder,
      env: {
        PATH: process.env.PATH,
        HOME: this.folder,
        BURIN_HOME: home,
        TERM: "xterm-256color",
        OPENAI_BASE_URL: url,
        OPENAI_MODEL: "bench",
      },
    });
    /** @type {(() => void)[]} */
    this.waiting = [];
    this.pty.onData((/** @type {string} */ data) => {
      this.bytes += Buffer.byteLength(data);
      this.terminal.write(data, () => {
        for (const look of this.waiting) look();
      });
    });
  }

  /** @param {number} index */
  row(index) {
    return this.terminal.buffer.active.getLine(index)?.translateToString(true) ?? "";
  }

  text() {
    const { baseY } = this.terminal.buffer.active;
    return Array.from({ length: 40 }, (_, n) => this.row(baseY + n)).join("\n");
  }

  all() {
    const { active } = this.terminal.buffer;
    return Array.from({ length: active.length }, (_, n) => this.row(n)).join("\n");
  }

  /** @param {() => boolean} holds */
  until(holds) {
    return new Promise((resolve, reject) => {
      // A screen that says it in other words must end the bench, not keep it waiting.
      const late = () => reject(new Error(`Not shown: ${holds}\n${this.text()}`));
      const limit = setTimeout(late, MAX_WAITING_MS);
      const look = () => {
        if (!holds()) return;
        clearTimeout(limit);
        this.waiting = this.waiting.filter((one) => one !== look);
        resolve(null);
      };
      this.waiting.push(look);
      look();
    });
  }

  /** Of all its threads, in the kernel's nanoseconds: a tick of its coarser clock is ten milliseconds. */
  cpuMs() {
    const threads = `/proc/${this.pty.pid}/task`;
    return readdirSync(threads).reduce((sum, thread) => {
      const [nanoseconds = 0] = readFileSync(join(threads, thread, "schedstat"), "utf8")
        .split(" ")
        .map(Number);
      return sum + nanoseconds / 1e6;
    }, 0);
  }

  peakMb() {
    const status = readFileSync(`/proc/${this.pty.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  }

  close() {
    this.pty.kill("SIGKILL");
    this.terminal.dispose();
    if (this.isOwnFolder) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The least program that shows a key, for what the machine itself takes. */
export function measureBareEcho() {
  const script = "process.stdin.setRawMode(true).on('data', (key) => process.stdout.write(key))";
  const pty = spawnPty(process.execPath, ["-e", script], { cols: 120, rows: 40 });
  const key = () =>
    new Promise((resolve) => {
      const began = performance.now();
      const shown = pty.onData(() => {
        shown.dispose();
        resolve(performance.now() - began);
      });
      pty.write("x");
    });
  return { key, close: () => pty.kill("SIGKILL") };
}

/** @param {string} url */
export async function openScreen(url) {
  const screen = new Screen(url);
  await screen.until(() => screen.text().includes("bench · asks before changes"));
  return screen;
}
