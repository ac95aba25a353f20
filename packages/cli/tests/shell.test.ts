import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { BURIN, burin, matchFailure } from "./burin.ts";
import { root } from "./project.ts";

const word = () => Math.random().toString(36).slice(2);

/** A server with a worker that do not listen to SIGTERM, and a daemon that forked twice. */
const tree = (name: string) =>
  [
    `(setsid sh -c 'trap "" TERM HUP; while :; do sleep 0.2; done' daemon-${name} </dev/null >/dev/null 2>&1 &)`,
    `sh -c 'trap "" TERM HUP INT; sh -c "trap \\"\\" TERM HUP INT; while :; do sleep 0.2; done" worker-${name} & while :; do sleep 0.2; done' server-${name}`,
  ].join("; ");

function alive(name: string): number {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return words.some((one) => /^(daemon|server|worker)-/.test(one) && one.endsWith(name));
    } catch {
      return false;
    }
  }).length;
}

/** Waits for that many; for a moment, what one of them starts has its name. */
const living = (name: string, count: number) => expect.poll(() => alive(name)).toBe(count);

function start(command: string, ...options: string[]) {
  const child = spawn(
    process.execPath,
    [BURIN, "call", "run_shell_command", JSON.stringify({ command }), "-y", "--root", root, ...options],
    { env: environment(), stdio: "ignore" },
  );
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  return { child, ended };
}

function descendants(top: number): number[] {
  const parents = new Map(
    readdirSync("/proc").flatMap((pid) => {
      const stat = /^\d+$/.test(pid) && existsSync(`/proc/${pid}/stat`) ? statOf(pid) : "";
      const parent = /^.*\) \S (\d+)/s.exec(stat)?.[1];
      return parent === undefined ? [] : [[Number(pid), Number(parent)] as const];
    }),
  );
  const below = (pid: number): number[] =>
    [...parents].flatMap(([one, parent]) => (parent === pid ? [one, ...below(one)] : []));
  return below(top);
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}

function environment(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: root,
    BURIN_HOME: join(root, "..", `.home-${root.slice(-6)}`),
  };
}

