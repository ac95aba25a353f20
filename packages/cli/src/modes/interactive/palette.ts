import { SCREEN_COMMANDS } from "../../commands/screen-commands.ts";
import { describeCommand, formatLabel } from "../../commands/show-session.ts";
import { say } from "../../locales/say.ts";
import type { KeyAction } from "../../state/key-bindings.ts";
import type { Choice } from "../../ui/choice-list.ts";
import { openChoicePanel } from "../../ui/choice-panel.ts";
import { ACTION_TEXTS, KEY_LIST } from "../../ui/key-list.ts";
import type { Desk } from "./desk.ts";
import { listDefinedChoices, runByKey } from "./slash-desk.ts";

/** Commands that also have a key. */
const COMMAND_KEYS: Readonly<Record<string, string | undefined>> = {
  back: KEY_LIST.find(([, text]) => text === "key.back")?.[0],
  help: "?",
  approval: "shift+tab",
};

/** Shows all commands and keys in one list that the user filters by typing. */
export async function showPalette(desk: Desk, act: (action: KeyAction) => void): Promise<void> {
  const commands = SCREEN_COMMANDS.map((command): Choice => {
    const keys = [...desk.keys.listKeys(`/${command.name}`), COMMAND_KEYS[command.name] ?? ""];
    return {
      value: `/${command.name}`,
      label: formatLabel(command),
      more: appendKeys(describeCommand(command.name), keys),
    };
  });
  const actions = Object.entries(ACTION_TEXTS).map(([action, text]): Choice => {
    const [key = "–", ...others] = desk.keys.listKeys(action);
    return { value: action, label: key, more: appendKeys(say(text), others) };
  });
  const runEntry = (value: string): void => {
    if (value.startsWith("/")) void runChosen(desk, value);
    else act(value as KeyAction);
  };
  openChoicePanel(desk, {
    title: say("palette.title"),
    choices: [...commands, ...(await listDefinedChoices(desk)), ...actions],
    chosen: runEntry,
  });
}

/** Runs the chosen command of the screen. A command from a file goes into the prompt, where words may follow. */
async function runChosen(desk: Desk, value: string): Promise<void> {
  const isOfScreen = SCREEN_COMMANDS.some(({ name }) => `/${name}` === value);
  if (isOfScreen) await runByKey(desk, value);
  else desk.buffer.set(`${value} `);
  desk.view.drawSoon();
}

function appendKeys(text: string, keys: readonly string[]): string {
  const named = keys.filter((key) => key !== "").join(", ");
  return named === "" ? text : `${text}  (${named})`;
}
