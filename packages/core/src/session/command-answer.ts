import { type PartListUnion, textOf } from "@burin/contract/messages/parts";

/** The exit code in what run_shell_command answers; null where a signal or nothing has ended the command. */
export function exitCodeIn(content: PartListUnion): number | null {
  const code = /^Exit code: (\d+)/.exec(textOf(content))?.[1];
  return code === undefined ? null : Number(code);
}
