import { findSession, forkSession, planUndo, TurnCount } from "@burin/core/internal";
import { readLog, type UndoEntry } from "@burin/core/sessions";
import { say } from "../locales/say.ts";
import { resolveSessionLocation } from "../request/options.ts";
import { readPromptWords } from "../state/transcript.ts";
import { cutLine, formatText, type Line } from "../terminal/styled-line.ts";
import { openChoicePanel } from "../ui/choice-panel.ts";
import { announceCopy, formatTitle, switchSession, undoOrRedo } from "./change-session.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";

const MAX_NAMED = 3;
const MAX_CALLS = 6;

export const backCommands: readonly ScreenCommand[] = [{ name: "back", opensPanel: true, run: goBack }];

interface Prompt {
  readonly text: string;
  /** The model's last turn before this prompt. */
  readonly turn: number;
}

/** Returns to the state before an earlier prompt: the conversation (in a new session), the files, or both. */
async function goBack(desk: CommandDesk): Promise<void> {
  const { home, root } = resolveSessionLocation(desk.options);
  const { session } = desk;
  if (session === null || session.history.length === 0) return void desk.note(say("session.none"));
  const prompts = await listPrompts(home, root, session.id);
  const choices = prompts
    .map(({ text }, index) => ({ value: String(index), label: formatTitle(readPromptWords(text)) }))
    .reverse();
  const restoreChoice = async (value: string): Promise<void> => {
    const prompt = prompts[Number(value)] ?? { text: "", turn: 0 };
    const plan = await planUndo({ home, root, only: session.id, afterTurn: prompt.turn });
    if (plan.length === 0) await goBackTo(desk, prompt, "conversation");
    else chooseWhat(desk, prompt, plan);
  };
  openChoicePanel(desk, { title: say("back.title"), choices, chosen: (value) => void restoreChoice(value) });
}

const PARTS = ["both", "conversation", "files"] as const;
type Part = (typeof PARTS)[number];

/** Lets the user choose what to restore, with a preview of what each choice would change. */
function chooseWhat(desk: CommandDesk, prompt: Prompt, plan: readonly UndoEntry[]): void {
  const preview = (value: string, width: number): Line[] => {
    const copy = value === "files" ? [] : [say("back.copy")];
    const files = value === "conversation" ? [] : [say("back.calls"), ...formatCallLines(plan)];
    return [...copy, ...files].map((text) => cutLine([{ text: formatText(text), style: "dim" }], width));
  };
  openChoicePanel(desk, {
    title: say("back.what"),
    choices: PARTS.map((value) => ({ value, label: say(`back.${value}`) })),
    preview,
    chosen: (value) => void goBackTo(desk, prompt, PARTS.find((part) => part === value) ?? "conversation"),
  });
}

function formatCallLines(plan: readonly UndoEntry[]): string[] {
  const lines = plan.slice(0, MAX_CALLS).map(({ files, call }) => {
    const more = files.length > MAX_NAMED ? ` ${say("undo.more", { count: files.length - MAX_NAMED })}` : "";
    return `  ${files.slice(0, MAX_NAMED).join(", ")}${more}${call === undefined ? "" : `  (${call})`}`;
  });
  const left = plan.length - lines.length;
  return left > 0 ? [...lines, `  ${say("undo.more", { count: left })}`] : lines;
}

async function goBackTo(desk: CommandDesk, { text, turn }: Prompt, part: Part): Promise<void> {
  const { home, root } = resolveSessionLocation(desk.options);
  const id = desk.session?.id;
  if (id === undefined) return;
  // Do this before the session changes, so that the undo applies to this session's calls.
  if (part !== "conversation") await undoOrRedo(desk, { afterTurn: turn });
  if (part === "files") return;
  if (turn === 0) await switchSession(desk, { kind: "new" });
  else {
    const place = await findSession(home, root, id);
    const copy = await forkSession({ home, root, place, turn });
    await switchSession(desk, { kind: "resume", id: copy, isFork: false });
  }
  announceCopy(desk, id);
  desk.buffer.set(readPromptWords(text));
}

async function listPrompts(home: string, root: string, id: string): Promise<Prompt[]> {
  const count = new TurnCount();
  const prompts: Prompt[] = [];
  let last = 0;
  for (const { event } of readLog((await findSession(home, root, id)).path)) {
    if (event.type === "text" && event.role === "user") prompts.push({ text: event.text, turn: last });
    last = count.countEvent(event).turn;
  }
  return prompts;
}
