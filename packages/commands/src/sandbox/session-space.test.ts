import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SandboxFixture } from "../../tests/sandbox-room.ts";
import { listProcesses, readCommandLine } from "../processes/process-table.ts";
import { findProgram } from "../processes/shell-program.ts";
import { createLinuxSandbox } from "./sandbox-linux.ts";

let room: SandboxFixture;
const others: SandboxFixture[] = [];

beforeEach(() => {
  room = new SandboxFixture();
});

afterEach(async () => {
  for (const one of [room, ...others.splice(0)]) await one.remove();
});

/** Writes into every open file of every process that it can see what would tell its end, and tries to change each. */
const FORGE = `
import ctypes, os, struct
libc = ctypes.CDLL(None)
for name in os.listdir("/proc"):
    if not name.isdigit() or int(name) == os.getpid(): continue
    pid = int(name)
    held = libc.syscall(434, pid, 0)
    for number in range(3, 40):
        taken = libc.syscall(438, held, number, 0)
        for words in (b"0 2\\n", struct.pack("Q", 1), b'{ "exit-code": 0 }\\n'):
            try: os.write(taken, words)
            except OSError: pass
    if pid == os.getppid(): continue
    for path in ("root/", "cwd/", "ns/user", "ns/mnt"):
        try: os.close(os.open(f"/proc/{pid}/{path}", os.O_RDONLY)); print(pid, "opened", path)
        except OSError: pass
    try: os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR)); print(pid, "opened mem")
    except OSError: pass
    if libc.ptrace(0x4206, pid, 0, 0) == 0: print(pid, "traced")
    if libc.setns(held, 0x30020000) == 0: print(pid, "entered")
`;

const node = (program: string) => `'${process.execPath}' -e '${program}'`;
const server = (port: number, says: string) =>
  node(`require("http").createServer((q, r) => r.end("${says}")).listen(${port})`);
const wait = (port: number) => `until curl -s -o /dev/null localhost:${port}; do sleep 0.05; done`;
const name = () => `one-${Math.random().toString(36).slice(2)}`;
const alive = (words: string) => listProcesses().filter((entry) => readCommandLine(entry).includes(words));

