import { closeSync, constants, lstatSync, openSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { makeFolders } from "./make-folders.ts";
import { codeOf } from "./system-error.ts";

/** How long other processes may hold the lock of one path. */
const PATIENCE_MS = 30_000;
/** How often to try again where the system does not report the end of a wait. */
const PAUSE_MS = 5;
/** The system does not allow such names, for example inside a sandbox that forbids sockets. */
const NOT_TO_BE_HAD = new Set(["EPERM", "EACCES", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ENOSYS", "EROFS"]);
/** macOS and the BSDs open and lock in one step; Node passes the flag on but does not name it. */
const O_EXLOCK = 0x20;

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long other processes may hold the lock. */
  readonly patienceMs?: number;
}

/** Another process has held the lock for too long. */
export class PathLockError extends Error {
  override readonly name = "PathLockError";
  readonly code = "HELD";
}

/** Shared by sessions: they have one disk. Calls for the same path run one after the other. */
const QUEUES = new Map<string, Promise<unknown>>();

/**
 * Does work that nothing else on this machine may do at the same time for this real path: read, compare and
 * replace.
 *
 * The lock is a name that the system gives to one process at a time and frees when that process ends, however it
 * ends. So there is no lock file in anyone's folder, no process id that may by now belong to another process, and
 * the same name for every home and temporary folder. A process that waits is connected to the holder and learns of
 * the end without polling. Throws PathLockError after too long a wait, and the signal's reason when it aborts.
 */
export async function lockPath<T>(
  realPath: string,
  work: () => Promise<T>,
  { signal, patienceMs = PATIENCE_MS }: LockOptions = {},
): Promise<T> {
  const before = QUEUES.get(realPath);
  const turn = (async () => {
    await before;
    signal?.throwIfAborted();
    const release = await take(realPath, patienceMs, signal);
    try {
      return await work();
    } finally {
      release();
    }
  })();
  const settled = turn.catch(() => {});
  QUEUES.set(realPath, settled);
  try {
    return await turn;
  } finally {
    if (QUEUES.get(realPath) === settled) QUEUES.delete(realPath);
  }
}

type Release = () => void;

/** One try: the lock, or a wait for its holder that resolves to the holder's process id, where it is known. */
type Try = Release | { wait(until: AbortSignal): Promise<string | null> };

async function take(realPath: string, patienceMs: number, signal?: AbortSignal): Promise<Release> {
  const { createHash } = process.getBuiltinModule("node:crypto");
  const name = createHash("sha256").update(realPath).digest("hex").slice(0, 40);
  const first = await tryToTake(name);
  if (typeof first === "function") return first;
  const patience = AbortSignal.timeout(patienceMs);
  const until = signal === undefined ? patience : AbortSignal.any([signal, patience]);
  for (let tried: Try = first, holder: string | null = null; ; tried = await tryToTake(name)) {
    if (typeof tried === "function") return tried;
    holder = (await tried.wait(until)) ?? holder;
    signal?.throwIfAborted();
    if (patience.aborted) throw heldTooLong(realPath, patienceMs, holder);
  }
}

function tryToTake(name: string): Promise<Try> | Try {
  if (process.platform === "linux") return tryName(`\0burin-lock-${name}`);
  if (process.platform === "win32") return tryName(`\\\\.\\pipe\\burin-lock-${name}`);
  return tryFile(name);
}

/** A socket that listens under a name of the system, not of a folder. */
function tryName(path: string): Promise<Try> {
  return new Promise((resolve, reject) => {
    const waiting = new Set<Socket>();
    const server = process.getBuiltinModule("node:net").createServer((socket) => {
      waiting.add(socket);
      socket.on("error", () => {}).on("close", () => waiting.delete(socket));
      socket.write(String(process.pid));
    });
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve({ wait: (until) => waitFor(path, until) });
      else if (NOT_TO_BE_HAD.has(error.code ?? "")) resolve(() => {});
      else reject(error);
    });
    server.listen({ path, exclusive: true }, () => resolve(() => end(server, waiting)));
  });
}

function end(server: Server, waiting: ReadonlySet<Socket>): void {
  server.on("error", () => {}).close();
  for (const socket of waiting) socket.destroy();
}

/** Resolves when the holder is gone. */
function waitFor(path: string, until: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    let holder: string | null = null;
    const socket = process.getBuiltinModule("node:net").connect({ path });
    const stop = () => socket.destroy();
    until.addEventListener("abort", stop, { once: true });
    if (until.aborted) stop();
    let pauseFor = 0;
    socket.on("data", (bytes) => {
      holder = bytes.toString("latin1");
    });
    // The holder is already gone, or so many wait that the system accepts no more for now.
    socket.on("error", () => {
      pauseFor = PAUSE_MS * Math.random();
    });
    socket.on("close", () => {
      until.removeEventListener("abort", stop);
      if (pauseFor === 0) resolve(holder);
      else setTimeout(resolve, pauseFor, holder);
    });
  });
}

/** On other systems: opens and locks a file in one step, in a folder that all processes of a user share. */
function tryFile(name: string): Try {
  const user = process.getuid?.() ?? 0;
  const folder = `/tmp/burin-locks-${user}`;
  try {
    makeFolders(folder);
    const found = lstatSync(folder);
    if (!found.isDirectory() || found.uid !== user) return () => {};
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const descriptor = openSync(`${folder}/${name}`, flags | O_EXLOCK, 0o600);
    return () => closeSync(descriptor);
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (NOT_TO_BE_HAD.has(code)) return () => {};
    if (code !== "EAGAIN" && code !== "EWOULDBLOCK") throw error;
    const { setTimeout: pause } = process.getBuiltinModule("node:timers/promises");
    return { wait: (until) => pause(PAUSE_MS, null, { signal: until }).catch(() => null) };
  }
}

function heldTooLong(realPath: string, patienceMs: number, holder: string | null): PathLockError {
  const who = holder === null ? "another process" : `process ${holder}`;
  return new PathLockError(
    `${realPath} has been locked by ${who} for more than ${patienceMs / 1000} s, so nothing was written. Try again when that has ended.`,
  );
}
