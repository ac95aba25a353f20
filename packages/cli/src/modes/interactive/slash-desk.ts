import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describeError, findNearNames, resolveBurinHome } from "@burin/core/internal";
import type { ScreenCommand } from "../../commands/command-desk.ts";
import { parseScreenCommand, SCREEN_COMMANDS } from "../../commands/screen-commands.ts";
import { findOwnCommand, findSlashFault, parseSlashName } from "../../commands/slash-commands.ts";
import { say } from "../../locales/say.ts";
import type { Choice } from "../../ui/choice-list.ts";
import type { Desk } from "./desk.ts";

/** Runs a command of the screen. Returns false if the text is not one. */
export async function runCommand(desk: Desk, text: string): Promise<boolean> {
  const found = parseScreenCommand(text);
  if (found === null) return false;
  const { command, words } = found;
  if (desk.isWorking && !command.isQuiet) {
    desk.work.runLater(text);
    return true;
  }
  if (command.opensPanel !== true || words !== "")
    desk.print(() => [[{ text: `/${command.name} ${words}`.trimEnd(), style: "dim" }]]);
  await runScreenCommand(desk, command, words);
  return true;
}

/** Runs the command of the screen that a key stands for. */
export async function runByKey(desk: Desk, text: string): Promise<void> {
  const found = parseScreenCommand(text);
  if (found !== null) await runScreenCommand(desk, found.command, found.words);
  desk.view.drawSoon();
}

async function runScreenCommand(desk: Desk, command: ScreenCommand, words: string): Promise<void> {
  try {
    await command.run(desk, words);
    if (command.words === undefined && words !== "")
      desk.note(say("command.noWords", { name: command.name, words }));
  } catch (error) {
    desk.note(say("command.failed", { name: command.name, why: describeError(error) }), true);
  }
}

/** Handles a `/name` that is neither a command nor a path: runs our equivalent, or reports that there is none. */
export async function runMistyped(desk: Desk, text: string): Promise<boolean> {
  const name = parseSlashName(text);
  if (name === undefined) return false;
  if (findSlashFault(text, (await desk.session?.customCommands()) ?? []) === null) return false;
  const here = findOwnCommand(name);
  if (here?.startsWith("/")) return runCommand(desk, here + text.slice(name.length + 1));
  const names = SCREEN_COMMANDS.map((command) => command.name);
  const [near] = findNearNames(name, names);
  const unknown = near === undefined ? say("command.unknown", { name }) : say("command.near", { name, near });
  desk.note(describeCopyHint(desk, name) ?? (here ? say("command.here", { name, here }) : unknown), true);
  return true;
}

/** Tells users of Claude Code that a command of theirs would work here if they copied it to another folder. */
function describeCopyHint({ options }: Desk, name: string): string | undefined {
  const places = [
    [options.root, join(options.root, ".burin")],
    [homedir(), resolveBurinHome(process.env)],
  ] as const;
  return places.flatMap(([top, folder]) => {
    const file = join(top, ".claude", "commands", `${name}.md`);
    return existsSync(file) ? say("command.theirs", { name, file, folder: join(folder, "commands") }) : [];
  })[0];
}

/** Lists the commands that files and MCP servers define. */
export async function listDefinedChoices({ session }: Desk): Promise<readonly Choice[]> {
  if (session === null) return [];
  const [custom, prompts] = await Promise.all([session.customCommands(), session.mcp.prompts()]);
  const choice = (name: string, more: string): Choice => ({ value: `/${name}`, more });
  return [
    ...custom.map(({ name, description }) => choice(name, description)),
    ...prompts.map(({ server, name, description }) => choice(`${server}:${name}`, description)),
  ];
}
