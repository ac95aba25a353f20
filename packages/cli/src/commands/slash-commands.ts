import { existsSync } from "node:fs";
import { type CustomCommand, findNearNames } from "@burin/core/internal";

/** What to type here, and the names that other agents use for it. */
const ELSEWHERE = Object.entries({
  "/add-dir": "directory dir",
  "/approval": "approval-mode approvals",
  "/approval plan": "plan ask",
  "/approval yolo": "yolo",
  "/back": "rewind checkpoint restore tree",
  "/changes": "diff",
  "/clear": "new reset",
  "/compact": "compress summarize",
  "/context": "tokens",
  "/cost": "stats usage",
  "/doctor": "status about",
  "/fork": "branch",
  "/help": "? commands",
  "/keys": "hotkeys keybindings shortcuts",
  "/model": "models login auth connect",
  "/quit": "exit q",
  "/rename": "name title",
  "/resume": "continue sessions",
  "/settings": "config",
  "/tasks": "bashes ps shells jobs",
  '"ui": {"vim": true} (~/.burin/settings.json)': "vim",
  "/effort": "think thinking reasoning",
  "the list of /resume (every session is saved)": "chat",
  "alt+enter, or \\ at the end of a line": "terminal-setup multiline-mode",
  "burin --sandbox MODE": "sandbox",
  "burin plugins": "plugin plugins extensions",
  "!COMMAND": "run test git lint commit",
  "@FILE": "add mention",
  "ctrl+g": "editor",
  "ctrl+v": "paste",
});

/** Returns what to type here for another agent's command. */
export function findOwnCommand(name: string, elsewhere = ELSEWHERE): string | undefined {
  return elsewhere.find(([, names]) => names.trim().split(/\s+/).includes(name))?.[0];
}

/** Returns the name from a prompt that begins with `/name`. */
export function parseSlashName(prompt: string): string | undefined {
  return /^\/([\w?-]+)(?=\s|$)/.exec(prompt)?.[1];
}

/** Says why the `/name` at a prompt's start is unknown. Returns null if it is a command, a path or plain text. */
export function findSlashFault(prompt: string, commands: readonly CustomCommand[]): string | null {
  const name = parseSlashName(prompt);
  const names = commands.map((command) => command.name);
  if (name === undefined || names.includes(name) || existsSync(`/${name}`)) return null;
  const [near] = findNearNames(name, names);
  if (near !== undefined) return `there is no command /${name}; did you mean /${near}?`;
  const known = names.length === 0 ? "none are defined here" : `known: /${names.join(", /")}`;
  return `there is no command /${name} (${known}). To send it as text, put a space before it.`;
}
