import type { PartListUnion } from "@burin/contract/messages/parts";

export function textOf(content: PartListUnion): string {
  const list = Array.isArray(content) ? content : [content];
  return list.map((part) => (typeof part === "string" ? part : (part.text ?? ""))).join("\n");
}

/** The exit code in what run_shell_command answers; null where a signal or nothing has ended the command. */
export function exitCodeIn(content: PartListUnion): number | null {
  const code = /^Exit code: (\d+)/.exec(textOf(content))?.[1];
  return code === undefined ? null : Number(code);
}
