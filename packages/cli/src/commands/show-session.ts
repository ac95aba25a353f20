import { join } from "node:path";
import {
  openGrants,
  readText,
  resolveBurinHome,
  resolveContextFileNames,
  withFallback,
} from "@burin/core/internal";
import type { Message } from "@burin/core/sessions";
import type { TextKey } from "../locales/en.ts";
import { formatNumber, say } from "../locales/say.ts";
import { EXAMPLE } from "../state/key-bindings.ts";
import { measureWidth } from "../terminal/cell-width.ts";
import { joinLines } from "../terminal/output.ts";
import { formatText, type Line, measureLine, splitLines, wrapLine } from "../terminal/styled-line.ts";
import { formatDuration } from "../ui/displays/call-lines.ts";
import { ACTION_TEXTS, buildKeyList } from "../ui/key-list.ts";
import { createTextPanel } from "../ui/panel.ts";
import { showSettings } from "./change-settings.ts";
import type { CommandDesk, ScreenCommand } from "./command-desk.ts";

/** The approximate number of characters in a token. */
const CHARACTERS_PER_TOKEN = 4;
const MAX_BYTES = 1024 * 1024;

export function createShowCommands(all: () => readonly ScreenCommand[]): ScreenCommand[] {
  const showTable = (name: string, rowsOf: (desk: CommandDesk) => TableRow[]): ScreenCommand => ({
    name,
    isQuiet: true,
    run: (desk) => desk.print((width) => formatTable(rowsOf(desk), width)),
  });
  const showText = (
    name: string,
    textOf: (desk: CommandDesk) => string | Promise<string>,
  ): ScreenCommand => ({ name, isQuiet: true, run: async (desk) => printText(desk, await textOf(desk)) });
  return [
    { name: "help", isQuiet: true, opensPanel: true, run: (desk) => showHelp(desk, all()) },
    { name: "keys", isQuiet: true, opensPanel: true, run: showKeys },
    showTable("cost", buildCostRows),
    showTable("context", buildContextRows),
    showTable("tools", buildToolRows),
    showText("mcp", (desk) => desk.runForOutput("mcp", ["list"])),
    {
      name: "permissions",
      words: "[words]",
      isQuiet: true,
      run: async (desk, words) => printText(desk, await formatPermissions(desk, words)),
    },
    showText("trust", (desk) => desk.runForOutput("trust", [])),
    showText("doctor", (desk) => desk.runForOutput("doctor", [])),
    showText("memory", formatMemory),
    showText("hooks", formatHooks),
    {
      name: "settings",
      isQuiet: true,
      opensPanel: true,
      run: async (desk) => {
        // Another command, or another program, may have changed a file since the start.
        if (!desk.isDemo) await desk.applySettings([]);
        showSettings(desk);
      },
    },
  ];
}

type TableRow = readonly [left: string, right: string];

/** The largest share of the window's width for the left column. */
const MAX_LEFT = 0.4;
const MIN_LEFT = 16;

/**
 * Formats rows as two columns with wrapped texts; in a narrow window, puts the second column below the first. A row may
 * contain a tool name that a model made up, so every text is made safe to show.
 */
function formatTable(all: readonly TableRow[], width: number): Line[] {
  const rows = all.map(([left, right]): TableRow => [formatText(left), formatText(right)]);
  const longest = Math.max(0, ...rows.map(([left]) => measureWidth(left))) + 2;
  const column = Math.min(longest, Math.floor(width * MAX_LEFT));
  if (column < Math.min(longest, MIN_LEFT)) {
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
      const gap = text.length === 0 ? 0 : column - measureLine(name);
      return [...name, { text: " ".repeat(gap) }, ...text];
    });
  });
}

function showHelp(desk: CommandDesk, commands: readonly ScreenCommand[]): void {
  const rows = commands.map((command): TableRow => [formatLabel(command), describeCommand(command.name)]);
  const buildHelpLines = (width: number): Line[] => [
    ...formatSection("help.commands", rows, width),
    [],
    ...formatKeyLines(desk, width, true),
  ];
  showPage(desk, say("help.title"), buildHelpLines);
}

function showKeys(desk: CommandDesk): void {
  showPage(desk, say("help.keys"), (width) => formatKeyLines(desk, width, false));
}

/** Shows text in a panel that leaves nothing in the transcript when it closes. */
function showPage(desk: CommandDesk, title: string, lines: (width: number) => readonly Line[]): void {
  desk.show(createTextPanel({ title, lines, from: "top", close: () => desk.show(null) }));
}

function formatSection(heading: TextKey, rows: readonly TableRow[], width: number): Line[] {
  return [[{ text: say(heading), style: "heading" }], ...formatTable(rows, width)];
}

/** Lists the keys. The user's own bindings come first. */
function formatKeyLines({ keys }: CommandDesk, width: number, hasHeading: boolean): Line[] {
  const own = [...keys.own].map(
    ([key, use]): TableRow => [key, use === null ? say("keys.off") : describeKeyUse(use)],
  );
  const usual = buildKeyList((action) => keys.listKeys(action)).map(
    ([names, text]): TableRow => [names, say(text)],
  );
  const file = join(resolveBurinHome(process.env), "keybindings.json");
  return [
    ...(own.length === 0 ? [] : [...formatSection("keys.own", own, width), []]),
    ...(hasHeading || own.length > 0 ? formatSection("help.keys", usual, width) : formatTable(usual, width)),
    [],
    ...wrapLine([{ text: say("keys.file", { file, example: EXAMPLE }), style: "dim" }], width),
  ];
}

