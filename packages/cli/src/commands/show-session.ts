import { join } from "node:path";
import { burinHome, contextFileNames, openGrants, orElse, readText } from "@burin/core/internal";
import type { Message } from "@burin/core/sessions";
import type { TextKey } from "../locales/en.ts";
import { grouped, say } from "../locales/say.ts";
import { EXAMPLE } from "../state/key-bindings.ts";
import { widthOf } from "../terminal/cell-width.ts";
import { lines } from "../terminal/output.ts";
import { type Line, linesOf, lineWidth, shownText, wrapLine } from "../terminal/styled-line.ts";
import { duration } from "../ui/displays/call-lines.ts";
import { ACTION_TEXTS, keyList } from "../ui/key-list.ts";
import { textPanel } from "../ui/panel.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";

/** The approximate length of a token in a request. */
const CHARACTERS_PER_TOKEN = 4;
const MOST_BYTES = 1024 * 1024;

export function showCommands(all: () => readonly ScreenCommand[]): ScreenCommand[] {
  const showTable = (name: string, rowsOf: (desk: CommandDesk) => TableRow[]): ScreenCommand => ({
    name,
    isQuiet: true,
    run: (desk) => desk.print((width) => table(rowsOf(desk), width)),
  });
  const showText = (
    name: string,
    textOf: (desk: CommandDesk) => string | Promise<string>,
  ): ScreenCommand => ({ name, isQuiet: true, run: async (desk) => printText(desk, await textOf(desk)) });
  return [
    { name: "help", isQuiet: true, opensPanel: true, run: (desk) => showHelp(desk, all()) },
    { name: "keys", isQuiet: true, opensPanel: true, run: showKeys },
    showTable("cost", costRows),
    showTable("context", contextRows),
    showTable("tools", toolRows),
    showText("mcp", (desk) => desk.outputOf("mcp", ["list"])),
    {
      name: "permissions",
      words: "[revoke …]",
      isQuiet: true,
      run: async (desk, words) => printText(desk, await permissionsText(desk, words)),
    },
    showText("trust", (desk) => desk.outputOf("trust", [])),
    showText("doctor", (desk) => desk.outputOf("doctor", [])),
    showText("memory", memoryText),
    showText("hooks", hooksText),
    showText("settings", settingsText),
  ];
}

type TableRow = readonly [left: string, right: string];

/** The share of the window that the left column may take. */
const MOST_LEFT = 0.4;
const LEAST_LEFT = 16;

/**
 * Two columns, in which long texts are wrapped; in a narrow window one below the other. Names of tools are in it, also
 * such as only a model made up, so that each text is made safe to show.
 */
function table(all: readonly TableRow[], width: number): Line[] {
  const rows = all.map(([left, right]): TableRow => [shownText(left), shownText(right)]);
  const longest = Math.max(0, ...rows.map(([left]) => widthOf(left))) + 2;
  const column = Math.min(longest, Math.floor(width * MOST_LEFT));
  if (column < Math.min(longest, LEAST_LEFT)) {
    return rows.flatMap(([left, right]) => [
      ...wrapLine([{ text: left, style: "accent" }], width),
      ...wrapLine([{ text: `  ${right}` }], width, "  "),
    ]);
  }
  return rows.flatMap(([left, right]) => {
    const names = wrapLine([{ text: left, style: "accent" }], column - 2);
    const texts = wrapLine([{ text: right }], width - column);
    return Array.from({ length: Math.max(names.length, texts.length) }, (_, index): Line => {
      const [name = [], text = []] = [names[index], texts[index]];
      const gap = text.length === 0 ? 0 : column - lineWidth(name);
      return [...name, { text: " ".repeat(gap) }, ...text];
    });
  });
}

function showHelp(desk: CommandDesk, commands: readonly ScreenCommand[]): void {
  const rows = commands.map((command): TableRow => [labelOf(command), describe(command.name)]);
  const lines = (width: number): Line[] => [
    ...section("help.commands", rows, width),
    [],
    ...keyLines(desk, width, true),
  ];
  showPage(desk, say("help.title"), lines);
}

function showKeys(desk: CommandDesk): void {
  showPage(desk, say("help.keys"), (width) => keyLines(desk, width, false));
}

/** Something to read that closes and leaves nothing behind. */
function showPage(desk: CommandDesk, title: string, lines: (width: number) => readonly Line[]): void {
  desk.show(textPanel({ title, lines, from: "top", close: () => desk.show(null) }));
}

function section(heading: TextKey, rows: readonly TableRow[], width: number): Line[] {
  return [[{ text: say(heading), style: "heading" }], ...table(rows, width)];
}

/** The keys, the user's own first. */
function keyLines({ keys }: CommandDesk, width: number, hasHeading: boolean): Line[] {
  const own = [...keys.own].map(
    ([key, use]): TableRow => [key, use === null ? say("keys.off") : useInWords(use)],
  );
  const usual = keyList((action) => keys.keysOf(action)).map(([names, text]): TableRow => [names, say(text)]);
  const file = join(burinHome(process.env), "keybindings.json");
  return [
    ...(own.length === 0 ? [] : [...section("keys.own", own, width), []]),
    ...(hasHeading || own.length > 0 ? section("help.keys", usual, width) : table(usual, width)),
    [],
    ...wrapLine([{ text: say("keys.file", { file, example: EXAMPLE }), style: "dim" }], width),
  ];
}

function useInWords(use: string): string {
  if (Object.hasOwn(ACTION_TEXTS, use)) return say(ACTION_TEXTS[use as keyof typeof ACTION_TEXTS]);
  return `${use}  ${describe(/^\/(\S+)/.exec(use)?.[1] ?? "")}`;
}

