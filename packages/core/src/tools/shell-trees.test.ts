import { existsSync, readFileSync } from "node:fs";
import { rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { listProcesses } from "@burin/commands/processes/process-table";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ShellRoom } from "../../tests/shell-room.ts";

let room: ShellRoom;

beforeEach(async () => {
  room = await ShellRoom.open();
});

afterEach(async () => {
  vi.useRealTimers();
  await room.close();
});

const run: ShellRoom["run"] = (...given) => room.run(...given);

/** Runs a command whose time limit is over as soon as it has created the file `up`, however slow the computer is. */
async function runUntilUp(limit: number, params: Parameters<typeof run>[0]) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const running = run(params);
  await expect.poll(() => existsSync(join(room.root, "up")) && vi.getTimerCount() > 0).toBe(true);
  await vi.advanceTimersByTimeAsync(2 * limit);
  vi.useRealTimers();
  return running;
}

/** Returns the processes whose command line contains the word, wherever they come from. */
function alive(word: string): number[] {
  return listProcesses().flatMap(({ pid, isZombie }) => {
    try {
      return !isZombie && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

const isGone = (word: string) => expect.poll(() => alive(word)).toEqual([]);
const isThere = (word: string) => expect.poll(() => alive(word)).not.toEqual([]);

/** A server with a worker, both of which ignore SIGTERM. Every process can be found by the word. */
const stubbornTree = (word: string) =>
  `sh -c 'trap "" TERM HUP INT; sh -c "trap \\"\\" TERM HUP INT; while :; do sleep 0.2; done" worker-${word} & while :; do sleep 0.2; done' server-${word}`;

/** A daemon that forks twice, starts its own session, and gives up all streams and its environment. */
const daemon = (word: string) =>
  `(setsid sh -c 'trap "" TERM; while :; do sleep 0.2; done' daemon-${word} </dev/null >/dev/null 2>&1 &) ; echo started`;

const word = () => Math.random().toString(36).slice(2);

describe("what run_shell_command starts", () => {
  it("P8 a foreground command ends at its limit with its tree; what it printed is kept", async () => {
    const name = word();
    const command = `echo ready; touch up; ${stubbornTree(name)}`;
    const { text, error } = await runUntilUp(400, { command, timeout: 400 });
    expect(error?.type).toBe("timeout");
    expect(text).toContain("Timed out after 400 ms");
    expect(text).toContain("Output:\nready\n");
    expect(alive(name)).toEqual([]);
  });

  it("P8 `cmd &` does not block, and what is left is named, read and ended", async () => {
    const name = word();
    const { text } = await run({ command: `sh -c 'sleep 0.3; echo later; sleep 60' ${name} & echo now` });
    expect(text).toContain("Output:\nnow\n");
    expect(text).toMatch(/Left running as bg_1: \d+ \(sh -c/);
    const output = () => run({ action: "output", background_id: "bg_1" });
    await expect.poll(async () => (await output()).text).toContain("later");
    expect((await run({ action: "stop", background_id: "bg_1" })).text).toContain("Stopped bg_1");
    expect(alive(name)).toEqual([]);
  });

  it("P8 a background command: an id at once, output, list, stop", async () => {
    const name = word();
    const command = `echo up; touch up; sh -c 'while :; do sleep 0.2; done' ${name}`;
    const started = await runUntilUp(200, { command, is_background: true });
    expect(started.text).toContain("Started in the background as bg_1");
    expect(started.text).toContain("up");
    expect((await run({ action: "list" })).text).toMatch(/^bg_1: Running for .* 3 bytes of output\. echo up/);
    expect((await run({ action: "stop", background_id: "bg_1" })).text).toContain("Stopped bg_1.");
    expect(alive(name)).toEqual([]);
    expect((await run({ action: "list" })).text).toMatch(
      /^bg_1: Ended\. Signal: SIGTERM|^bg_1: Ended\. Exit code/,
    );
    expect((await run({ action: "output", background_id: "bg_9" })).error?.type).toBe("not_found");
  });

  it("P8 a background command that fails at once is told of at once, and one with a limit ends", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    expect((await run({ command: "exit 7", is_background: true })).text).toContain("Exit code: 7");
    vi.useRealTimers();
    const name = word();
    await run({ command: stubbornTree(name), is_background: true, timeout: 300 });
    await isGone(name);
  });

  it("P8 on request a command goes on in the background when its time is over", async () => {
    const command = "echo a; touch up; until [ -e on ]; do sleep 0.02; done; echo b";
    const { text, error } = await runUntilUp(200, { command, timeout: 200, on_timeout: "background" });
    expect(error).toBeUndefined();
    expect(text).toContain("it keeps running as bg_1");
    await writeFile(join(room.root, "on"), "");
    const later = async () => (await run({ action: "output", background_id: "bg_1" })).text;
    await expect.poll(later).toContain("Exit code: 0");
    expect(await later()).toContain("Output:\na\nb\n");
  });

  it.each([
    ["server and worker that ignore SIGTERM", stubbornTree],
    ["a daemon that forked twice into its own session", (name: string) => `${daemon(name)}; sleep 60`],
    [
      "a daemon that also cleaned its environment",
      (name: string) =>
        `env -i ${daemon(name)
          .slice(1)
          .replace(/\) ; echo started$/, "")} sleep 60`,
    ],
  ])("P11 P26 an abort ends all of it: %s", async (_title, command) => {
    const name = word();
    const controller = new AbortController();
    const running = run({ command: command(name) }, controller.signal);
    await isThere(name);
    await pause(200);
    controller.abort();
    const { error, text } = await running;
    expect(error?.type).toBe("cancelled");
    expect(text).toContain("Cancelled");
    await isGone(name);
  });

  it("P26 close ends what was left, background and daemons", async () => {
    const [first, second] = [word(), word()];
    await run({ command: daemon(first) });
    await run({ command: stubbornTree(second), is_background: true });
    expect(alive(first).length).toBeGreaterThan(0);
    await room.commands.close();
    expect([...alive(first), ...alive(second)]).toEqual([]);
    expect(existsSync(join(room.home, "running")) && (await rmdir(join(room.home, "running")))).toBe(
      undefined,
    );
  });

  it("P26 a daemon is named in the answer of the command that started it", async () => {
    const { text } = await run({ command: daemon(word()) });
    expect(text).toMatch(/Left running as bg_1: \d+ \((?:setsid )?sh -c trap/);
  });
});
