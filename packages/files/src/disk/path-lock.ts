import { closeSync, constants, lstatSync, openSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { makeFolders } from "./own-files.ts";
import { readErrorCode } from "./system-error.ts";

/** How long other processes may hold the lock of one path. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** How often to retry where the system cannot tell when the lock is released. */
const RETRY_MS = 5;
/** Errors that mean the system does not allow such sockets, for example inside a sandbox. */
const UNSUPPORTED_CODES = new Set(["EPERM", "EACCES", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ENOSYS", "EROFS"]);
/** On macOS and the BSDs, this flag opens and locks in one step; Node passes it on but does not name it. */
const O_EXLOCK = 0x20;

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long other processes may hold the lock. */
  readonly timeoutMs?: number;
}

/** Another process has held the lock for too long. */
export class PathLockError extends Error {
  override readonly name = "PathLockError";
  readonly code = "HELD";
}

/** Shared by sessions: they share one disk. Calls for the same path run one at a time. */
const queues = new Map<string, Promise<unknown>>();

/**
 * Runs `work` while nothing else on this machine holds the lock of this real path, to read, compare and replace the
 * file. The lock is a name that the system gives to one process at a time and frees when that process ends, in whatever
 * way. So there are no lock files in anyone's folders, no process ids that may have been reused, and one name whatever
 * the home or temporary folder is. A waiting process connects to the holder and learns of the release without polling.
 * Throws PathLockError after too long a wait, and the signal's reason when it aborts.
 */
export async function lockPath<T>(
  realPath: string,
  work: () => Promise<T>,
  { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: LockOptions = {},
): Promise<T> {
  const before = queues.get(realPath);
  const turn = (async () => {
    await before;
    signal?.throwIfAborted();
    const release = await acquireLock(realPath, timeoutMs, signal);
    try {
      return await work();
    } finally {
      release();
    }
  })();
  const settled = turn.catch(() => {});
  queues.set(realPath, settled);
  try {
    return await turn;
  } finally {
    if (queues.get(realPath) === settled) queues.delete(realPath);
  }
}

type Release = () => void;

/**
 * The result of one try: the lock's release, or a wait for the process that holds it, which resolves to the process id,
 * if known.
 */
type LockAttempt = Release | { wait(until: AbortSignal): Promise<string | null> };

async function acquireLock(realPath: string, patienceMs: number, signal?: AbortSignal): Promise<Release> {
  const { createHash } = process.getBuiltinModule("node:crypto");
  const name = createHash("sha256").update(realPath).digest("hex").slice(0, 40);
  const first = await tryAcquire(name);
  if (typeof first === "function") return first;
  const patience = AbortSignal.timeout(patienceMs);
  const until = signal === undefined ? patience : AbortSignal.any([signal, patience]);
  for (let tried: LockAttempt = first, holder: string | null = null; ; tried = await tryAcquire(name)) {
    if (typeof tried === "function") return tried;
    holder = (await tried.wait(until)) ?? holder;
    signal?.throwIfAborted();
    if (patience.aborted) throw createTimeoutError(realPath, patienceMs, holder);
  }
}

function tryAcquire(name: string): Promise<LockAttempt> | LockAttempt {
  if (process.platform === "linux") return tryListen(`\0burin-lock-${name}`);
  if (process.platform === "win32") return tryListen(`\\\\.\\pipe\\burin-lock-${name}`);
  return tryLockFile(name);
}

/** Opens a socket that listens under a name of the system, not of a folder. */
function tryListen(path: string): Promise<LockAttempt> {
  return new Promise((resolve, reject) => {
    const waiting = new Set<Socket>();
    const server = process.getBuiltinModule("node:net").createServer((socket) => {
      waiting.add(socket);
      socket.on("error", () => {}).on("close", () => waiting.delete(socket));
      socket.write(String(process.pid));
    });
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve({ wait: (until) => waitForRelease(path, until) });
      else if (UNSUPPORTED_CODES.has(error.code ?? "")) resolve(() => {});
      else reject(error);
    });
    server.listen({ path, exclusive: true }, () => resolve(() => closeServer(server, waiting)));
  });
}

function closeServer(server: Server, waiting: ReadonlySet<Socket>): void {
  server.on("error", () => {}).close();
  for (const socket of waiting) socket.destroy();
}

/** Resolves when the holder is gone. */
function waitForRelease(path: string, until: AbortSignal): Promise<string | null> {
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
    // The holder is already gone, or too many processes wait and the system accepts no more.
    socket.on("error", () => {
      pauseFor = RETRY_MS * Math.random();
    });
    socket.on("close", () => {
      until.removeEventListener("abort", stop);
      if (pauseFor === 0) resolve(holder);
      else setTimeout(resolve, pauseFor, holder);
    });
  });
}

/** On other systems: opens and locks a file in one step, in a folder that all processes of a user share. */
function tryLockFile(name: string): LockAttempt {
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
    const code = readErrorCode(error) ?? "";
    if (UNSUPPORTED_CODES.has(code)) return () => {};
    if (code !== "EAGAIN" && code !== "EWOULDBLOCK") throw error;
    const { setTimeout: pause } = process.getBuiltinModule("node:timers/promises");
    return { wait: (until) => pause(RETRY_MS, null, { signal: until }).catch(() => null) };
  }
}

function createTimeoutError(realPath: string, patienceMs: number, holder: string | null): PathLockError {
  const who = holder === null ? "another process" : `process ${holder}`;
  return new PathLockError(
    `${realPath} has been locked by ${who} for more than ${patienceMs / 1000} s, so nothing was written. Try again when that has ended.`,
  );
}
