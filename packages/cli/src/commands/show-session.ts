import { join } from "node:path";
import { burinHome, type Message, readText } from "@burin/core";
import { grouped, say } from "../locales/say.ts";
import { widthOf } from "../terminal/cell-width.ts";
import { lines } from "../terminal/output.ts";
import { type Line, linesOf, type Span, shownText, wrapLine } from "../terminal/styled-line.ts";
import { duration } from "../ui/displays/call-lines.ts";
import { KEY_LIST } from "../ui/key-list.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";

/** The approximate length of a token in a request. */
const CHARACTERS_PER_TOKEN = 4;
const MOST_BYTES = 1024 * 1024;

export function showCommands(all: () => readonly ScreenCommand[]): ScreenCommand[] {
  return [
    { name: "help", isQuiet: true, run: (desk) => desk.print((width) => helpLines(all(), width)) },
    { name: "keys", isQuiet: true, run: (desk) => desk.print((width) => table(keyRows(), width)) },
    { name: "cost", isQuiet: true, run: (desk) => desk.print((width) => table(costRows(desk), width)) },
    { name: "context", isQuiet: true, run: (desk) => desk.print((width) => table(contextRows(desk), width)) },
    { name: "tools", isQuiet: true, run: showTools },
    {
      name: "mcp",
      isQuiet: true,
      run: async (desk) => printText(desk, await desk.outputOf("mcp", ["list"])),
    },
    {
      name: "permissions",
      isQuiet: true,
      run: async (desk) => printText(desk, await desk.outputOf("grants", [])),
    },
    { name: "trust", isQuiet: true, run: async (desk) => printText(desk, await desk.outputOf("trust", [])) },
    {
      name: "doctor",
      isQuiet: true,
      run: async (desk) => printText(desk, await desk.outputOf("doctor", [])),
    },
    { name: "memory", isQuiet: true, run: showMemory },
    { name: "hooks", isQuiet: true, run: showHooks },
    { name: "settings", isQuiet: true, run: showSettings },
  ];
}

type TableRow = readonly [left: string, right: string];

/** Two columns; in a narrow window one below the other. */
function table(rows: readonly TableRow[], width: number): Line[] {
  const column = Math.max(...rows.map(([left]) => widthOf(left))) + 2;
  if (column > width / 2) {
    return rows.flatMap(([left, right]) => [
      ...wrapLine([{ text: left, style: "accent" }], width),
      ...wrapLine([{ text: `  ${right}` }], width, "  "),
    ]);
  }
  return rows.flatMap(([left, right]) => {
    const head: Span = { text: left + " ".repeat(column - widthOf(left)), style: "accent" };
    return wrapLine([{ text: right }], width - column).map(
      (line, index): Line => [index === 0 ? head : { text: " ".repeat(column) }, ...line],
    );
  });
}

function helpLines(commands: readonly ScreenCommand[], width: number): Line[] {
  const rows = commands.map(
    ({ name, words }): TableRow => [`/${name}${words === undefined ? "" : ` ${words}`}`, describe(name)],
  );
  const keys: Line[] = [[], [{ text: say("help.keys"), style: "heading" }], ...table(keyRows(), width)];
  return [[{ text: say("help.commands"), style: "heading" }], ...table(rows, width), ...keys];
}

/** What a command does, in the user's language. */
export function describe(name: string): string {
  return say(`command.${name}` as Parameters<typeof say>[0]);
}

function keyRows(): TableRow[] {
  return KEY_LIST.map(([keys, text]) => [keys, say(text)]);
}

function costRows({ transcript, milliseconds }: CommandDesk): TableRow[] {
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
    [say("cost.time"), duration(milliseconds)],
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

function printText(desk: CommandDesk, text: string): void {
  const clean = text.trim() === "" ? say("show.nothing") : text.trimEnd();
  desk.print((width) => linesOf(clean).flatMap((line) => wrapLine(line, width, "  ")));
}

function showTools(desk: CommandDesk): void {
  const tools = desk.session?.registry.getAllTools() ?? [];
  const rows = tools.map(
    ({ name, description, missing }): TableRow => [
      shownText(name),
      shownText(missing ?? description.split(/(?<=\.)\s/)[0] ?? ""),
    ],
  );
  desk.print((width) => table(rows, width));
}

function showMemory(desk: CommandDesk): void {
  const { options, settings } = desk;
  const names = settings?.context.fileNames.length ? settings.context.fileNames : ["AGENTS.md"];
  const files = [burinHome(process.env), options.root].flatMap((folder) =>
    names.map((name) => join(folder, name)),
  );
  const found = files.flatMap((file) => {
    const text = textOf(file);
    return text === null ? [] : [`${file}\n${text.trimEnd()}`];
  });
  printText(desk, found.length === 0 ? say("memory.none", { files: files.join(", ") }) : found.join("\n\n"));
}

function textOf(file: string): string | null {
  try {
    return readText(file, MOST_BYTES);
  } catch {
    return null;
  }
}

function showHooks(desk: CommandDesk): void {
  const hooks = desk.settings?.hooks ?? [];
  const rows = hooks.map(
    ({ event, command, tools }) =>
      `${event}  ${command}${tools === undefined ? "" : `  (${[tools].flat().join(", ")})`}`,
  );
  printText(desk, rows.length === 0 ? say("hooks.none") : lines(...rows));
}

function showSettings(desk: CommandDesk): void {
  const file = join(burinHome(process.env), "settings.json");
  printText(desk, `${say("settings.file", { file })}\n${JSON.stringify(desk.settings, null, 2)}`);
}
