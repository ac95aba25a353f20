import { type PartListUnion, textOf } from "@burin/contract/messages/parts";

/** The exit code in an answer of run_shell_command; null when the command did not exit by itself. */
export function exitCodeIn(content: PartListUnion): number | null {
  const code = /^Exit code: (\d+)/.exec(textOf(content))?.[1];
  return code === undefined ? null : Number(code);
}