function describeKeyUse(use: string): string {
  if (Object.hasOwn(ACTION_TEXTS, use)) return say(ACTION_TEXTS[use as keyof typeof ACTION_TEXTS]);
  return `${use}  ${describeCommand(/^\/(\S+)/.exec(use)?.[1] ?? "")}`;
}

/** Formats a command with the words that may follow it. */
export function formatLabel({ name, words }: ScreenCommand): string {
  return `/${name}${words === undefined ? "" : ` ${words}`}`;
}

/** Returns the command's description in the user's language. */
export function describeCommand(name: string): string {
  return say(`command.${name}` as Parameters<typeof say>[0]);
}

function buildCostRows({ transcript, work }: CommandDesk): TableRow[] {
  const { inputTokens, outputTokens, cachedTokens, cacheMisses, calls, money } = transcript.spent;
  const missed = cacheMisses.map(
    ({ tokens, reason }): TableRow => [
      say("cost.missed"),
      say(`cost.missed_${reason}`, { count: formatNumber(tokens) }),
    ],
  );
  return [
    [
      say("cost.sent"),
      say("cost.cached", { count: formatNumber(inputTokens), cached: formatNumber(cachedTokens) }),
    ],
    ...missed,
    [say("cost.received"), formatNumber(outputTokens)],
    [say("cost.calls"), formatNumber(calls)],
    [say("cost.time"), formatDuration(work.milliseconds)],
    ...(money > 0 ? [[say("cost.money"), `$${money.toFixed(4)}`] as const] : []),
  ];
}

/** Estimates what fills the context window. */
function buildContextRows({ session }: CommandDesk): TableRow[] {
  const sizes = new Map<string, number>();
  for (const message of session?.history ?? []) {
    for (const [what, size] of measureParts(message)) sizes.set(what, (sizes.get(what) ?? 0) + size);
  }
  const formatTokenCount = (size: number): string =>
    say("context.tokens", { count: formatNumber(Math.ceil(size / CHARACTERS_PER_TOKEN)) });
  const known = [...sizes]
    .sort(([, one], [, other]) => other - one)
    .map(([what, size]): TableRow => [what, formatTokenCount(size)]);
  const declared = (session?.registry.getAllTools() ?? []).reduce(
    (sum, { description, parameterSchema }) =>
      sum + description.length + JSON.stringify(parameterSchema).length,
    0,
  );
  const { tokens: next, window } = session?.contextFill ?? { tokens: 0, window: 0 };
  const all: TableRow[] =
    session === null
      ? []
      : [
          [
            say("context.next"),
            say("context.of", { count: formatNumber(next), window: formatNumber(window) }),
          ],
        ];
  const counted = [declared, ...sizes.values()].reduce((sum, size) => sum + size, 0);
  const rest = next * CHARACTERS_PER_TOKEN - counted;
  const others: TableRow[] = rest > 0 ? [[say("context.rest"), formatTokenCount(rest)]] : [];
  return [...all, [say("context.tools"), formatTokenCount(declared)], ...others, ...known];
}

function measureParts({ role, parts }: Message): [string, number][] {
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

/** Shows what `burin grants` prints, followed by the grants of this session. `revoke` removes grants of both kinds. */
async function formatPermissions(desk: CommandDesk, words: string): Promise<string> {
  const [, chosen] = /^\s*revoke\s+(.*\S)\s*$/s.exec(words) ?? [];
  const own = desk.session?.grants;
  const rules = own?.rules ?? [];
  const stored = (await (await openGrants(resolveBurinHome(process.env))).readItems()).length;
  if (chosen === undefined) {
    const listed = desk.runForOutput("grants", words.trim() === "" ? [] : [words.trim()]);
    if (rules.length === 0) return listed;
    const rows = rules.map(
      (rule, index) => `${String(stored + index + 1).padStart(3)}  ${say("grants.session", { rule })}`,
    );
    return `${stored === 0 ? "" : await listed}${joinLines(...rows)}`;
  }
  const rule = /^\d+$/.test(chosen) ? rules[Number(chosen) - stored - 1] : chosen;
  if (rule !== undefined && own?.revoke(rule)) return say("grants.revoked", { rule });
  return desk.runForOutput("grants", ["revoke", chosen]);
}

function printText(desk: CommandDesk, text: string): void {
  const clean = text.trim() === "" ? say("show.nothing") : text.trimEnd();
  desk.print((width) => splitLines(clean).flatMap((line) => wrapLine(line, width, "  ")));
}

function buildToolRows({ session }: CommandDesk): TableRow[] {
  const tools = session?.registry.getAllTools() ?? [];
  return tools.map(({ name, description, missing }) => [
    name,
    missing ?? description.split(/(?<=\.)\s/)[0] ?? "",
  ]);
}

function formatMemory({ options, settings }: CommandDesk): string {
  const named = settings?.context.fileNames ?? [];
  const files = [resolveBurinHome(process.env), options.root].flatMap((folder) =>
    resolveContextFileNames(named, folder).map((name) => join(folder, name)),
  );
  const found = files.flatMap((file) => {
    const text = withFallback(null, () => readText(file, MAX_BYTES));
    return text === null ? [] : [`${file}\n${text.trimEnd()}`];
  });
  return found.length === 0 ? say("memory.none", { files: files.join(", ") }) : found.join("\n\n");
}

function formatHooks({ settings }: CommandDesk): string {
  const rows = (settings?.hooks ?? []).map(
    ({ event, command, tools }) =>
      `${event}  ${command}${tools === undefined ? "" : `  (${[tools].flat().join(", ")})`}`,
  );
  return rows.length === 0 ? say("hooks.none") : joinLines(...rows);
}
