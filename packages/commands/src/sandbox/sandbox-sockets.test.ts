import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SandboxFixture } from "../../tests/sandbox-room.ts";

let room: SandboxFixture;
let root: string;
let place: string;
const run: SandboxFixture["run"] = (...line) => room.run(...line);
const servers: ChildProcess[] = [];

beforeEach(async () => {
  room = new SandboxFixture();
  ({ root } = room);
  place = await visibleFolder();
});

afterEach(async () => {
  for (const server of servers.splice(0)) server.kill("SIGKILL");
  await room.remove();
  await rm(place, { recursive: true });
});

/** A folder that can be seen from the sandbox, which hides those for temporary files, where this may be checked out. */
async function visibleFolder(): Promise<string> {
  for (const parent of [join(process.cwd(), "node_modules"), homedir(), "/var/lib", "/opt"]) {
    const folder = await mkdtemp(join(parent, ".burin-sockets-")).catch(() => null);
    if (folder === null) continue;
    const real = await realpath(folder);
    if (!/^\/(?:tmp|var\/tmp|run|dev)\//.test(real)) return real;
    await rm(folder, { recursive: true });
  }
  throw new Error("There is no writable folder that a command in the sandbox can see.");
}

/** A program outside that does what it is told, on a socket of that type. */
function listen(path: string, type: string): void {
  const server = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.${type}); s.bind(sys.argv[1])
if "${type}" != "SOCK_DGRAM": s.listen(5)
open(sys.argv[1] + ".there", "w").close()
while True:
    told = s.recv(99) if "${type}" == "SOCK_DGRAM" else s.accept()[0].recv(99)
    open(sys.argv[1] + ".new", "wb").write(told)
    os.rename(sys.argv[1] + ".new", sys.argv[1] + ".told")
`;
  servers.push(spawn("python3", ["-c", server, path], { stdio: "ignore" }));
}

/** Waits for the socket, then tries to say something through it, and waits until it is heard. */
function say(path: string, how: string): string {
  const attempt = `
import os, socket, sys, time
path = sys.argv[1]
open("up", "w").close()
while not os.path.exists(path + ".there"): time.sleep(0.01)
${how}
while not os.path.exists(path + ".told"): time.sleep(0.01)
`;
  return `timeout 60 python3 -c '${attempt}' ${path}; cat ${path}.told`;
}

/** Asks the kernel for a socket as programs of 32 bits do (`int 0x80`), and ends with 0 if it may not. */
const NARROW = "b866000000 bb01000000 cd80 83f8ff 400f95c7 400fb6ff b83c000000 0f05";

/** The smallest file that Linux runs: two headers, and the code right behind them. */
function programOf(code: string): Buffer {
  const headers = Buffer.alloc(120);
  const address = 0x400000;
  headers.write("7f454c46020101", "hex");
  for (const [at, value] of [
    [16, 2],
    [18, 62],
    [52, 64],
    [54, 56],
    [56, 1],
  ] as const)
    headers.writeUInt16LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [64, 1],
    [68, 5],
  ] as const)
    headers.writeUInt32LE(value, at);
  const bytes = Buffer.from(code.replaceAll(" ", ""), "hex");
  const size = headers.length + bytes.length;
  const wide = [
    [24, address + 120],
    [32, 64],
    [80, address],
    [88, address],
    [96, size],
    [104, size],
    [112, 4096],
  ] as const;
  for (const [at, value] of wide) headers.writeBigUInt64LE(BigInt(value), at);
  return Buffer.concat([headers, bytes]);
}

const WAYS: readonly (readonly [string, string, string])[] = [
  ["a stream", "SOCK_STREAM", 's = socket.socket(socket.AF_UNIX); s.connect(path); s.send(b"EVIL")'],
  [
    "packets in order",
    "SOCK_SEQPACKET",
    's = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(path); s.send(b"EVIL")',
  ],
  ["packets", "SOCK_DGRAM", 's = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b"EVIL", path)'],
  [
    "packets through one of a pair",
    "SOCK_DGRAM",
    's = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]; s.sendto(b"EVIL", path)',
  ],
  [
    "packets through one of a raw pair",
    "SOCK_DGRAM",
    's = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)[0]; s.sendto(b"EVIL", path)',
  ],
];

if (process.platform === "linux") {
  describe("sockets of programs outside", requirePrograms("bwrap", "python3"), () => {
    it.each(WAYS)(
      "P53 one that appears while the command runs cannot be spoken to: %s",
      async (_title, type, how) => {
        const path = join(place, "s");
        const running = run(say(path, how));
        await expect.poll(() => existsSync(join(root, "up"))).toBe(true);
        listen(path, type);
        const { text } = await running;
        expect(text).toContain("Operation not permitted");
        expect(text).not.toContain("EVIL");
      },
    );

    it.each(WAYS)(
      "without the sandbox it can, so that this proves something: %s",
      async (_title, type, how) => {
        const path = join(place, "s");
        listen(path, type);
        expect((await run(say(path, how), "unlimited")).text).toContain("EVIL");
      },
    );

    it("P53 nor one in the project, by a program of 32 bits, or after a command was given the network once", async () => {
      const path = join(root, "s");
      listen(path, "SOCK_STREAM");
      expect((await run("true", "network")).code).toBe(0);
      expect((await run(say(path, WAYS[0]?.[2] ?? ""))).text).not.toContain("EVIL");
      if (process.arch !== "x64") return;
      writeFileSync(join(root, "narrow"), programOf(NARROW), { mode: 0o755 });
      expect((await run("./narrow")).code).toBe(0);
    });

    it.each(["none", "network"] as const)(
      "P53 the keys that the kernel keeps for the user are out of reach, with the exception %s",
      async (exception) => {
        const calls = process.arch === "arm64" ? [217, 218, 219] : [248, 249, 250];
        const [add, request, control] = calls;
        const attempt = `
import ctypes, errno
kernel = ctypes.CDLL(None, use_errno=True)
mine = ctypes.c_int(-4)
for words in [${add}, b"user", b"burin-canary", b"x", 1, mine], [${request}, b"user", b"burin-canary", None, mine], [${control}, 10, mine, b"user", b"burin-canary", 0]:
    kernel.syscall(*words)
    print(errno.errorcode[ctypes.get_errno()])
`;
        expect((await run(`python3 -c '${attempt}'`, exception)).text).toBe("EPERM\nEPERM\nEPERM\n");
      },
    );

    it("P53 does not hinder what talks to its own children, and servers of its own network", async () => {
      const fork = `const c=require("child_process");if(process.send)process.send("hi");else c.fork(process.argv[1]).on("message",m=>console.log(m))`;
      writeFileSync(join(root, "fork.cjs"), fork);
      expect((await run(`${process.execPath} fork.cjs`)).text).toBe("hi\n");
      const pool = `
from concurrent.futures import ProcessPoolExecutor as Pool
from multiprocessing import Pipe, Queue
import socket, asyncio
with Pool(2) as p: print(list(p.map(abs, [-1, -2])))
a, b = Pipe(); a.send(3); print(b.recv())
q = Queue(); q.put(4); print(q.get())
a, b = socket.socketpair(); a.send(b"5"); print(b.recv(9))
asyncio.run(asyncio.sleep(0)); print("end")
`;
      writeFileSync(join(root, "pool.py"), pool);
      expect((await run("python3 pool.py")).text).toBe("[1, 2]\n3\n4\nb'5'\nend\n");
      const server = `const s=require("net").createServer(c=>c.end("tcp")).listen(0,()=>require("net").connect(s.address().port).on("data",d=>{console.log(String(d));s.close()}))`;
      expect((await run(`${process.execPath} -e '${server}'`)).text).toBe("tcp\n");
      const unix = server
        .replace("listen(0,", 'listen("/tmp/own.sock",')
        .replace("s.address().port", '"/tmp/own.sock"');
      expect((await run(`${process.execPath} -e '${unix}'`, "network")).text).toBe("tcp\n");
    });
  });
}
