import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import type { JsonSchema } from "@burin/core";
import {
  changeHomeFile,
  changeSettings,
  describeError,
  loadSettings,
  lockPath,
  makeFolders,
  resolveBurinHome,
} from "@burin/core/internal";
import type { Io, SubcommandRequest } from "../../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../../terminal/exit-code.ts";
import { formatBlock, formatNote, joinLines, type Output, printFindings } from "../../terminal/output.ts";
import { resolveSource, type Source, withPluginFolder } from "./fetch-plugin.ts";
import { type Fields, type Plugin, readJson, readPlugin } from "./read-plugin.ts";

/** The record of an installed plugin, for updating and removing it. */
interface InstalledPlugin extends Omit<Plugin, "description" | "root" | "servers" | "left" | "files"> {
  readonly source: Source;
  readonly servers: readonly string[];
}

const RECORD = "installed.json";
const LIST: JsonSchema = { type: "array" };
const INSTALLED: JsonSchema = {
  type: "object",
  required: ["name", "version", "source", "skills", "commands", "servers"],
  properties: { skills: LIST, commands: LIST, servers: LIST, hooks: LIST },
};
const NONE = "No plugins installed. See burin help plugins.";
const USAGE =
  "write burin plugins list, add <folder|url|site|marketplace> [name], update [name], or remove <name>.";

/** Shows what a plugin adds and would run, and installs it on request. Also lists, updates and removes plugins. */
export async function run(
  { words, subcommandOptions, options }: SubcommandRequest,
  { output }: Io,
): Promise<ExitCode> {
  const [action = "list", first, second, tooMuch] = words;
  const ground = { home: resolveBurinHome(process.env), isApplied: subcommandOptions.apply === true, output };
  if (tooMuch !== undefined) throw new UsageError(`burin plugins ${action} takes no "${tooMuch}".`);
  if (action === "add" && first !== undefined)
    await previewOrInstall(resolveSource([first, second]), null, ground);
  else if (second !== undefined) throw new UsageError(USAGE);
  else if (action === "list" && first === undefined) printInstalled(ground, options.outputFormat);
  else if (action === "update") return update(first, ground);
  else if (action === "remove" && first !== undefined) await remove(first, ground);
  else throw new UsageError(USAGE);
  return EXIT.done;
}

interface PluginContext {
  readonly home: string;
  readonly isApplied: boolean;
  readonly output: Output;
}

function listInstalled(home: string): InstalledPlugin[] {
  const folder = join(home, "plugins");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const written = readJson(join(folder, name, RECORD), INSTALLED);
    return written === null ? [] : [{ hooks: [], fingerprint: "", ...written } as unknown as InstalledPlugin];
  });
}

function findInstalled(name: string, { home }: PluginContext): InstalledPlugin {
  const found = listInstalled(home).find((one) => one.name === name);
  if (found === undefined) throw new UsageError(`there is no plugin "${name}". See burin plugins list.`);
  return found;
}

function printInstalled({ home, output }: PluginContext, format: string): void {
  const all = listInstalled(home);
  const rows = all.map((one) => {
    const { skills, commands, servers, hooks, source } = one;
    const parts = [...skills, ...commands, ...servers, ...hooks.map((_, at) => `hook ${at + 1}`)];
    return `${formatTitle(one)}  ${parts.join(", ")}  (${[source].flat().join(" ")})`;
  });
  printFindings(output, format, { document: all, rows: all.length === 0 ? [NONE] : rows });
}

/** Fetches each plugin from its source, shows what is new, and installs it on request. */
async function update(name: string | undefined, ground: PluginContext): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  const all = name === undefined ? listInstalled(ground.home) : [findInstalled(name, ground)];
  if (all.length === 0) ground.output.out(joinLines(NONE));
  for (const before of all) {
    try {
      await previewOrInstall([before.source].flat() as unknown as Source, before, ground);
    } catch (error) {
      if (!(error instanceof UsageError) || name !== undefined) throw error;
      ground.output.note(formatNote(`${before.name}: ${error.message}`));
      code = EXIT.failed;
    }
  }
  return code;
}

