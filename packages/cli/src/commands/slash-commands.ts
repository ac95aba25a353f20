import { existsSync } from "node:fs";
import { type CustomCommand, nearNames } from "@burin/core";

/** What is wrong with a prompt that begins with `/name`; null when it is a command, a path or plain text. */
export function slashFault(prompt: string, commands: readonly CustomCommand[]): string | null {
  const name = /^\/([A-Za-z0-9_-]+)(?=\s|$)/.exec(prompt)?.[1];
  const names = commands.map((command) => command.name);
  if (name === undefined || names.includes(name) || existsSync(`/${name}`)) return null;
  const [near] = nearNames(name, names);
  if (near !== undefined) return `there is no command /${name}; did you mean /${near}?`;
  const known = names.length === 0 ? "none are defined here" : `known: /${names.join(", /")}`;
  return `there is no command /${name} (${known}). To send it as text, put a space before it.`;
}
