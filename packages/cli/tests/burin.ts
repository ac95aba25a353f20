import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";

/** As it ships: built here, or what is installed in the folder that packaging/run.mjs names. */
export const BURIN = join(
  process.env.BURIN_INSTALLED ?? join(import.meta.dirname, "../../.."),
  "node_modules/burin/dist/burin.cjs",
);

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** Added to that of the folder. */
  readonly env?: Readonly<Record<string, string>>;
  /** Written to stdin, which is then closed; without it stdin is at its end. */
  readonly stdin?: string | Uint8Array;
  /** Leaves stdin open and silent. */
  readonly openStdin?: boolean;
}

/** Matches a process that ended with this code, and with these words on stderr. */
export const matchFailure = (code: number, words: string) =>
  expect.objectContaining({ code, stderr: expect.stringContaining(words) });

/** Builds an environment that names no model, and in which the folder is the home. */
export function buildEnvironment(folder: string, more: object = {}): Record<string, string> {
  const { PATH = "" } = process.env;
  return { PATH, HOME: folder, BURIN_HOME: `${folder}/.home`, ...more };
}

/** Runs the command line as it ships, as a process of its own. */
export async function burin(args: readonly string[], options: RunOptions): Promise<Ended> {
  const child = spawn(process.execPath, [BURIN, ...args], {
    cwd: options.cwd,
    env: buildEnvironment(options.cwd, options.env),
    stdio: [options.stdin === undefined && !options.openStdin ? "ignore" : "pipe", "pipe", "pipe"],
  });
  if (options.stdin !== undefined) child.stdin?.end(options.stdin);
  return waitForExit(child);
}

/** Waits until a process has ended. Resolves to its output and its exit code. */
export async function waitForExit(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, stdout, stderr };
}