/** Shows what a plugin adds, or what is new in an installed one, and installs it on request. */
async function previewOrInstall(
  source: Source,
  before: InstalledPlugin | null,
  ground: PluginContext,
): Promise<void> {
  const { home, isApplied, output } = ground;
  const printText = (text: string) => output.out(joinLines(text));
  await withPluginFolder(source, async (folder, left) => {
    const plugin = toSettings(await readPlugin(folder, left), home);
    if (before !== null) {
      if (plugin.name !== before.name)
        throw new UsageError(`the source of ${before.name} now has another plugin: ${plugin.name}.`);
      if (plugin.fingerprint === before.fingerprint)
        return printText(`${formatTitle(before)}: nothing is new.`);
      printText(`Instead of ${formatTitle(before)} (files ${before.fingerprint}):`);
    }
    output.out(joinLines(...describePlugin(plugin)));
    // Look again under the lock: the plugin may have been updated or removed in the meantime.
    const findCurrent = () => (before === null ? null : findInstalled(before.name, ground));
    const installPlugin = () => install({ plugin, source, before: findCurrent(), isApplied }, home);
    await (isApplied ? withPluginLock(home, installPlugin) : installPlugin());
    const isNew = before === null;
    if (!isApplied)
      printText(
        `Nothing was ${isNew ? "installed. To install" : "changed. To update"} it: the same with --apply`,
      );
    else
      printText(isNew ? `Installed. To take it away again: burin plugins remove ${plugin.name}` : "Updated.");
  });
}

function formatTitle({ name, version }: Pick<Plugin, "name" | "version">): string {
  return `${name} ${version}`.trim();
}

function describePlugin(plugin: Plugin): string[] {
  const { description, skills, commands, hooks, left, fingerprint } = plugin;
  const run = hooks.map(({ event, tools, command }) => {
    const when = tools === undefined ? event : `${event} of ${[tools].flat().join(", ")}`;
    return `${when}: ${command}`;
  });
  const prompts = commands.map((one) => `/${one}`);
  return [
    `${formatTitle(plugin)}${description === "" ? "" : `: ${description}`} (files ${fingerprint})`,
    ...formatBlock("Starts with each session, as MCP servers whose tools ask", listStartedCommands(plugin)),
    ...formatBlock("Runs at these events without asking, and may allow, change or refuse calls", run),
    ...formatBlock("Tells the model of its skills", skills),
    ...formatBlock("Offers its commands", prompts),
    ...formatBlock("Left", left),
  ];
}

interface Installing {
  readonly plugin: Plugin;
  readonly source: Source;
  /** The installed version that this one replaces; null if there is none. */
  readonly before: InstalledPlugin | null;
  readonly isApplied: boolean;
}

/** Returns what a plugin adds to the user's folders: each path, and how to name it. */
function listPaths({ skills, commands }: Pick<Plugin, "skills" | "commands">): Map<string, string> {
  return new Map([
    ...skills.map((name) => [join("skills", name), `the skill ${name}`] as const),
    ...commands.map((name) => [join("commands", `${name}.md`), `the command /${name}`] as const),
  ]);
}

/** Installs everything or nothing. Finds conflicts with existing files before writing anything. */
async function install({ plugin, source, before, isApplied }: Installing, home: string): Promise<void> {
  const { name, version, skills, commands, servers, hooks, fingerprint } = plugin;
  const place = join(home, "plugins", name);
  const { settings: present } = await loadSettings({ home, root: home });
  const aliases = Object.keys(servers);
  const added = listPaths(plugin);
  const own = before === null ? new Map() : listPaths(before);
  const taken = [
    ...(before === null && existsSync(place) ? [`the plugin ${name} (burin plugins remove ${name})`] : []),
    ...[...added].flatMap(([path, called]) => (!own.has(path) && existsSync(join(home, path)) ? called : [])),
    ...aliases
      .filter((one) => present.mcpServers[one] && before?.servers.includes(one) !== true)
      .map((one) => `the MCP server ${one}`),
  ];
  if (taken.length > 0)
    throw new UsageError(`nothing was installed, because you have ${taken.join(", ")} already.`);
  if (!isApplied) return;
  if (before !== null) await removePlugin(before, home);
  const record: InstalledPlugin = {
    name,
    version,
    source,
    fingerprint,
    skills,
    commands,
    servers: aliases,
    hooks,
  };
  try {
    makeFolders(join(place, "data"));
    // Until everything is written, keep an empty fingerprint, so that the next update installs it again.
    await writeRecord(place, { ...record, fingerprint: "" });
    const used = [...added.keys()];
    for (const [path, { bytes, mode }] of plugin.files) {
      const isUsed = used.some((one) => path === one || path.startsWith(join(one, sep)));
      for (const to of [join(place, "files", path), ...(isUsed ? [join(home, path)] : [])]) {
        makeFolders(dirname(to));
        writeFileSync(to, bytes, { mode });
      }
    }
    for (const [alias, definition] of Object.entries(servers))
      await changeUserSetting(home, ["mcpServers", alias], definition);
    if (hooks.length > 0) await changeHooks(home, (all) => [...all, ...hooks]);
    await writeRecord(place, record);
  } catch (error) {
    await removePlugin(record, home);
    if (before === null) rmSync(place, { recursive: true, force: true });
    throw new UsageError(`${name} could not be written, and nothing of it was kept: ${describeError(error)}`);
  }
}

function writeRecord(place: string, record: InstalledPlugin): Promise<void> {
  return changeHomeFile(join(place, RECORD), () => `${JSON.stringify(record, null, 2)}\n`);
}

