import type { Choice } from "../ui/choice-list.ts";
import { changeCommands } from "./change-session.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";
import { exportCommands } from "./export-session.ts";
import { handOutCommands } from "./hand-out.ts";
import { reviewCommands } from "./review-changes.ts";
import { describe, labelOf, showCommands } from "./show-session.ts";
import { hereFor } from "./slash-commands.ts";
import { INIT, REVIEW } from "./words-for-models.ts";

/** Commands that give the model a task. */
const workCommands: readonly ScreenCommand[] = [
  { name: "init", run: (desk) => ask(desk, INIT, "") },
  { name: "review", words: "[what]", run: (desk, words) => ask(desk, REVIEW, words) },
  { name: "demo", run: (desk) => desk.showDemo() },
];

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

/** The command that this word names here or elsewhere. */
export function commandOf(word: string): string | undefined {
  return screenCommandIn(hereFor(word) ?? `/${word}`)?.command.name;
}

function ask(desk: CommandDesk, prompt: string, words: string): void {
  void desk.work.submit([prompt.replace(/\n/g, " "), words].filter((part) => part !== "").join("\n\n"));
}
