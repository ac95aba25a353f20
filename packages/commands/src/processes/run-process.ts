import { closeSync, openSync } from "node:fs";
import { type Server as NetServer, Socket } from "node:net";
import { join } from "node:path";
import type { Duplex, Readable, Writable } from "node:stream";
import { findHelper } from "./helper-program.ts";
import { withoutInherited } from "./inherited-files.ts";
import { killTreeNow, type TreeMarks } from "./process-tree.ts";

/** Loaded with the first program: searches of small projects start none. */
const programs = () => process.getBuiltinModule("node:child_process");

const IS_WINDOWS = process.platform === "win32";

/** A process without a time limit, which the caller watches. */
export interface ChildRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where output and errors go, in their order; without it they come on streams. */
  readonly writeEnd: number | null;
  /** How many channels it gets, on the descriptors from 3 on. */
  readonly channels?: number;
  /** Files that it gets opened for reading, on the descriptors after the channels. */
  readonly files?: readonly string[];
  /** Only for cmd.exe: the arguments are passed on unchanged. */
  readonly isVerbatim: boolean;
  /** It gets input while it runs; otherwise its input is empty. */
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
  /** Lets this process end while it runs. */
  unref(): void;
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
  const child = withoutInherited([...own, ...files], (stdio) =>
    programs().spawn(request.program, request.args, {
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
    // A pipe whose other end is gone is noticed by the end of its process; an unhandled error would end this one.
    // There is none where no more files can be opened.
    for (const stream of child.stdio ?? []) stream?.on("error", () => {});
    const { pid } = child;
    if (pid === undefined) return;
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const opened = child.stdio.slice(3, own.length) as Duplex[];
    const unref = () => {
      child.unref();
      for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
    };
    resolve({ pid, ended, streams, channels: opened, input: child.stdin, unref });
  });
}

/** Windows itself knows the tree: one program ends it by its top process. */
export function endWindowsTree(pid: number): void {
  const program = join(process.env.SystemRoot ?? "C:\\Windows", "System32", "taskkill.exe");
  programs().spawnSync(program, ["/pid", String(pid), "/t", "/f"], { stdio: "ignore", windowsHide: true });
}

const MOST_SHORT_MS = 20_000;

/** Runs a short system program, for example to create named pipes. Never rejects; one that hangs has failed. */
export function succeeds(
  name: string,
  args: readonly string[],
  { PATH }: NodeJS.ProcessEnv,
): Promise<boolean> {
  const program = findHelper(name, PATH);
  if (program === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    // Node's own time limit would keep this process alive after a start that failed.
    const limits = { signal: AbortSignal.timeout(MOST_SHORT_MS), killSignal: "SIGKILL" } as const;
    const child = withoutInherited(["ignore", "ignore", "ignore"], (stdio) =>
      programs().spawn(program, args, { stdio, windowsHide: true, ...limits }),
    );
    child.on("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}

/** A listening socket that another process has made, and what the process said about it. */
export interface HandedListener {
  readonly listener: NetServer;
  readonly message: unknown;
  /** Lets the process end, which waits for that. */
  letGo(): Promise<void>;
}

/** Starts a program of Node's that sends a listening socket to this process. Rejects when none comes. */
export function receiveListener(program: string, args: readonly string[]): Promise<HandedListener> {
  const child = withoutInherited(["ignore", "ignore", "pipe", "ipc"], (stdio) =>
    programs().spawn(program, args, { stdio, env: { ELECTRON_RUN_AS_NODE: "1" } }),
  );
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let said = "";
  child.stderr?.on("data", (piece: Buffer) => {
    said = `${said}${piece}`.slice(-1000);
  });
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => child.kill("SIGKILL"), MOST_SHORT_MS);
    const fail = (why: string) => {
      clearTimeout(late);
      reject(new Error(`${program} made no listening socket: ${why}`));
    };
    child.once("error", ({ message }) => fail(message));
    void ended.then(() => fail(said.trim() || "it ended"));
    child.once("message", (message, listener) => {
      clearTimeout(late);
      const letGo = async () => {
        if (child.connected) child.disconnect();
        await ended;
      };
      resolve({ listener: listener as NetServer, message, letGo });
    });
  });
}

export function killNow(marks: TreeMarks): void {
  if (IS_WINDOWS) for (const pid of marks.known.keys()) endWindowsTree(pid);
  else killTreeNow(marks);
}
