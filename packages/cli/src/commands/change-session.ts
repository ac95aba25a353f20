import { statSync } from "node:fs";
import type { ApprovalMode } from "@burin/core";
import {
  chooseModel,
  describeError,
  findNearNames,
  listModes,
  listSessionSummaries,
  reachModel,
} from "@burin/core/internal";
import { readLog, resolveUndoScope, type UndoOptions, undo } from "@burin/core/sessions";
import type { TextKey } from "../locales/en.ts";
import { currentLanguage, LANGUAGES, say } from "../locales/say.ts";
import { resolveSessionLocation } from "../request/options.ts";
import { readPromptWords } from "../state/transcript.ts";
import { measureWidth } from "../terminal/cell-width.ts";
import { shortenLine } from "../terminal/output.ts";
import { cutLine, formatText, type Line } from "../terminal/styled-line.ts";
import type { Choice } from "../ui/choice-list.ts";
import { openChoicePanel } from "../ui/choice-panel.ts";
import { drawDiff } from "../ui/displays/file-diff.ts";
import { THEMES, type ThemeName } from "../ui/theme.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";

const LONGEST_TITLE = 80;
/** The maximum number of files of an undo that are named. */
const MAX_NAMED = 8;
/** Stands for "another service" in the list of models: no model has an empty name. */
const ANOTHER_SERVICE = "";

/** Commands that change the session or how it is shown. */
export const changeCommands: readonly ScreenCommand[] = [
  { name: "model", words: "[name]", opensPanel: true, run: changeModel },
  { name: "approval", words: "[mode]", isQuiet: true, opensPanel: true, run: changeMode },
  { name: "add-dir", words: "[folder]", run: addFolder },
  { name: "effort", words: "[word]", isQuiet: true, opensPanel: true, run: changeEffort },
  { name: "theme", words: "[name]", isQuiet: true, opensPanel: true, run: changeTheme },
  { name: "language", words: "[name]", isQuiet: true, opensPanel: true, run: changeLanguage },
  { name: "resume", words: "[id]", opensPanel: true, run: resume },
  { name: "fork", run: fork },
  { name: "clear", run: clear },
  { name: "undo", words: "[count]", run: undoLast },
  { name: "redo", run: (desk) => undoOrRedo(desk, { redo: true }) },
  { name: "compact", words: "[words]", run: compact },
  { name: "rename", words: "[name]", isQuiet: true, run: rename },
  { name: "quit", isQuiet: true, run: (desk) => desk.leave() },
];

interface WordChoice<Word> extends Pick<Parameters<typeof openChoicePanel>[1], "none" | "moved" | "preview"> {
  readonly title: string;
  readonly choices: readonly (Choice & { readonly value: Word })[];
  readonly current: string;
  readonly chosen: (value: Word) => void;
}

/** Chooses the option that follows the command; if none was given, lets the user choose. */
function chooseWord<Word extends string>(desk: CommandDesk, word: string, choosing: WordChoice<Word>): void {
  const { choices } = choosing;
  const applyChoice = (value: string): void => {
    const found = choices.find((one) => one.value === value);
    if (found !== undefined) return void choosing.chosen(found.value);
    const known = choices.map((one) => one.value).join(", ");
    desk.note(say("command.unknownWord", { word, known }), true);
  };
  if (word === "") openChoicePanel(desk, { ...choosing, chosen: applyChoice });
  else applyChoice(word);
}

async function changeModel(desk: CommandDesk, word: string): Promise<void> {
  if (desk.session === null || desk.isDemo) return void desk.setUp();
  if (word !== "") desk.useModel(word);
  const listed = await listModels(desk);
  const known = [...Object.keys(desk.settings?.models ?? {}), ...listed];
  if (word !== "") {
    if (listed.length > 0 && !known.includes(word)) desk.note(describeUnlisted(word, known), true);
    return;
  }
  if (known.length === 0) desk.note(say("model.none"));
  const other = { value: ANOTHER_SERVICE, label: `(${say("first.otherLabel")})` };
  openChoicePanel(desk, {
    title: say("model.title"),
    choices: [...known.map((value) => ({ value })), other],
    current: desk.transcript.model,
    chosen: (name) => (name === ANOTHER_SERVICE ? void desk.addService() : desk.useModel(name)),
  });
}

/** Says that a service does not list this model. It is used all the same: services may have more than they list. */
function describeUnlisted(name: string, known: readonly string[]): string {
  const near = findNearNames(name, known).join(", ");
  return near === "" ? say("model.unlisted", { name }) : say("model.near", { name, near });
}

async function listModels({ settings }: CommandDesk): Promise<readonly string[]> {
  const choice = settings && chooseModel(settings, process.env);
  if (!choice) return [];
  const reached = await reachModel(choice, new AbortController().signal);
  return "models" in reached ? (reached.models ?? []) : [];
}

export async function switchSession(
  desk: CommandDesk,
  session: Parameters<CommandDesk["changeSession"]>[0],
): Promise<void> {
  try {
    await desk.changeSession(session);
  } catch (error) {
    desk.noteFault(error);
  }
}

