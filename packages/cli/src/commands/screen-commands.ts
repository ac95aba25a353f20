import type { Choice } from "../ui/choice-list.ts";
import { changeCommands } from "./change-session.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";
import { exportCommands } from "./export-session.ts";
import { handOutCommands } from "./hand-out.ts";
import { reviewCommands } from "./review-changes.ts";
import { describe, labelOf, showCommands } from "./show-session.ts";
import { INIT, REVIEW } from "./words-for-models.ts";

/** Commands that give the model a task. */
const workCommands: readonly ScreenCommand[] = [
  { name: "init", run: (desk) => ask(desk, INIT, "") },
  { name: "review", words: "[what]", run: (desk, words) => ask(desk, REVIEW, words) },
  { name: "demo", run: (desk) => desk.showDemo() },
];

/** Our commands, and their names in other agents, so that their users find ours. */
const NAMES_ELSEWHERE = Object.entries({
  approval: ["approval-mode", "approvals"],
  back: ["rewind"],
  changes: ["diff"],
  clear: ["new", "reset"],
  compact: ["compress"],
  cost: ["stats", "usage"],
  doctor: ["status"],
  model: ["models"],
  quit: ["exit"],
  resume: ["continue", "sessions"],
  settings: ["config"],
  tasks: ["bashes"],
});
/** Commands elsewhere, words of ours. */
const MODES = ["plan", "yolo"];

/** Translates a command name that only other agents have into ours; null for all other prompts. */
export function fromElsewhere(prompt: string): string | null {
  const [, name = "", words = ""] = /^\/([a-z-]+)(\s[\s\S]*)?$/.exec(prompt) ?? [];
  if (MODES.includes(name)) return `/approval ${name}${words}`;
  const ours = NAMES_ELSEWHERE.find(([, names]) => names.includes(name))?.[0];
  return ours === undefined ? null : `/${ours}${words}`;
}

export const SCREEN_COMMANDS: readonly ScreenCommand[] = [
  ...showCommands(() => SCREEN_COMMANDS),
  ...changeCommands,
  ...exportCommands,
  ...reviewCommands,
  ...handOutCommands,
  ...workCommands,
].sort((one, other) => (one.name < other.name ? -1 : 1));

export function screenChoices(): readonly Choice[] {
  return SCREEN_COMMANDS.map((command) => ({
    value: `/${command.name}`,
    label: labelOf(command),
    more: describe(command.name),
  }));
}

/** The command that a prompt names, and the words after its name; null when it names none. */
export function screenCommandIn(prompt: string): { command: ScreenCommand; words: string } | null {
  const [, name = "", words = ""] = /^\/([a-z-]+)(?:\s+([\s\S]*))?$/.exec(prompt.trim()) ?? [];
  const command = SCREEN_COMMANDS.find((known) => known.name === name);
  return command === undefined ? null : { command, words: words.trim() };
}

function ask(desk: CommandDesk, prompt: string, words: string): void {
  void desk.work.submit([prompt.replace(/\n/g, " "), words].filter((part) => part !== "").join("\n\n"));
}
