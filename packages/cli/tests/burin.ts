import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export const BURIN = fileURLToPath(new URL("../dist/burin.cjs", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** Added to an environment that names no model and no home of the person who runs the tests. */
  readonly env?: Readonly<Record<string, string>>;
  /** Written to stdin, which is then closed; without it stdin is at its end. */
  readonly stdin?: string | Uint8Array;
  /** Leaves stdin open and silent. */
  readonly openStdin?: boolean;
}

/** The command line as it ships, as a process of its own. */
export async function burin(args: readonly string[], options: RunOptions): Promise<Ended> {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [BURIN, ...args], {
    cwd: options.cwd,
    env: { PATH, HOME: options.cwd, BURIN_HOME: `${options.cwd}/.home`, ...options.env },
    stdio: [options.stdin === undefined && !options.openStdin ? "ignore" : "pipe", "pipe", "pipe"],
  });
  if (options.stdin !== undefined) child.stdin?.end(options.stdin);
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