describe("the space of a session", requirePrograms("bwrap", "python3", "curl"), () => {
  it("P53 no command says how it ended: what it can open and trace of others is nothing, and exit 7 stays 7", async () => {
    writeFileSync(join(room.root, "forge.py"), FORGE);
    await room.commands.start({ command: "sleep 300", directory: room.root, exception: "none" });
    expect(await room.run("python3 forge.py; exit 7")).toMatchObject({ code: 7, text: "" });
    expect((await room.run("python3 forge.py; false")).code).toBe(1);
    expect((await room.run("cd /proc; for n in [0-9]*; do kill -9 $n; done; exit 0")).code).not.toBe(0);
    expect(await room.run("echo again; exit 3")).toMatchObject({ code: 3, text: "again\n" });
  });

  it("P53 no command says that it has left nothing: what it left is listed, held and ended with the session", async () => {
    writeFileSync(join(room.root, "forge.py"), FORGE);
    const words = name();
    const plant = `while :; do mkdir -p .husky .vscode; for n in .husky/pre-commit .vscode/tasks.json .envrc; do echo x > $n; done; sleep 0.3; done`;
    const left = `(setsid env -i sh -c '${plant}; : ${words}' >/dev/null 2>&1 &)`;
    const { run, code } = await room.run(`${left}; python3 forge.py; exit 7`);
    expect(code).toBe(7);
    expect(run.isOver).toBe(false);
    expect(run.members().length).toBeGreaterThan(0);
    await room.run("true");
    const planted = () =>
      [".envrc", ".husky/pre-commit", ".vscode/tasks.json"].map((file) => join(room.root, file));
    await vi.waitUntil(async () => (await run.takenBack()).length >= 3, { timeout: 20_000, interval: 50 });
    await room.commands.close();
    expect(alive(words)).toEqual([]);
    expect(planted().filter((file) => existsSync(file))).toEqual([]);
  });

  it("P53 a process whose first thread has ended is still one", async () => {
    const words = name();
    const program = `import ctypes, threading, time\nthreading.Thread(target=time.sleep, args=(300,)).start()\nctypes.CDLL(None).syscall(60, 0) # ${words}`;
    const waiting = 'until grep -qs "^State:.Z" /proc/$(cat pid)/status; do sleep 0.05; done';
    const { run } = await room.run(`(python3 -c '${program}' >/dev/null 2>&1 & echo $! > pid); ${waiting}`);
    expect(run.isOver).toBe(false);
    expect(run.members().map(({ isZombie }) => isZombie)).toEqual([false]);
    expect(await run.end()).toEqual([]);
    expect(run.isOver).toBe(true);
  });

  it("P8 the next command reaches a server that the last one started, sees its port taken, and can end it", async () => {
    const started = await room.run(
      `${server(3456, "hello")} >/dev/null 2>&1 & echo $! > server.pid; ${wait(3456)}`,
    );
    expect(started.run.isOver).toBe(false);
    expect(started.run.addresses()).toEqual(["*:3456"]);
    expect((await room.run("curl -s localhost:3456")).text).toBe("hello");
    expect((await room.run(server(3456, "second"))).text).toContain("EADDRINUSE");
    expect((await room.run("curl -s localhost:3456", "network")).code).not.toBe(0);
    expect((await room.run("kill $(cat server.pid)")).code).toBe(0);
    await vi.waitUntil(() => started.run.members().length === 0, { timeout: 20_000, interval: 20 });
    expect((await room.run("curl -s localhost:3456")).code).toBe(7);
  });

  it("P8 P53 no other session reaches it, sees it or can end it", async () => {
    await room.run(`${server(3456, "hello")} >/dev/null 2>&1 & ${wait(3456)}`);
    const other = new SandboxFixture();
    others.push(other);
    expect((await other.run("curl -s localhost:3456")).code).toBe(7);
    expect((await other.run("cat /proc/[0-9]*/cmdline")).text).not.toContain("createServer");
    await other.run("kill -9 -1");
    expect((await room.run("curl -s localhost:3456")).text).toBe("hello");
    expect(
      (await other.run(`${server(3456, "other")} >/dev/null 2>&1 & ${wait(3456)}; curl -s localhost:3456`))
        .text,
    ).toBe("other");
  });

  it("P8 a command that only ended meanwhile does not count as the one that is over", async () => {
    const words = name();
    const request = { directory: room.root, exception: "none" } as const;
    const first = await room.commands.start({
      ...request,
      command: `while :; do (sleep 0.2; : ${words}) & wait; done`,
    });
    await vi.waitUntil(() => first.members().length > 0, { timeout: 20_000, interval: 20 });
    const { run } = await room.run("sleep 0.5; echo done");
    expect(run.isOver).toBe(true);
    expect(await first.end()).toEqual([]);
    expect(alive(words)).toEqual([]);
  });

  it("P53 where commands share no space, each ends with all that it started, and its end is true", async () => {
    const limits = { mode: "workspace-write", roots: [room.root], home: room.home } as const;
    const sandbox = createLinuxSandbox(findProgram("bwrap") ?? "", {
      ...limits,
      temporary: join(room.base, "apart"),
      environment: { PATH: process.env.PATH },
    });
    const run = async (line: string) => {
      const argv = ["/bin/bash", "-c", line] as const;
      const plan = await sandbox.plan({ argv, cwd: room.root, network: false });
      const stdio = ["ignore", "ignore", "ignore", "pipe"] as const;
      const done = spawnSync(plan.program, plan.args, {
        stdio: [...stdio],
        env: { ...process.env, ...plan.env },
      });
      await plan.release();
      return done.status;
    };
    writeFileSync(join(room.root, "forge.py"), FORGE);
    const words = name();
    expect(await run(`(setsid env -i sh -c 'sleep 300; : ${words}' &); python3 forge.py; exit 7`)).toBe(7);
    expect(alive(words)).toEqual([]);
    expect(await run("python3 forge.py; false")).toBe(1);
    expect(await run("kill -9 $$")).toBe(137);
    expect(await run("kill -9 1; exit 4")).toBe(4);
  });
});
