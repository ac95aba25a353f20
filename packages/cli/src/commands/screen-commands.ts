import { changeCommands } from "./change-session.ts";
import type { ScreenCommand } from "./command-desk.ts";
import { exportCommands } from "./export-session.ts";
import { handOutCommands } from "./hand-out.ts";
import { reviewCommands } from "./review-changes.ts";
import { showCommands } from "./show-session.ts";
import { workCommands } from "./work-commands.ts";

/** Every command of the screen, by name. */
export const SCREEN_COMMANDS: readonly ScreenCommand[] = [
  ...showCommands(() => SCREEN_COMMANDS),
  ...changeCommands,
  ...exportCommands,
  ...reviewCommands,
  ...handOutCommands,
  ...workCommands,
].sort((one, other) => (one.name < other.name ? -1 : 1));

/** The command that a prompt names, and what stands behind its name; null when it names none. */
export function screenCommandIn(prompt: string): { command: ScreenCommand; words: string } | null {
  const [, name = "", words = ""] = /^\/([a-z-]+)(?:\s+([\s\S]*))?$/.exec(prompt.trim()) ?? [];
  const command = SCREEN_COMMANDS.find((known) => known.name === name);
  return command === undefined ? null : { command, words: words.trim() };
}
