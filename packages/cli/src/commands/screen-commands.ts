import { say } from "../locales/say.ts";
import { formatCommandMark } from "../state/transcript.ts";
import type { Choice } from "../ui/choice-list.ts";
import { openChoicePanel } from "../ui/choice-panel.ts";
import { changeCommands } from "./change-session.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";
import { exportCommands } from "./export-session.ts";
import { backCommands } from "./go-back.ts";
import { reviewCommands } from "./review-changes.ts";
import { createShowCommands, describeCommand, formatLabel } from "./show-session.ts";
import { showTasks } from "./show-tasks.ts";
import { findOwnCommand } from "./slash-commands.ts";
import { buildAgentPrompt, buildSkillPrompt, INIT_PROMPT, REVIEW_PROMPT } from "./words-for-models.ts";

/** Commands that give work to the model or to subagents. */
const workCommands: readonly ScreenCommand[] = [
  { name: "init", opensPanel: true, run: (desk) => submitPromptAs(desk, INIT_PROMPT, "/init") },
  {
    name: "review",
    words: "[what]",
    opensPanel: true,
    run: (desk, words) => submitPromptAs(desk, REVIEW_PROMPT, `/review ${words}`.trim()),
  },
  { name: "demo", run: (desk) => desk.showDemo() },
  { name: "agents", opensPanel: true, run: showAgents },
  { name: "skills", opensPanel: true, run: showSkills },
  { name: "tasks", isQuiet: true, opensPanel: true, run: showTasks },
];

export const SCREEN_COMMANDS: readonly ScreenCommand[] = [
  ...createShowCommands(() => SCREEN_COMMANDS),
  ...changeCommands,
  ...backCommands,
  ...exportCommands,
  ...reviewCommands,
  ...workCommands,
].sort((one, other) => (one.name < other.name ? -1 : 1));

export function listScreenChoices(): readonly Choice[] {
  return SCREEN_COMMANDS.map((command) => ({
    value: `/${command.name}`,
    label: formatLabel(command),
    more: describeCommand(command.name),
  }));
}

/** Finds the command that a prompt starts with, and the words after it; null if it starts with none. */
export function parseScreenCommand(prompt: string): { command: ScreenCommand; words: string } | null {
  const [, name = "", words = ""] = /^\/([a-z-]+)(?:\s+([\s\S]*))?$/.exec(prompt.trim()) ?? [];
  const command = SCREEN_COMMANDS.find((known) => known.name === name);
  return command === undefined ? null : { command, words: words.trim() };
}

/** Finds the command with this name here or in other agents. */
export function findCommand(word: string): string | undefined {
  return parseScreenCommand(findOwnCommand(word) ?? `/${word}`)?.command.name;
}

/** Sends the whole prompt to the model, but shows only what the user typed. */
function submitPromptAs(desk: CommandDesk, prompt: string, typed: string): void {
  const words = typed.replace(/^\/\S+\s*/, "");
  const whole = [prompt.replace(/\n/g, " "), words].filter((part) => part !== "").join("\n\n");
  void desk.work.submit(whole + formatCommandMark(typed));
}

/** Lets the user choose a subagent, and starts the next prompt with it. */
async function showAgents(desk: CommandDesk): Promise<void> {
  const choices = buildChoices(await desk.session?.agents());
  openChoicePanel(desk, {
    title: say("agents.title"),
    choices,
    chosen: (name) => desk.buffer.set(buildAgentPrompt(name)),
  });
}

async function showSkills(desk: CommandDesk): Promise<void> {
  const choices = buildChoices(await desk.session?.skills());
  if (choices.length === 0) desk.note(say("skills.none"));
  else
    openChoicePanel(desk, {
      title: say("skills.title"),
      choices,
      chosen: (name) => desk.buffer.set(buildSkillPrompt(name)),
    });
}

function buildChoices(known: readonly { readonly name: string; readonly description: string }[] = []) {
  return known.map(({ name, description }) => ({ value: name, more: description }));
}
