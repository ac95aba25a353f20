import { realpath } from "node:fs/promises";
import {
  APPROVAL_MODES,
  burinHome,
  findSession,
  forkSession,
  readLog,
  sessionSummaries,
  TurnCount,
  undo,
} from "@burin/core";
import { LANGUAGES, say } from "../locales/say.ts";
import { shownText } from "../terminal/styled-line.ts";
import type { Choice } from "../ui/choice-list.ts";
import { ChoicePanel, matching } from "../ui/choice-panel.ts";
import { THEMES } from "../ui/theme.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";

const LONGEST_TITLE = 80;

/** Commands that change what the session is, or how it is shown. */
export const changeCommands: readonly ScreenCommand[] = [
  { name: "model", words: "[name]", run: changeModel },
  { name: "approval", words: "[mode]", isQuiet: true, run: changeMode },
  { name: "theme", words: "[name]", isQuiet: true, run: changeTheme },
  { name: "language", words: "[name]", isQuiet: true, run: changeLanguage },
  { name: "resume", words: "[id]", run: resume },
  { name: "fork", run: fork },
  { name: "back", run: goBack },
  { name: "clear", run: clear },
  { name: "undo", words: "[count]", run: undoLast },
  { name: "quit", isQuiet: true, run: (desk) => desk.leave() },
];

interface Choosing {
  readonly title: string;
  readonly choices: readonly Choice[];
  readonly choose: (value: string) => void;
}

function choose(desk: CommandDesk, { title, choices, choose: chosen }: Choosing): void {
  desk.show(
    new ChoicePanel({
      title,
      find: (words) => matching(choices, words),
      choose: ({ value }) => {
        desk.show(null);
        chosen(value);
      },
      close: () => desk.show(null),
    }),
  );
}

/** Takes the word behind a command when it is one of these; else lets the person choose. */
function chooseWord(desk: CommandDesk, word: string, { title, choices, choose: chosen }: Choosing): void {
  if (word === "") choose(desk, { title, choices, choose: chosen });
  else if (choices.some(({ value }) => value === word)) chosen(word);
  else
    desk.note(
      say("command.unknownWord", { word, known: choices.map(({ value }) => value).join(", ") }),
      true,
    );
}

async function changeModel(desk: CommandDesk, word: string): Promise<void> {
  const take = (model: string): void => void changeTo(desk, { model });
  if (word !== "") return changeTo(desk, { model: word });
  const models = await desk.models();
  const choices = models.map((name) => ({ value: name, label: name, more: "" }));
  if (choices.length === 0) desk.note(say("model.none"));
  else choose(desk, { title: say("model.title"), choices, choose: take });
}

async function changeTo(desk: CommandDesk, change: Parameters<CommandDesk["change"]>[0]): Promise<void> {
  try {
    await desk.change(change);
  } catch (error) {
    desk.note(error instanceof Error ? error.message : String(error), true);
  }
}

function changeMode(desk: CommandDesk, word: string): void {
  const { session } = desk;
  if (session === null) return;
  const choices = APPROVAL_MODES.map((mode) => ({ value: mode, label: mode, more: say(`mode.${mode}`) }));
  const take = (value: string): void => {
    const mode = APPROVAL_MODES.find((one) => one === value);
    if (mode !== undefined) session.approvalMode = mode;
  };
  chooseWord(desk, word, { title: say("mode.title"), choices, choose: take });
}

function changeTheme(desk: CommandDesk, word: string): void {
  const choices = THEMES.map((name) => ({ value: name, label: name, more: say(`theme.${name}`) }));
  const take = (value: string): void => {
    const theme = THEMES.find((one) => one === value);
    if (theme === undefined) return;
    desk.theme = theme;
    void desk.keep(["ui", "theme"], theme);
  };
  chooseWord(desk, word, { title: say("theme.title"), choices, choose: take });
}

