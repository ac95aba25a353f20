import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import type * as NodePty from "@lydell/node-pty";
import { signalName } from "./process-table.ts";
import type { Child, ChildEnd, ChildRequest } from "./run-process.ts";

const PACKAGE = "@lydell/node-pty";
const COLUMNS = 120;
const ROWS = 40;

/** Starts a program in a pseudo-terminal, first in its own group and session. Rejects when it cannot be started. */
export async function startInTerminal(request: ChildRequest): Promise<Child> {
  const { spawn } = loadPackage();
  const terminal = spawn(request.program, [...request.args], {
    name: "xterm-256color",
    cols: COLUMNS,
    rows: ROWS,
    cwd: request.cwd,
    env: { ...request.env, COLUMNS: String(COLUMNS), LINES: String(ROWS) },
    encoding: null,
  });
  const output = new Readable({ read: () => terminal.resume() });
  let hasEnded = false;
  // Without an encoding it emits bytes, whatever its types say.
  terminal.onData((bytes: string | Buffer) => {
    if (!hasEnded && !output.push(bytes)) terminal.pause();
  });
  const ended = new Promise<ChildEnd>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      hasEnded = true;
      output.push(null);
      resolve(
        signal ? { exitCode: null, signal: signalName(signal) ?? "SIGKILL" } : { exitCode, signal: null },
      );
    });
  });
  const input = new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      if (!hasEnded) terminal.write(bytes.toString("utf8"));
      done();
    },
  });
  return { pid: terminal.pid, ended, streams: [output], control: null, input };
}

/** By a path that is found at run time, so that bundlers do not include a native package. */
function loadPackage(): typeof NodePty {
  try {
    return createRequire(import.meta.url)(PACKAGE) as typeof NodePty;
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new WorkspaceError(
      "io_error",
      `Nothing was run: a terminal needs the optional package ${PACKAGE}, which cannot be loaded here (${why}). Run the command without "terminal", or install the package.`,
    );
  }
}