/** Changes the approval mode. Any words after the mode are sent as a prompt. */
function changeMode(desk: CommandDesk, words: string): void {
  const { session, settings } = desk;
  if (session === null) return;
  const [word = ""] = words.split(/\s/, 1);
  const prompt = words.slice(word.length).trim();
  const choices = listModes(settings?.managed).map((mode) => ({ value: mode, more: say(`mode.${mode}`) }));
  const apply = (mode: ApprovalMode): void => {
    session.approvalMode = mode;
    if (prompt !== "") void desk.work.submit(prompt);
  };
  chooseWord(desk, word, { title: say("mode.title"), choices, current: session.approvalMode, chosen: apply });
}

function changeTheme(desk: CommandDesk, word: string): void {
  const choices = THEMES.map((name) => ({ value: name, more: say(`theme.${name}`) }));
  const before = desk.view.theme;
  const previewTheme = (theme: string): void => {
    desk.view.theme = THEMES.find((name) => name === theme) ?? before;
  };
  const apply = (theme: ThemeName): void => {
    previewTheme(theme);
    void desk.storeSetting(["ui", "theme"], theme);
  };
  const preview = (_theme: string, width: number) => drawThemeSample(width);
  const restoreTheme = (): void => previewTheme(before);
  const shown = { title: say("theme.title"), choices, current: before };
  chooseWord(desk, word, { ...shown, chosen: apply, moved: previewTheme, none: restoreTheme, preview });
}

/** Shows a sample of everything that a theme colours. */
function drawThemeSample(width: number): Line[] {
  const diff = ["@@ -1,2 +1,2 @@", " {", "-  total = sum(prices);", "+  total = round(sum(prices));"];
  const call: Line = [
    { text: "● ", style: "good" },
    { text: "pytest", style: "strong" },
    { text: "  12 passed", style: "dim" },
  ];
  const states: Line = [
    { text: "accent", style: "accent" },
    { text: " code", style: "code" },
    { text: " warning", style: "warning" },
    { text: " bad", style: "bad" },
  ];
  return [[], ...drawDiff(diff.join("\n"), width), call, states, []];
}

/** The levels of reasoning effort that most services know. */
const EFFORTS = ["off", "low", "medium", "high"] as const;

function changeEffort(desk: CommandDesk, word: string): void {
  const current = String(desk.settings?.model.reasoning ?? "");
  const choices = EFFORTS.map((value) => ({ value: value as string, more: say(`effort.${value}`) }));
  const apply = (effort: string): void => {
    desk.useEffort(effort);
    desk.note(say("effort.now", { effort }));
  };
  // Accept other words too: some services know more levels.
  if (/^[a-z]+$|^\d+$/i.test(word)) apply(word.toLowerCase());
  else chooseWord(desk, word, { title: say("effort.title"), choices, current, chosen: apply });
}

function changeLanguage(desk: CommandDesk, word: string): void {
  const choices = Object.entries(LANGUAGES).map(([value, label]) => ({ value, label, more: value }));
  const applyLanguage = (value: string): void =>
    void desk.useLanguage(value).then(() => desk.storeSetting(["ui", "language"], value));
  chooseWord(desk, word, {
    title: say("language.title"),
    choices,
    current: currentLanguage(),
    chosen: applyLanguage,
  });
}

async function resume(desk: CommandDesk, id: string): Promise<void> {
  const resumeSession = (chosen: string): void =>
    void switchSession(desk, { kind: "resume", id: chosen, isFork: false });
  if (id !== "") return void resumeSession(id);
  const { home, root } = resolveSessionLocation(desk.options);
  const sessions = (await listSessionSummaries(home, root)).filter((one) => one.id !== desk.session?.id);
  const choices = sessions.map(({ id: value, name, prompt, changed, holder }) => ({
    value,
    label: formatTitle(name ?? readPromptWords(prompt ?? "")),
    more: `${formatTimeAgo(changed)}${holder === null ? "" : ` · ${say("resume.inUse")}`}`,
  }));
  const known = new Map<string, readonly (readonly [TextKey, string])[]>();
  const preview = (chosen: string, width: number): Line[] => {
    const one = sessions.find((session) => session.id === chosen);
    if (one === undefined) return [];
    const rows = known.get(chosen) ?? previewSession(one.path);
    known.set(chosen, rows);
    return [[], ...drawPreview(rows, width), []];
  };
  if (choices.length === 0) desk.note(say("resume.none"));
  else openChoicePanel(desk, { title: say("resume.title"), choices, chosen: resumeSession, preview });
}

async function fork(desk: CommandDesk): Promise<void> {
  const id = desk.session?.id;
  if (id === undefined || desk.session?.history.length === 0) desk.note(say("session.none"));
  else {
    await switchSession(desk, { kind: "resume", id, isFork: true });
    announceCopy(desk, id);
  }
}

export function announceCopy(desk: CommandDesk, id: string): void {
  if (desk.session?.id !== id) desk.note(say("fork.done", { id }));
}

async function clear(desk: CommandDesk): Promise<void> {
  await switchSession(desk, { kind: "new" });
  desk.clearScreen();
}