/** A command with the words that may follow it. */
export function labelOf({ name, words }: ScreenCommand): string {
  return `/${name}${words === undefined ? "" : ` ${words}`}`;
}

/** What a command does, in the user's language. */
export function describe(name: string): string {
  return say(`command.${name}` as Parameters<typeof say>[0]);
}

function costRows({ transcript, work }: CommandDesk): TableRow[] {
  const { inputTokens, outputTokens, cachedTokens, cacheMisses, calls, money } = transcript.spent;
  const missed = cacheMisses.map(
    ({ tokens, reason }): TableRow => [
      say("cost.missed"),
      say(`cost.missed_${reason}`, { count: grouped(tokens) }),
    ],
  );
  return [
    [say("cost.sent"), say("cost.cached", { count: grouped(inputTokens), cached: grouped(cachedTokens) })],
    ...missed,
    [say("cost.received"), grouped(outputTokens)],
    [say("cost.calls"), grouped(calls)],
    [say("cost.time"), duration(work.milliseconds)],
    ...(money > 0 ? [[say("cost.money"), `$${money.toFixed(4)}`] as const] : []),
  ];
}

/** An estimate of what fills the window. */
function contextRows({ session }: CommandDesk): TableRow[] {
  const sizes = new Map<string, number>();
  for (const message of session?.history ?? []) {
    for (const [what, size] of sizesIn(message)) sizes.set(what, (sizes.get(what) ?? 0) + size);
  }
  const tokens = (size: number): string =>
    say("context.tokens", { count: grouped(Math.ceil(size / CHARACTERS_PER_TOKEN)) });
  const known = [...sizes]
    .sort(([, one], [, other]) => other - one)
    .map(([what, size]): TableRow => [what, tokens(size)]);
  const declared = (session?.registry.getAllTools() ?? []).reduce(
    (sum, { description, parameterSchema }) =>
      sum + description.length + JSON.stringify(parameterSchema).length,
    0,
  );
  const { tokens: next, window } = session?.contextFill ?? { tokens: 0, window: 0 };
  const all: TableRow[] =
    session === null
      ? []
      : [[say("context.next"), say("context.of", { count: grouped(next), window: grouped(window) })]];
  return [...all, [say("context.tools"), tokens(declared)], ...known];
}

function sizesIn({ role, parts }: Message): [string, number][] {
  return parts.map((part): [string, number] => {
    if (part.functionResponse !== undefined) {
      return [
        say("context.answers", { tool: part.functionResponse.name ?? "" }),
        JSON.stringify(part.functionResponse).length,
      ];
    }
    if (part.functionCall !== undefined)
      return [say("context.calls"), JSON.stringify(part.functionCall).length];
    return [say(role === "user" ? "context.yours" : "context.model"), part.text?.length ?? 0];
  });
}

/** What `burin grants` prints, with what was allowed for this session behind it; `revoke` takes back either. */
async function permissionsText(desk: CommandDesk, words: string): Promise<string> {
  const [, chosen] = /^\s*revoke\s+(.*\S)\s*$/s.exec(words) ?? [];
  const own = desk.session?.grants;
  const rules = own?.rules ?? [];
  const stored = (await (await openGrants(burinHome(process.env))).all()).length;
  if (chosen === undefined) {
    const listed = desk.outputOf("grants", words.trim() === "" ? [] : [words.trim()]);
    if (rules.length === 0) return listed;
    const rows = rules.map(
      (rule, index) => `${String(stored + index + 1).padStart(3)}  ${say("grants.session", { rule })}`,
    );
    return `${stored === 0 ? "" : await listed}${lines(...rows)}`;
  }
  const rule = /^\d+$/.test(chosen) ? rules[Number(chosen) - stored - 1] : chosen;
  if (rule !== undefined && own?.revoke(rule)) return say("grants.revoked", { rule });
  return desk.outputOf("grants", ["revoke", chosen]);
}

function printText(desk: CommandDesk, text: string): void {
  const clean = text.trim() === "" ? say("show.nothing") : text.trimEnd();
  desk.print((width) => linesOf(clean).flatMap((line) => wrapLine(line, width, "  ")));
}

function toolRows({ session }: CommandDesk): TableRow[] {
  const tools = session?.registry.getAllTools() ?? [];
  return tools.map(({ name, description, missing }) => [
    name,
    missing ?? description.split(/(?<=\.)\s/)[0] ?? "",
  ]);
}

function memoryText({ options, settings }: CommandDesk): string {
  const named = settings?.context.fileNames ?? [];
  const files = [burinHome(process.env), options.root].flatMap((folder) =>
    contextFileNames(named, folder).map((name) => join(folder, name)),
  );
  const found = files.flatMap((file) => {
    const text = orElse(null, () => readText(file, MOST_BYTES));
    return text === null ? [] : [`${file}\n${text.trimEnd()}`];
  });
  return found.length === 0 ? say("memory.none", { files: files.join(", ") }) : found.join("\n\n");
}

function hooksText({ settings }: CommandDesk): string {
  const rows = (settings?.hooks ?? []).map(
    ({ event, command, tools }) =>
      `${event}  ${command}${tools === undefined ? "" : `  (${[tools].flat().join(", ")})`}`,
  );
  return rows.length === 0 ? say("hooks.none") : lines(...rows);
}

function settingsText({ settings }: CommandDesk): string {
  const file = join(burinHome(process.env), "settings.json");
  return `${say("settings.file", { file })}\n${JSON.stringify(settings, null, 2)}`;
}
