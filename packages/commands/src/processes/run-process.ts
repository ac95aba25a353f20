import { closeSync, openSync } from "node:fs";
import { type Server as NetServer, Socket } from "node:net";
import { join } from "node:path";
import type { Duplex, Readable, Writable } from "node:stream";
import { findHelper } from "./helper-program.ts";
import { startWithoutInherited } from "./inherited-files.ts";
import { killTreeNow, type TreeMarks } from "./process-tree.ts";

/** Loads code with the first program, because a search in a small project starts none. */
const loadPrograms = () => process.getBuiltinModule("node:child_process");

const IS_WINDOWS = process.platform === "win32";

/** A process without a time limit, which the caller watches. */
export interface ChildRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The pipe end for output and errors, which keeps their order; without it they come as separate streams. */
  readonly writeEnd: number | null;
  /** How many channels the process gets, on the descriptors from 3 on. */
  readonly channels?: number;
  /** Files that are opened for the process to read, on the descriptors after the channels. */
  readonly files?: readonly string[];
  /** Only for cmd.exe: the arguments are passed on unchanged. */
  readonly isVerbatim: boolean;
  /** true if the process gets input while it runs; otherwise its input is empty. */
  readonly hasInput?: boolean;
}

export interface Child {
  readonly pid: number;
  readonly ended: Promise<ChildEnd>;
  /** The streams to read when there is no `writeEnd`. */
  readonly streams: readonly Readable[];
  readonly channels: readonly Duplex[];
  /** The stream to write to if it `hasInput`. */
  readonly input: Writable | null;
  /** Lets Burin's process end while the child runs. */
  unrefChild(): void;
}

export interface ChildEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Starts a process in its own group and session. Rejects when it cannot be started. */
export function startChild(request: ChildRequest): Promise<Child> {
  const output = request.writeEnd ?? ("pipe" as const);
  const input = request.hasInput ? ("pipe" as const) : ("ignore" as const);
  const channels = Array.from({ length: request.channels ?? 0 }, () => "pipe" as const);
  const files = (request.files ?? []).map((file) => openSync(file, "r"));
  const own = [input, output, output, ...channels];
  const child = startWithoutInherited([...own, ...files], (stdio) =>
    loadPrograms().spawn(request.program, request.args, {
      cwd: request.cwd,
      env: request.env,
      stdio,
      detached: !IS_WINDOWS,
      windowsHide: true,
      windowsVerbatimArguments: request.isVerbatim,
    }),
  );
  for (const file of files) closeSync(file);
  const ended = new Promise<ChildEnd>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    // A pipe with no reader is noticed when its process ends, so an unhandled error here must not end ours. The stream
    // is missing when no more files can be opened.
    for (const stream of child.stdio ?? []) stream?.on("error", () => {});
    const { pid } = child;
    if (pid === undefined) return;
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const opened = child.stdio.slice(3, own.length) as Duplex[];
    const unref = () => {
      child.unref();
      for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
    };
    resolve({ pid, ended, streams, channels: opened, input: child.stdin, unrefChild: unref });
  });
}

/** Windows tracks process trees itself: taskkill ends one by its root process. */
export function endWindowsTree(pid: number, systemRoot = "C:\\Windows"): void {
  const program = join(systemRoot, "System32", "taskkill.exe");
  loadPrograms().spawnSync(program, ["/pid", String(pid), "/t", "/f"], {
    stdio: "ignore",
    windowsHide: true,
  });
}

const MAX_SHORT_MS = 20_000;

/** Runs a short system program, for example to create named pipes. Never rejects; one that hangs has failed. */
export function tryRunProgram(
  name: string,
  args: readonly string[],
  { PATH }: NodeJS.ProcessEnv,
): Promise<boolean> {
  const program = findHelper(name, PATH);
  if (program === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    // Node's own `timeout` would keep this process alive after a failed start.
    const limits = { signal: AbortSignal.timeout(MAX_SHORT_MS), killSignal: "SIGKILL" } as const;
    const child = startWithoutInherited(["ignore", "ignore", "ignore"], (stdio) =>
      loadPrograms().spawn(program, args, { stdio, windowsHide: true, ...limits }),
    );
    child.on("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}

/** A listening socket that another process has made, and what the process said about it. */
export interface ReceivedListener {
  readonly listener: NetServer;
  readonly message: unknown;
  /** Lets the helper process exit, which waits for this call. */
  letGo(): Promise<void>;
}

/** Starts a Node program that sends a listening socket to this process. Rejects when none arrives. */
export function receiveListener(program: string, args: readonly string[]): Promise<ReceivedListener> {
  const child = startWithoutInherited(["ignore", "ignore", "pipe", "ipc"], (stdio) =>
    loadPrograms().spawn(program, args, { stdio, env: { ELECTRON_RUN_AS_NODE: "1" } }),
  );
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let said = "";
  child.stderr?.on("data", (piece: Buffer) => {
    said = `${said}${piece}`.slice(-1000);
  });
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => child.kill("SIGKILL"), MAX_SHORT_MS);
    const rejectWithReason = (why: string) => {
      clearTimeout(late);
      reject(new Error(`${program} made no listening socket: ${why}`));
    };
    child.once("error", ({ message }) => rejectWithReason(message));
    void ended.then(() => rejectWithReason(said.trim() || "it ended"));
    child.once("message", (message, listener) => {
      clearTimeout(late);
      const endHelper = async () => {
        if (child.connected) child.disconnect();
        await ended;
      };
      resolve({ listener: listener as NetServer, message, letGo: endHelper });
    });
  });
}

export function killNow(marks: TreeMarks, systemRoot: string | undefined): void {
  if (IS_WINDOWS) for (const pid of marks.known.keys()) endWindowsTree(pid, systemRoot);
  else killTreeNow(marks);
}
