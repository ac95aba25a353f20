import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { groupByPrograms, requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SandboxFixture } from "../../tests/sandbox-room.ts";
import { findProcess, listProcesses } from "../processes/process-table.ts";
import { findMembers } from "../processes/process-tree.ts";
import { findProgram } from "../processes/shell-program.ts";
import { createLinuxSandbox } from "./sandbox-linux.ts";

const environment = { PATH: process.env.PATH };

let room: SandboxFixture;
let base: string;
let root: string;
let home: string;
const run: SandboxFixture["run"] = (...line) => room.run(...line);
const servers: Server[] = [];

beforeEach(() => {
  room = new SandboxFixture();
  ({ base, root, home } = room);
});

afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await room.remove();
});

/** The same command line as an ordinary user, in a project of that user's. Needs root to become one. */
async function runAsNobody(
  command: string,
): Promise<{ readonly code: number | null; readonly text: string }> {
  const nobody = 65_534;
  for (const folder of [base, root, home, join(base, "temporary")]) {
    mkdirSync(folder, { recursive: true });
  }
  execFileSync("chown", ["-R", `${nobody}:${nobody}`, base]);
  const limits = {
    mode: "workspace-write" as const,
    roots: [root],
    home,
    temporary: join(base, "temporary"),
    environment,
  };
  const sandbox = createLinuxSandbox(findProgram("bwrap") ?? "", limits, false);
  const plan = await sandbox.plan({ argv: ["/bin/sh", "-c", command], cwd: root, network: false });
  execFileSync("chown", ["-R", `${nobody}:${nobody}`, base]);
  const words = [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", plan.program, ...plan.args];
  const done = spawnSync(findProgram("setpriv") ?? "", words, {
    cwd: root,
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...plan.env },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  await plan.release();
  return { code: done.status, text: done.stdout + done.stderr };
}

const CANARY = "/usr/local/burin-sandbox-escape";

/** Each must fail, and print HELD after it has. What would have worked leaves its mark. */
const ESCAPES: readonly (readonly [string, string])[] = [
  ["write outside the root", `touch ${CANARY}`],
  ["write beside the root, where only what lands there counts", 'echo x > "$PWD/../escaped"; false'],
  ["write through a link", `ln -sf /usr/local l; echo x > l/burin-sandbox-escape`],
  ["mount the system writable", `mount -o remount,rw / && touch ${CANARY}`],
  ["bind over itself writable", `mount --bind /usr/local /mnt && touch /mnt/burin-sandbox-escape`],
  ["spaces of its own", `unshare -rm sh -c 'mount -o remount,rw /; touch ${CANARY}; test -e ${CANARY}'`],
  ["take off what protects the hooks", "umount .git/hooks && touch .git/hooks/pre-commit"],
  ["a hook", "echo evil > .git/hooks/pre-commit"],
  ["git's configuration", "git config core.fsmonitor evil"],
  ["rename the git folder away", "mv .git .git2 && mkdir .git"],
  ["replace the hooks folder", "rm -rf .git/hooks && mkdir .git/hooks"],
  ["rename over the configuration", "echo x > c && mv -f c .git/config"],
  ["a hook of a nested repository", "echo evil > sub/.git/hooks/pre-commit"],
  ["a hook of a submodule", "echo evil > .git/modules/lib/hooks/post-checkout"],
  ["variables that programs load", "echo x >> .env"],
  ["a device", "mknod disk b 8 0 && head -c 1 disk"],
  ["the kernel's switches", "echo x > /proc/sys/kernel/core_pattern"],
  ["other processes", 'kill -0 "$OUTSIDE_PID"'],
  ["the memory of other processes", 'cat "/proc/$OUTSIDE_PID/environ"'],
  ["the network", "timeout 3 bash -c 'exec 3<>/dev/tcp/127.0.0.1/'$OUTSIDE_PORT"],
  [
    "a socket in the home folder",
    `timeout 3 python3 -c "import socket; socket.socket(socket.AF_UNIX).connect('$OUTSIDE_SOCKET')"`,
  ],
  ["a socket of the system", "test -S /run/burin-test.sock"],
  ["Burin's own files", `cat "${"$BURIN_FILES"}/settings.json"`],
  ["typing into the terminal", `python3 -c "import fcntl; fcntl.ioctl(0, 0x5412, b'x')"`],
];

function prepareProject(): void {
  execFileSync("git", ["init", "-q", root]);
  execFileSync("git", ["init", "-q", join(root, "sub")]);
  execFileSync("git", ["init", "-q", "--bare", join(root, ".git/modules/lib")]);
  writeFileSync(join(root, ".env"), "A=1\n");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "settings.json"), "secret");
}

async function outside(): Promise<string> {
  // Not in the temporary folder, which is hidden anyway.
  const socket = join(process.cwd(), "node_modules", `.burin-${process.pid}.sock`);
  const [tcp, unix] = [createServer(), createServer()];
  servers.push(tcp, unix);
  const port = await listenOnFreePort(tcp);
  await new Promise<void>((resolve) => unix.listen(socket, resolve));
  chmodSync(socket, 0o777);
  return `OUTSIDE_PID=${process.pid}; OUTSIDE_PORT=${port}; OUTSIDE_SOCKET='${socket}'; BURIN_FILES='${home}'; `;
}

