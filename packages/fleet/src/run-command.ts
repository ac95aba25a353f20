import { execFile } from "node:child_process";
import { delimiter, isAbsolute } from "node:path";
import { promisify } from "node:util";
import { createToolbox, type ToolboxOptions } from "@burin/core";
import { readExitCode } from "@burin/core/internal";

const MAX_MS = 600_000;
const MAX_BYTES = 256 * 1024 * 1024;

/** Runs a command line until it ends. If it fails, throws an error with its output. */
export async function runCommand(
  command: string,
  options: ToolboxOptions,
  signal?: AbortSignal,
): Promise<void> {
  const toolbox = createToolbox({ ...options, approvalMode: "yolo" });
  try {
    const args = { command, timeout: MAX_MS };
    const { llmContent, error } = await toolbox.call("run_shell_command", args, signal);
    if (error) throw new Error(error.message);
    const code = readExitCode(llmContent);
    const [, output = ""] = String(llmContent).split(/\nOutput:\n(.*)/s);
    if (code !== 0) throw new Error(`exit code ${code ?? "unknown"}: ${output.trim()}`);
  } finally {
    await toolbox.close();
  }
}

/** Returns the output of a command that Burin itself has written. */
export function runTrustedCommand(
  folder: string,
  command: string,
  { environment, signal }: { environment?: NodeJS.ProcessEnv; signal?: AbortSignal } = {},
): Promise<void> {
  const settings = { sandbox: { mode: "off" as const } };
  return runCommand(command, { root: folder, settings, ...(environment && { environment }) }, signal);
}

/**
 * Runs a git script and returns its output. It is for short commands that every task needs and that leave nothing
 * running, for which the shell tool would cost many times as much. A task must not be able to write to the folder,
 * because programs and libraries may be searched for there.
 */
export async function runGit(folder: string, script: string): Promise<string> {
  const PATH = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute).join(delimiter);
  const place = { cwd: folder, env: { ...process.env, PATH }, maxBuffer: MAX_BYTES };
  return (await promisify(execFile)("sh", ["-c", script], place)).stdout;
}

export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