describe("run_shell_command on the command line", () => {
  for (const mode of ["off", "workspace-write"]) {
    it.each([
      ["SIGINT", 130],
      ["SIGTERM", 143],
      ["SIGHUP", 129],
      ["SIGQUIT", 131],
    ] as const)(`P26 sandbox ${mode}: %s leaves nothing alive`, async (signal, code) => {
      const name = word();
      const { child, ended } = start(tree(name), "--sandbox", mode);
      await living(name, 3);
      child.kill(signal);
      expect(await ended).toBe(code);
      await living(name, 0);
    });

    it(`P26 sandbox ${mode}: a second Ctrl-C ends Burin at once, and nothing stays`, async () => {
      const name = word();
      const { child, ended } = start(tree(name), "--sandbox", mode);
      await living(name, 3);
      child.kill("SIGINT");
      await pause(30);
      child.kill("SIGINT");
      await ended;
      await living(name, 0);
    });
  }

  it("P26 SIGUSR1 opens no debugger, by which others could run code in it", async () => {
    const command = "kill -USR1 $PPID; sleep 0.3; echo on";
    const args = ["call", "run_shell_command", JSON.stringify({ command }), "-y", "--sandbox", "off"];
    const end = await burin(args, { cwd: root, env: environment() });
    expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining("on"), stderr: "" });
  });

  it("P26 without sandbox, SIGKILL of Burin: the next start ends what is left, and only that", async () => {
    const name = word();
    const other = word();
    const { child, ended } = start(tree(name), "--sandbox", "off");
    const beside = start(tree(other), "--sandbox", "off");
    await living(name, 3);
    await living(other, 3);
    child.kill("SIGKILL");
    await ended;
    await living(name, 3);
    const next = await burin(["call", "list_directory", '{"path":"."}', "--root", root], {
      cwd: root,
      env: environment(),
    });
    expect(next.code).toBe(0);
    expect(alive(name)).toBe(0);
    await living(other, 3);
    beside.child.kill("SIGTERM");
    await beside.ended;
    expect(alive(other)).toBe(0);
    const home = environment().BURIN_HOME ?? "";
    expect(readdirSync(join(home, "running"))).toEqual([]);
    await rm(home, { recursive: true });
  });

  it(
    "P26 P53 in the sandbox, SIGKILL of Burin: nothing of its session's space lives on",
    requirePrograms("bwrap"),
    async () => {
      const name = word();
      const other = word();
      const beside = start(tree(other));
      const { child, ended } = start(tree(name));
      await living(name, 3);
      await living(other, 3);
      const held = descendants(child.pid ?? 0);
      // Burin's own children are the holder of the space and the way of the command into it.
      expect(held.length).toBeGreaterThan(3);
      child.kill("SIGKILL");
      await ended;
      await living(name, 0);
      await expect.poll(() => held.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
      await living(other, 3);
      const home = environment().BURIN_HOME ?? "";
      expect(readdirSync(join(home, "running"))).toHaveLength(2);
      const next = ["call", "run_shell_command", '{"command":"echo next"}', "-y", "--root", root];
      expect((await burin(next, { cwd: root, env: environment() })).stdout).toContain("next");
      // The next start knows which of the two has ended.
      expect(readdirSync(join(home, "running"))).toHaveLength(1);
      await living(other, 3);
      beside.child.kill("SIGTERM");
      await beside.ended;
      await rm(home, { recursive: true });
    },
  );

  it("P26 SIGKILL of Burin while a hook runs: the next start ends what it has started", async () => {
    const name = word();
    const home = environment().BURIN_HOME ?? "";
    await mkdir(home, { recursive: true });
    const settings = join(home, "settings.json");
    await writeFile(settings, JSON.stringify({ hooks: [{ event: "before_tool", command: tree(name) }] }));
    const { child, ended } = start("true");
    await living(name, 3);
    child.kill("SIGKILL");
    await ended;
    await living(name, 3);
    await rm(settings);
    await burin(["call", "list_directory", '{"path":"."}', "--root", root], {
      cwd: root,
      env: environment(),
    });
    expect(alive(name)).toBe(0);
    await rm(home, { recursive: true });
  });

  it("P8 what the command left running ends with the one call", async () => {
    const name = word();
    const { stdout } = await burin(
      ["call", "run_shell_command", JSON.stringify({ command: `${tree(name)} & echo up` }), "-y"],
      { cwd: root },
    );
    expect(stdout).toContain("Left running as bg_1");
    expect(alive(name)).toBe(0);
  });

  it("P19 the key of the model reaches no command", async () => {
    const canary = "canary-9d8f7";
    const { stdout } = await burin(["call", "run_shell_command", '{"command":"env; echo end"}', "-y"], {
      cwd: root,
      env: { OPENAI_API_KEY: canary, GEMINI_API_KEY: canary, PLAIN: "here" },
    });
    expect(stdout).toContain("PLAIN=here");
    expect(stdout).not.toContain(canary);
  });

  it(
    "P53 a refusal by the sandbox is said to be one, with what allows it; without sandbox there is none",
    requirePrograms("bwrap"),
    async () => {
      const outside = join(root, "outside");
      const project = join(root, "project");
      await mkdir(outside);
      await mkdir(project);
      const call = (...options: string[]) =>
        burin(["call", "run_shell_command", '{"command":"echo x > /usr/burin-canary"}', "-y", ...options], {
          cwd: project,
        });
      const { stdout } = await call();
      expect(stdout).toContain("The sandbox refused a write");
      expect(stdout).toContain('"sandbox_exception": "unlimited"');
      expect(existsSync("/usr/burin-canary")).toBe(false);
      const unknown = await call("--sandbox", "loose");
      expect(unknown).toEqual(matchFailure(2, "off, read-only, workspace-write"));
    },
  );

  it("P21 the question on a terminal shows what is hidden in a command", async () => {
    const command = `touch a${String.fromCodePoint(0x1b, 0x202e, 0xe0041)}b`;
    const { code, stdout } = await burin(["call", "run_shell_command", JSON.stringify({ command })], {
      cwd: root,
    });
    expect(code).toBe(3);
    expect(stdout).toContain("touch a\\x1b\\u{202e}\\u{e0041}b\n");
    const two = await burin(["call", "run_shell_command", '{"command":"ls && touch a"}'], { cwd: root });
    expect(two.stdout).toContain(
      "\nls && touch a\nIts parts, the worst first:\n  ask touch a  (may change files)\n  ok  ls  (only reads)\n",
    );
  });

  it(
    "R31 an exception from the sandbox is asked about, also for a command that needs no question",
    requirePrograms("bwrap"),
    async () => {
      const harmless = { command: "ls", sandbox_exception: "unlimited" };
      const plain = await burin(["call", "run_shell_command", '{"command":"ls"}'], { cwd: root });
      expect(plain.code).toBe(0);
      const asked = await burin(["call", "run_shell_command", JSON.stringify(harmless)], { cwd: root });
      expect(asked).toMatchObject({ code: 3, stdout: expect.stringContaining("WITHOUT the sandbox") });
    },
  );
});

it("P8 a command runs where the folder for temporary files has been cleaned away", async () => {
  const env = { TMPDIR: join(root, "gone") };
  const ended = await burin(["call", "run_shell_command", '{"command":"echo here"}', "-y"], {
    cwd: root,
    env,
  });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("here") });
});
