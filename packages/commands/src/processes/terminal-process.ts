import { readSync } from "node:fs";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import type * as NodePty from "@lydell/node-pty";
import { findHelper } from "./helper-program.ts";
import { findInheritedDescriptors } from "./inherited-files.ts";
import { findSignalName } from "./process-table.ts";
import type { Child, ChildEnd, ChildRequest } from "./run-process.ts";

const PACKAGE = "@lydell/node-pty";
const COLUMNS = 120;
const ROWS = 40;

/** Starts a program in a pseudo-terminal, first in its own group and session. Rejects when it cannot be started. */
export async function startInTerminal(request: ChildRequest): Promise<Child> {
  const { spawn } = loadPackage();
  const { program, args } = wrapToCloseInherited(request);
  const terminal = spawn(program, [...args], {
    name: "xterm-256color",
    cols: COLUMNS,
    rows: ROWS,
    cwd: request.cwd,
    env: { ...request.env, COLUMNS: String(COLUMNS), LINES: String(ROWS) },
    encoding: null,
  }) as Terminal;
  const output = new Readable({ read: () => terminal.resume() });
  let hasEnded = false;
  // The terminal emits bytes when it has no encoding, whatever its types say.
  terminal.onData((bytes: string | Buffer) => {
    if (!hasEnded && !output.push(bytes)) terminal.pause();
  });
  terminal.on("end", () => pushRemainingOutput(output, terminal.fd));
  const ended = new Promise<ChildEnd>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      hasEnded = true;
      output.push(null);
      resolve(
        signal ? { exitCode: null, signal: findSignalName(signal) ?? "SIGKILL" } : { exitCode, signal: null },
      );
    });
  });
  const input = new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      if (!hasEnded) terminal.write(bytes.toString("utf8"));
      done();
    },
  });
  return { pid: terminal.pid, ended, streams: [output], channels: [], input, unrefChild: () => {} };
}

/** The package passes every descriptor on to the child. Of the shells, only bash can close descriptors above 9. */
function wrapToCloseInherited({ program, args, env }: ChildRequest): Pick<ChildRequest, "program" | "args"> {
  const inherited = findInheritedDescriptors();
  if (inherited.length === 0) return { program, args };
  const bash = findHelper("bash", env.PATH);
  if (bash === null) {
    const which = inherited.join(", ");
    throw new WorkspaceError(
      "io_error",
      [
        `Nothing was run: Burin was started with open files (descriptors ${which}),`,
        "and without bash a command with a terminal would get them.",
        'Run it without "terminal".',
      ].join(" "),
    );
  }
  const closing = inherited.map((descriptor) => `${descriptor}<&-`).join(" ");
  return { program: bash, args: ["--norc", "-c", `exec ${closing}; exec "$@"`, "bash", program, ...args] };
}

/** The members of the package's terminals that its types do not declare. */
interface Terminal extends NodePty.IPty {
  readonly fd: number;
  on(event: "end", listener: () => void): void;
}

/** Node treats a hang-up as the end after one read of at most 4 kB, so read the rest here. */
function pushRemainingOutput(output: Readable, descriptor: number): void {
  try {
    for (;;) {
      const bytes = Buffer.alloc(4096);
      const count = readSync(descriptor, bytes);
      if (count === 0) return;
      output.push(bytes.subarray(0, count));
    }
  } catch {
    // EIO means that all output has been read.
  }
}

/** Loads the package by a path that is found at run time, so that bundlers do not include a native package. */
function loadPackage(): typeof NodePty {
  try {
    return createRequire(import.meta.url)(PACKAGE) as typeof NodePty;
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new WorkspaceError(
      "io_error",
      [
        `Nothing was run: a terminal needs the optional package ${PACKAGE},`,
        `which cannot be loaded here (${why}).`,
        'Run the command without "terminal", or install the package.',
      ].join(" "),
    );
  }
}