function changeLanguage(desk: CommandDesk, word: string): void {
  const choices = Object.entries(LANGUAGES).map(([value, label]) => ({ value, label, more: value }));
  const take = (value: string): void =>
    void desk.useLanguage(value).then(() => desk.keep(["ui", "language"], value));
  chooseWord(desk, word, { title: say("language.title"), choices, choose: take });
}

async function resume(desk: CommandDesk, id: string): Promise<void> {
  const take = (chosen: string): void =>
    void changeTo(desk, { session: { kind: "take-up", id: chosen, isFork: false } });
  if (id !== "") {
    take(id);
    return;
  }
  const { home, root } = await placeOf(desk);
  const sessions = (await sessionSummaries(home, root)).filter((one) => one.id !== desk.session?.id);
  const choices = sessions.map(({ id: value, prompt, changed, holder }) => ({
    value,
    label: title(prompt ?? ""),
    more: `${new Date(changed).toISOString().slice(0, 16).replace("T", " ")}${holder === null ? "" : ` ${say("resume.inUse")}`}`,
  }));
  if (choices.length === 0) desk.note(say("resume.none"));
  else choose(desk, { title: say("resume.title"), choices, choose: take });
}

async function fork(desk: CommandDesk): Promise<void> {
  const id = desk.session?.id;
  if (id === undefined || desk.session?.history.length === 0) desk.note(say("fork.none"));
  else await changeTo(desk, { session: { kind: "take-up", id, isFork: true } });
}

/** Goes back to before an earlier prompt, in a session of its own; the prompt is there to be changed. */
async function goBack(desk: CommandDesk): Promise<void> {
  const { home, root } = await placeOf(desk);
  const { session } = desk;
  const prompts = session === null ? [] : await promptsOf(home, root, session.id);
  if (prompts.length === 0) {
    desk.note(say("back.none"));
    return;
  }
  const choices = prompts
    .map(({ text }, index) => ({ value: String(index), label: title(text), more: "" }))
    .reverse();
  const take = async (value: string): Promise<void> => {
    const { text, turn } = prompts[Number(value)] ?? { text: "", turn: 0 };
    if (turn === 0) await changeTo(desk, { session: { kind: "new" } });
    else {
      const place = await findSession(home, root, session?.id ?? "");
      const id = await forkSession({ home, root, place, turn });
      await changeTo(desk, { session: { kind: "take-up", id, isFork: false } });
    }
    desk.buffer.set(text);
  };
  choose(desk, { title: say("back.title"), choices, choose: (value) => void take(value) });
}

/** The prompts of a session, each with the last turn of the model before it. */
async function promptsOf(home: string, root: string, id: string): Promise<{ text: string; turn: number }[]> {
  const count = new TurnCount();
  const prompts: { text: string; turn: number }[] = [];
  let last = 0;
  for (const { event } of readLog((await findSession(home, root, id)).path)) {
    if (event.type === "text" && event.role === "user") prompts.push({ text: event.text, turn: last });
    last = count.follow(event).turn;
  }
  return prompts;
}

async function clear(desk: CommandDesk): Promise<void> {
  await changeTo(desk, { session: { kind: "new" } });
  desk.clearScreen();
}

async function undoLast(desk: CommandDesk, words: string): Promise<void> {
  if (words !== "" && !/^[1-9]\d{0,4}$/.test(words)) {
    desk.note(say("undo.count", { word: words }), true);
    return;
  }
  const place = await placeOf(desk);
  const { files, isRedo } = await undo({ ...place, ...(words === "" ? {} : { count: Number(words) }) });
  if (files.length === 0) desk.note(say("undo.nothing"));
  for (const { file, what, reason } of files) {
    if (what === "refused") desk.note(say("undo.refused", { file, reason: reason ?? "" }), true);
    else desk.note(say(isRedo ? "undo.redone" : "undo.done", { file }));
  }
}

async function placeOf({ options }: CommandDesk): Promise<{ home: string; root: string }> {
  return { home: burinHome(process.env), root: await realpath(options.root) };
}

function title(text: string): string {
  const line = shownText(text.replace(/\s+/g, " "));
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line;
}
