import { createToolbox, exitCodeIn, type ToolboxOptions } from "@burin/core";

const MOST_MS = 600_000;

/** Runs a command line to its end. Throws with its output when it fails. */
export async function runCommand(command: string, place: ToolboxOptions): Promise<void> {
  const toolbox = createToolbox({ ...place, approvalMode: "yolo" });
  try {
    const { llmContent, error } = await toolbox.call("run_shell_command", { command, timeout: MOST_MS });
    if (error) throw new Error(error.message);
    const code = exitCodeIn(llmContent);
    const [, output = ""] = String(llmContent).split(/\nOutput:\n(.*)/s);
    if (code !== 0) throw new Error(`exit code ${code ?? "unknown"}: ${output.trim()}`);
  } finally {
    await toolbox.close();
  }
}

/** The same for a command that Burin itself has written. */
export function runOwn(folder: string, command: string, environment?: NodeJS.ProcessEnv): Promise<void> {
  const settings = { sandbox: { mode: "off" as const } };
  return runCommand(command, { root: folder, settings, ...(environment && { environment }) });
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