/** The id of a change, as `burin undo --list` and notices print it. */
const CHANGE_ID = /^[0-9a-z]{9}00-[0-9a-f]{6}$/;

async function undoLast(desk: CommandDesk, words: string): Promise<void> {
  if (CHANGE_ID.test(words)) return undoOrRedo(desk, { call: words });
  if (words !== "" && !/^[1-9]\d{0,4}$/.test(words))
    return void desk.note(say("undo.count", { word: words }), true);
  await undoOrRedo(desk, { count: words === "" ? 1 : Number(words) });
}

export async function undoOrRedo(
  desk: CommandDesk,
  which: Pick<UndoOptions, "call" | "count" | "redo" | "afterTurn">,
): Promise<void> {
  const place = resolveSessionLocation(desk.options);
  const only = desk.session?.id ?? (await resolveUndoScope(place));
  const { files, elsewhere, unrecorded } = await undo({ ...place, ...which, ...(only ? { only } : {}) });
  if (unrecorded !== undefined) desk.note(say("command.failed", { name: "undo", why: unrecorded }), true);
  if (files.length === 0) desk.note(say(which.redo ? "redo.nothing" : "undo.nothing"));
  if (files.length === 0 && !which.redo && elsewhere !== undefined)
    desk.note(say("undo.elsewhere", { files: elsewhere.files.join(", "), id: elsewhere.writer }));
  const named = files.filter(({ what }, index) => what === "refused" || index < MAX_NAMED);
  for (const { file, what, reason } of named) {
    if (what === "refused") desk.note(say("undo.refused", { file, reason: reason ?? "" }), true);
    else if (what === "unchanged") desk.note(say("undo.unchanged", { file }));
    else desk.note(say(which.redo ? "redo.done" : "undo.done", { file }));
  }
  if (named.length < files.length) desk.note(say("undo.more", { count: files.length - named.length }));
}

async function compact(desk: CommandDesk, wish: string): Promise<void> {
  if (desk.session === null || desk.session.history.length === 0) desk.note(say("session.none"));
  else await desk.work.compact(wish);
}

async function addFolder(desk: CommandDesk, words: string): Promise<void> {
  const { session } = desk;
  if (session === null) desk.note(say("session.none"));
  else if (words === "") desk.note(say("addDir.which"));
  else {
    try {
      desk.note(say("addDir.done", { folder: formatText(await session.openFolder(words)) }));
    } catch (error) {
      desk.note(say("command.failed", { name: "add-dir", why: describeError(error) }), true);
    }
  }
}

function rename(desk: CommandDesk, words: string): void {
  const { session, buffer, transcript } = desk;
  if (session === null || session.history.length === 0) desk.note(say("session.none"));
  else if (words === "") buffer.set(`/rename ${transcript.name}`);
  else {
    session.note({ type: "name", name: formatTitle(words) });
    desk.note(say("rename.done", { name: formatTitle(words) }));
  }
}

/** Larger logs get no preview: reading one would delay the key that selected it. */
const MAX_PREVIEW_BYTES = 8 * 1024 * 1024;

/** Summarises a session: its first and last words, its number of prompts, and whether it ended normally. */
function previewSession(path: string): (readonly [TextKey, string])[] {
  if (statSync(path).size > MAX_PREVIEW_BYTES) return [];
  const prompts: string[] = [];
  let said = "";
  let isOpen = false;
  for (const { event } of readLog(path)) {
    if (event.type === "done") isOpen = false;
    if (event.type !== "text") continue;
    if (event.role === "user") {
      prompts.push(readPromptWords(event.text));
      isOpen = true;
    }
    said = event.role === "user" ? "" : said + event.text;
  }
  const last = prompts.length > 1 ? (prompts.at(-1) ?? "") : "";
  const end = isOpen ? say("resume.cutOff") : said.trim();
  const rows = [
    ["resume.first", prompts[0] ?? ""],
    ["resume.last", last],
    ["resume.answer", end],
  ] as const;
  return rows.filter(([, text]) => text !== "");
}

function drawPreview(rows: readonly (readonly [TextKey, string])[], width: number): Line[] {
  const column = Math.max(0, ...rows.map(([key]) => measureWidth(say(key))));
  return rows.map(([key, text]) => {
    const gap = " ".repeat(column - measureWidth(say(key)));
    const words = formatText(text.replace(/\s+/g, " "));
    return cutLine([{ text: `  ${say(key)}${gap}  `, style: "dim" }, { text: words }], width);
  });
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;

/** Formats a time as "2 hours ago" in the user's language, or as a date if it is more than 30 days ago. */
function formatTimeAgo(time: number): string {
  const past = Math.max(Date.now() - time, 0);
  if (past > 30 * 86_400_000)
    return new Date(time).toLocaleDateString(currentLanguage(), { dateStyle: "medium" });
  const [unit, size] = UNITS.find(([, each]) => past >= each) ?? ["second", 1000];
  return new Intl.RelativeTimeFormat(currentLanguage(), { numeric: "auto" }).format(
    -Math.floor(past / size),
    unit,
  );
}

export function formatTitle(text: string): string {
  return formatText(shortenLine(text, LONGEST_TITLE));
}