async function changeHooks(home: string, change: (all: readonly object[]) => object[]): Promise<void> {
  const { settings } = await loadSettings({ home, root: home });
  const after = change(settings.hooks);
  await changeUserSetting(home, ["hooks"], after.length === 0 ? undefined : after);
}

function changeUserSetting(home: string, path: readonly string[], value: unknown): Promise<void> {
  return changeSettings(join(home, "settings.json"), path, value);
}

async function remove(name: string, ground: PluginContext): Promise<void> {
  await withPluginLock(ground.home, async () => {
    await removePlugin(findInstalled(name, ground), ground.home);
    rmSync(join(ground.home, "plugins", name), { recursive: true });
  });
  ground.output.out(joinLines(`Removed ${name}.`));
}

/** Takes the lock that lets only one process at a time install, update or remove plugins. */
function withPluginLock(home: string, work: () => Promise<void>): Promise<void> {
  return lockPath(join(home, "plugins"), work);
}

/** Removes all but the data that the plugin itself has written. Removes files first: the disk may be full. */
async function removePlugin(plugin: InstalledPlugin, home: string): Promise<void> {
  for (const path of [...listPaths(plugin).keys(), join("plugins", plugin.name, "files")])
    rmSync(join(home, path), { recursive: true, force: true });
  const { settings } = await loadSettings({ home, root: home });
  for (const alias of plugin.servers.filter((one) => settings.mcpServers[one] !== undefined))
    await changeUserSetting(home, ["mcpServers", alias], undefined);
  const ownHooks = new Set(plugin.hooks.map((hook) => JSON.stringify(hook)));
  if (ownHooks.size > 0)
    await changeHooks(home, (all) => all.filter((hook) => !ownHooks.has(JSON.stringify(hook))));
}

/**
 * Stands for a literal `$` in a plugin's files. Plugins get none of the user's variables, so text that looks like a
 * variable stays as written.
 */
const DOLLAR = `\${BURIN_DOLLAR:-$}`;

/** Returns the plugin's servers and hooks as settings, with the paths of its files and data once installed. */
function toSettings(plugin: Plugin, home: string): Plugin {
  const { name, servers, hooks } = plugin;
  const place = join(home, "plugins", name);
  const places = { PLUGIN_ROOT: join(place, "files"), PLUGIN_DATA: join(place, "data") };
  const own = Object.entries(servers).map(([alias, server]) => {
    const ownName = `${name}-${alias}`.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 30);
    return [
      ownName,
      server.type === "stdio" ? convertLocalServer(server, places) : convertRemoteServer(server),
    ] as const;
  });
  const set = Object.entries(places).map(([key, path]) => `${key}=${quotePath(path)}`);
  const ownHooks = hooks.map((hook) => ({ ...hook, command: `export ${set.join(" ")}; ${hook.command}` }));
  return { ...plugin, servers: Object.fromEntries(own), hooks: ownHooks };
}

type Places = Readonly<Record<"PLUGIN_ROOT" | "PLUGIN_DATA", string>>;

function convertLocalServer({ command, args = [], env = {}, cwd = "./" }: Fields, places: Places): Fields {
  const expandPaths = (text: string) =>
    escapeVariables(text.replace(/\$\{(PLUGIN_(?:ROOT|DATA))\}/g, (_, which: keyof Places) => places[which]));
  const resolveInPlugin = (path: string) => (path.startsWith("./") ? join(places.PLUGIN_ROOT, path) : path);
  return {
    command: resolveInPlugin(String(command)),
    args: (args as string[]).map(expandPaths),
    env: { ...mapTexts(env, expandPaths), ...places },
    cwd: resolveInPlugin(expandPaths(String(cwd))),
  };
}

function convertRemoteServer({ type, url, headers }: Fields): Fields {
  const named = headers === undefined ? {} : { headers: mapTexts(headers, escapeVariables) };
  return { type: type === "sse" ? "sse" : "http", url: escapeVariables(String(url)), ...named };
}

function mapTexts(texts: unknown, change: (text: string) => string): Fields {
  return Object.fromEntries(
    Object.entries(texts as Fields).map(([key, text]) => [key, change(String(text))]),
  );
}

function escapeVariables(text: string): string {
  return text.replace(/\$(?=[A-Za-z_{])/g, () => DOLLAR);
}

function quotePath(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Describes what will start automatically once the plugin is installed. */
function listStartedCommands({ servers }: Plugin): string[] {
  return Object.entries(servers).map(([alias, { command, args, url, cwd }]) => {
    const words = Array.isArray(args) ? args.map((one) => JSON.stringify(one)) : [];
    const what = url === undefined ? `${[command, ...words].join(" ")}, in ${cwd}` : url;
    return `${alias}: ${what}`.replaceAll(DOLLAR, "$");
  });
}