/** The project, but for files of their own that the escapes may well make. */
function state(): unknown {
  const hooks = [".git/hooks", "sub/.git/hooks", ".git/modules/lib/hooks"];
  return {
    hooks: hooks.map((folder) => readdirSync(join(root, folder)).filter((name) => !name.endsWith(".sample"))),
    config: readFileSync(join(root, ".git/config"), "utf8"),
    env: readFileSync(join(root, ".env"), "utf8"),
    names: [".burin", ".vscode", ".mcp.json", ".git2"].filter((name) => existsSync(join(root, name))),
    outside: existsSync(CANARY) || existsSync(join(base, "escaped")),
  };
}

if (process.platform === "linux") {
  describe("the sandbox on Linux", requirePrograms("bwrap"), () => {
    beforeEach(async () => {
      const { sandbox } = await room.commands.sandbox();
      if (sandbox === null) throw new Error("There is no working sandbox, so nothing was tried.");
    });

    it("works here: bubblewrap is installed and may make namespaces", async () => {
      expect(await room.commands.sandbox()).toMatchObject({ sandbox: { mode: "workspace-write" } });
    });
    for (const [names, rows] of groupByPrograms(ESCAPES, ([, attempt]) => attempt)) {
      it.each(rows)(
        "P53 keeps in, whoever runs it: %s",
        requirePrograms(...names),
        async (_title, attempt) => {
          prepareProject();
          const before = state();
          const line = `${await outside()}(${attempt}) >/dev/null 2>&1 && echo ESCAPED || echo HELD`;
          expect((await run(line)).text).toBe("HELD\n");
          expect(state()).toEqual(before);
        },
      );

      it.each(rows)(
        "P53 keeps in an ordinary user: %s",
        requirePrograms(...names),
        async (_title, attempt) => {
          prepareProject();
          const before = state();
          const line = `${await outside()}(${attempt}) >/dev/null 2>&1 && echo ESCAPED || echo HELD`;
          if (process.getuid?.() === 0) expect(await runAsNobody(line)).toEqual({ code: 0, text: "HELD\n" });
          else expect((await run(line)).text).toBe("HELD\n");
          expect(state()).toEqual(before);
        },
      );
    }

    it(
      "the same attempts work without it, so that they prove something",
      requirePrograms("python3"),
      async () => {
        prepareProject();
        const given = await outside();
        const working = [
          "a socket in the home folder",
          "a hook",
          "git's configuration",
          "other processes",
          "the network",
        ];
        for (const [title, attempt] of ESCAPES.filter(([title]) => working.includes(title))) {
          const line = `${given}(${attempt}) >/dev/null 2>&1 && echo ESCAPED || echo HELD`;
          expect([title, (await run(line, "unlimited")).text]).toEqual([title, "ESCAPED\n"]);
        }
      },
    );

    it("P53 does not hinder: files, temporary files over calls, commits, loopback, programs that run others", async () => {
      execFileSync("git", ["init", "-q", root]);
      const commit = "git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline | wc -l";
      expect((await run(`mkdir a && echo x > a/b && git add -A && ${commit}`)).text.trim()).toBe("1");
      expect((await run("git status --porcelain")).text).toBe("");
      expect((await run("echo kept > /tmp/note; cat $TMPDIR/note")).text).toBe("kept\n");
      expect((await run("cat /tmp/note")).text).toBe("kept\n");
      const server = `const s=require("net").createServer(c=>c.end("hi")).listen(0,()=>require("net").connect(s.address().port).on("data",d=>{console.log(String(d));s.close()}))`;
      expect((await run(`${process.execPath} -e '${server}'`)).text).toBe("hi\n");
      expect((await run("whoami >/dev/null && ls /usr/bin | head -1 | wc -l")).text).toBe("1\n");
    });

    it("P53 nothing is made in the project by the sandbox itself, while commands run and after", async () => {
      const first = await room.commands.start({ command: "sleep 30", directory: root, exception: "none" });
      await run("true");
      expect(readdirSync(root)).toEqual([]);
      await first.end();
      expect(readdirSync(root)).toEqual([]);
    });

    it("read-only: nothing but the temporary folder", async () => {
      await room.commands.close();
      room.open("read-only");
      expect((await run("touch x || touch /tmp/x && ls /tmp/x")).text).toContain("/tmp/x");
      expect(readdirSync(root)).toEqual([]);
    });

    it("P53 a root that holds everything uncovers nothing: other processes, sockets, temporary files", async () => {
      const places = { roots: ["/"], home, temporary: join(base, "temporary") };
      const limits = { mode: "read-only", ...places, environment } as const;
      const sandbox = createLinuxSandbox(findProgram("bwrap") ?? "", limits);
      writeFileSync(join(base, "visible"), "");
      const look = `ls -d /proc/[0-9]*; ls ${base}; touch /etc/burin-canary`;
      const plan = await sandbox.plan({ argv: ["/bin/sh", "-c", look], cwd: "/", network: false });
      const done = spawnSync(plan.program, plan.args, {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe", "pipe"],
      });
      expect(done.stdout.split("\n").filter((line) => line.startsWith("/proc/")).length).toBeLessThan(6);
      expect(done.stdout).not.toContain("visible");
      expect(done.stderr).toContain("Read-only file system");
    });

    it("P53 no command reaches the pipes of others where TMPDIR is in the root", async () => {
      await room.commands.close();
      const folder = join(root, "tmp");
      vi.stubEnv("TMPDIR", folder);
      mkdirSync(folder);
      room.open();
      const profile = join(base, "profile");
      writeFileSync(profile, "as it was");
      const link = `for p in ${folder}/burin-run-*/pipe-*; do rm -f "$p"; ln -s ${profile} "$p" && echo reached; done`;
      expect((await run(link)).text).not.toContain("reached");
      expect((await run("touch /tmp/a && echo made")).text).toBe("made\n");
      expect(readFileSync(profile, "utf8")).toBe("as it was");
      vi.unstubAllEnvs();
    });

    it("tells a command that ends its own shell from a sandbox that could not be made", async () => {
      expect((await run("kill -9 $$")).run.shellEnd).toMatchObject({ wasNotStarted: false });
      const end = { exitCode: 1, wasNotStarted: false };
      expect((await run("echo bwrap: no; exit 1")).run.shellEnd).toMatchObject(end);
    });

    it("the network comes back by exception and by setting", async () => {
      const given = await outside();
      const connect = `${given} bash -c 'exec 3<>/dev/tcp/127.0.0.1/'$OUTSIDE_PORT && echo open`;
      expect((await run(connect)).text).not.toContain("open\n");
      expect((await run(connect, "network")).text).toBe("open\n");
      await room.commands.close();
      room.open("workspace-write", true);
      expect((await run(connect)).text).toBe("open\n");
    });

    it("P19 no key is in reach: not in the environment, not in that of Burin", async () => {
      const { text } = await run("env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/1/environ");
      expect(text).toContain("BURIN=1");
      expect(text).not.toContain("canary-key");
    });

    it("P8 P26 `cmd &` lives on after its call, and ends with the session; daemons too", async () => {
      const name = `inside-${Math.random().toString(36).slice(2)}`;
      const { run: started } = await run(
        `sh -c 'sleep 300; :' ${name} & (setsid sh -c 'trap "" TERM; sleep 301; :' ${name} >/dev/null 2>&1 &) ; echo ok`,
      );
      expect(started.isOver).toBe(false);
      await vi.waitUntil(() => started.members().length >= 4, { timeout: 20_000, interval: 20 });
      const pids = started.members().map(({ pid }) => pid);
      await room.commands.close();
      const alive = listProcesses().filter(({ pid, isZombie }) => pids.includes(pid) && !isZombie);
      expect(alive).toEqual([]);
    });

    it("P26 P53 a command that could not be prepared leaves nobody who takes back what the user makes later", async () => {
      const temporary = join(base, "temporary");
      mkdirSync(temporary);
      symlinkSync("no/such/folder", join(temporary, "calls"));
      const limits = { mode: "workspace-write", roots: [root], home, temporary, environment } as const;
      const sandbox = createLinuxSandbox(findProgram("bwrap") ?? "", limits);
      await expect(sandbox.plan({ argv: ["true"], cwd: root, network: false })).rejects.toThrow();
      writeFileSync(join(root, ".npmrc"), "of the user");
      await pause(700);
      expect(readdirSync(root)).toEqual([".npmrc"]);
    });

    it("P26 ends with the Burin that started it, without a chance to clean up", async () => {
      const sandbox = (await room.commands.sandbox()).sandbox;
      const alone = { argv: ["sleep", "302"], cwd: root, network: false, isAlone: true } as const;
      const plan = await sandbox?.plan(alone);
      const parent = `const c=require("child_process").spawn(process.argv[1],process.argv.slice(2),{stdio:["ignore","ignore","ignore","pipe"],detached:true});console.log(c.pid);setInterval(()=>{},1000)`;
      const burin = spawn(process.execPath, ["-e", parent, plan?.program ?? "", ...(plan?.args ?? [])]);
      const pid = await new Promise<number>((resolve) =>
        burin.stdout.once("data", (text) => resolve(Number(text))),
      );
      const known = new Map([[pid, findProcess(pid)?.started ?? ""]]);
      const tree = () => findMembers({ runId: "none", known }, listProcesses());
      await vi.waitUntil(() => tree().some(({ name }) => name === "sleep"), {
        timeout: 20_000,
        interval: 20,
      });
      const pids = tree().map((entry) => entry.pid);
      burin.kill("SIGKILL");
      await vi.waitUntil(() => pids.every((one) => findProcess(one)?.isZombie !== false), 20_000);
      expect(pids.length).toBeGreaterThan(2);
      await plan?.release();
    });
  });
}
