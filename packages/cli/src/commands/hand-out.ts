import { say } from "../locales/say.ts";
import { choose } from "../ui/choice-panel.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";
import { useAgent, useSkill } from "./words-for-models.ts";

export const handOutCommands: readonly ScreenCommand[] = [
  { name: "agents", run: showAgents },
  { name: "skills", run: showSkills },
  { name: "tasks", isQuiet: true, run: showTasks },
];

/** The chosen subagent starts the next prompt. */
async function showAgents(desk: CommandDesk): Promise<void> {
  const choices = choicesOf(await desk.session?.agents());
  choose(desk, { title: say("agents.title"), choices, chosen: (name) => desk.buffer.set(useAgent(name)) });
}

async function showSkills(desk: CommandDesk): Promise<void> {
  const choices = choicesOf(await desk.session?.skills());
  if (choices.length === 0) desk.note(say("skills.none"));
  else
    choose(desk, { title: say("skills.title"), choices, chosen: (name) => desk.buffer.set(useSkill(name)) });
}

function choicesOf(known: readonly { readonly name: string; readonly description: string }[] = []) {
  return known.map(({ name, description }) => ({ value: name, more: description }));
}

/** Ends the chosen task with everything that it has started. */
async function showTasks(desk: CommandDesk): Promise<void> {
  const { session } = desk;
  const commands = ((await session?.commands.list()) ?? []).filter(({ state }) => state !== "ended");
  const tasks = (session?.tasks.list() ?? []).filter(({ status }) => status === "running");
  const choices = [
    ...commands.map(({ id, command }) => ({ value: id, more: command })),
    ...tasks.map(({ id, subagent, description: what }) => ({ value: id, more: `${subagent}: ${what}` })),
  ];
  const end = async (id: string): Promise<void> => {
    const isEnded = (await session?.commands.end(id)) || (await session?.tasks.stop(id));
    if (isEnded) desk.note(say("tasks.ended", { id }));
  };
  if (choices.length === 0) desk.note(say("tasks.none"));
  else choose(desk, { title: say("tasks.title"), choices, chosen: (id) => void end(id) });
}
