import { say } from "../locales/say.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";
import { INIT, REVIEW } from "./words-for-models.ts";

/** Commands that give the model something to do. */
export const workCommands: readonly ScreenCommand[] = [
  { name: "init", run: (desk) => ask(desk, INIT, "") },
  { name: "review", words: "[what]", run: (desk, words) => ask(desk, REVIEW, words) },
  { name: "demo", run: (desk) => desk.showDemo() },
];

function ask(desk: CommandDesk, prompt: string, words: string): void {
  if (desk.isWorking) desk.note(say("command.busy"));
  else desk.submit([prompt.replace(/\n/g, " "), words].filter((part) => part !== "").join("\n\n"));
}
