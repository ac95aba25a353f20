import { messageOf } from "@burin/contract/text/error-message";
import type { SandboxPlan } from "../sandbox/sandbox.ts";
import { shellArguments } from "./shell-arguments.ts";
import type { ShellProgram } from "./shell-program.ts";
import { type ReadEnd, readToEnd, type Supervisor } from "./supervisor.ts";

export interface ExchangeRequest {
  readonly command: string;
  readonly cwd: string;
  readonly input: string;
  readonly milliseconds: number;
  /** Of its output; of its errors only the last part is kept. */
  readonly mostBytes: number;
  readonly signal: AbortSignal;
  /** It gets the limits of commands, with or without network. */
  readonly limits?: { readonly network: boolean };
}

export interface ExchangeEnd extends Omit<ReadEnd, "errors"> {
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Set when it could not be started. */
  readonly startError: string | null;
}

export interface ExchangeStart extends Omit<ExchangeRequest, "limits"> {
  readonly shell: ShellProgram;
  readonly env: Readonly<Record<string, string>>;
  readonly limit?: (argv: readonly [string, ...string[]]) => Promise<SandboxPlan>;
}

/** Starts it, gives it the input, and ends it with everything that it started. Never rejects. */
export async function exchange(supervisor: Supervisor, start: ExchangeStart): Promise<ExchangeEnd> {
  const { shell, cwd, mostBytes, limit } = start;
  const args = shellArguments(shell, start.command);
  const pieces: Buffer[] = [];
  let size = 0;
  const onOutput = (piece: Buffer) => {
    pieces.push(piece);
    size += piece.length;
    return size <= mostBytes;
  };
  try {
    const env = { ...start.env, PWD: cwd };
    const sandbox = (await limit?.([shell.path, ...args])) ?? null;
    const { path: program, isVerbatim } = shell;
    const request = { program, args, cwd, env, isVerbatim, sandbox, writeEnd: null, hasInput: true };
    const { errors, ...end } = await readToEnd(await supervisor.start(request), { ...start, onOutput });
    return { ...end, stdout: Buffer.concat(pieces), stderr: errors, startError: null };
  } catch (error) {
    const startError = messageOf(error);
    return { stdout: Buffer.alloc(0), stderr: "", exitCode: null, signal: null, stopped: null, startError };
  }
}
