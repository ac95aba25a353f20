import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { burinHome, changeSettings, loadSettings, readText } from "@burin/core";
import type { Io, SubcommandRequest } from "../../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../../terminal/exit-code.ts";
import { type Output, visible } from "../../terminal/output.ts";
import { placed, type Source, withPlugin } from "./fetch-plugin.ts";
import { describeSettings, type PluginSettings, settingsOf } from "./plugin-settings.ts";
import { filesOf, type Plugin, readPlugin } from "./read-plugin.ts";

/** What was installed, so that it can be renewed and taken away again. */
interface Installed {
  readonly name: string;
  readonly version: string;
  readonly source: Source;
  readonly fingerprint: string;
  readonly skills: readonly string[];
  readonly commands: readonly string[];
  readonly servers: readonly string[];
  readonly hooks: readonly object[];
}

const RECORD = "installed.json";
const MOST_BYTES = 1024 * 1024;
const USAGE =
  "write burin plugins list, add <folder|url|marketplace> [name], update [name], or remove <name>.";

/** Shows what a plugin brings and would run, installs it when told to, lists, renews and removes what is installed. */
export async function runPlugins(
  { words, own, options }: SubcommandRequest,
  { output }: Io,
): Promise<ExitCode> {
  const [action = "list", first, second, tooMuch] = words;
  const ground = { home: burinHome(process.env), isApplied: own.apply === true, output };
  if (tooMuch !== undefined) throw new UsageError(`burin plugins ${action} takes no "${tooMuch}".`);
  if (action === "add" && first !== undefined) await add([first, second], ground);
  else if (second !== undefined) throw new UsageError(USAGE);
  else if (action === "list" && first === undefined) list(ground, options.outputFormat === "text");
  else if (action === "update") return update(first, ground);
  else if (action === "remove" && first !== undefined) await remove(first, ground);
  else throw new UsageError(USAGE);
  return EXIT.done;
}

interface Ground {
  readonly home: string;
  readonly isApplied: boolean;
  readonly output: Output;
}

function installedIn(home: string): Installed[] {
  const folder = join(home, "plugins");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const text = readText(join(folder, name, RECORD), MOST_BYTES);
    const written = text === null ? null : (JSON.parse(text) as Partial<Installed>);
    return written === null ? [] : [{ hooks: [], fingerprint: "", ...written } as Installed];
  });
}

/** What is installed under that name. */
function named(name: string, { home }: Ground): Installed {
  const found = installedIn(home).find((one) => one.name === name);
  if (found === undefined) throw new UsageError(`there is no plugin "${name}". See burin plugins list.`);
  return found;
}

function list({ home, output }: Ground, isText: boolean): void {
  const all = installedIn(home);
  if (!isText) output.out(`${JSON.stringify(all, null, 2)}\n`);
  else if (all.length === 0) output.out("No plugins installed. See burin help plugins.\n");
  for (const { name, version, source, skills, commands, servers, hooks } of isText ? all : []) {
    const parts = [...skills, ...commands, ...servers, ...hooks.map((_, at) => `hook ${at + 1}`)];
    output.out(
      visible(`${`${name} ${version}`.trim()}  ${parts.join(", ")}  (${[source].flat().join(" ")})\n`),
    );
  }
}

async function add(given: Source, ground: Ground): Promise<void> {
  const { home, isApplied, output } = ground;
  const source = placed(given);
  await withPlugin(source, async (folder, left) => {
    const plugin = readable(folder, left);
    const settings = settingsOf(plugin, home);
    output.out(visible(described(plugin, settings)));
    if (isApplied) await install({ plugin, settings, source, before: null }, home);
    output.out(
      isApplied
        ? visible(`Installed. To take it away again: burin plugins remove ${plugin.name}\n`)
        : "Nothing was installed. To install it: the same with --apply\n",
    );
  });
}

/** Each plugin from where it came: what is new in it is shown, and installed when told to. */
async function update(name: string | undefined, ground: Ground): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  const all = name === undefined ? installedIn(ground.home) : [named(name, ground)];
  for (const before of all) {
    try {
      await renew(before, ground);
    } catch (error) {
      if (!(error instanceof UsageError) || name !== undefined) throw error;
      ground.output.note(visible(`burin: ${before.name}: ${error.message}`));
      code = EXIT.failed;
    }
  }
  return code;
}

async function renew(before: Installed, { home, isApplied, output }: Ground): Promise<void> {
  await withPlugin([before.source].flat() as unknown as Source, async (folder, left) => {
    const plugin = readable(folder, left);
    if (plugin.name !== before.name)
      throw new UsageError(`where ${before.name} came from, there is ${plugin.name} now.`);
    if (plugin.fingerprint === before.fingerprint) {
      output.out(visible(`${`${before.name} ${before.version}`.trim()}: nothing is new.\n`));
      return;
    }
    const settings = settingsOf(plugin, home);
    const { version, fingerprint } = before;
    output.out(visible(`Instead of ${`${before.name} ${version}`.trim()} (files ${fingerprint}):\n`));
    output.out(visible(described(plugin, settings)));
    if (isApplied) await install({ plugin, settings, source: before.source, before }, home);
    output.out(isApplied ? "Updated.\n" : "Nothing was changed. To update it: the same with --apply\n");
  });
}

function readable(folder: string, left: readonly string[]): Plugin {
  try {
    return readPlugin(folder, left);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function described(plugin: Plugin, settings: PluginSettings): string {
  const { name, version, description, skills, commands, left, fingerprint } = plugin;
  const { started, run } = describeSettings(settings);
  const block = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? "" : `${title}\n${lines.map((line) => `  ${line}\n`).join("")}`;
  const asCommand = (one: string) => `/${one}`;
  return [
    `${`${name} ${version}`.trim()}${description === "" ? "" : `: ${description}`} (files ${fingerprint})\n`,
    block("Starts with each session, as MCP servers whose tools ask", started),
    block("Runs at these events without asking, and may allow, change or refuse calls", run),
    block("Tells the model of its skills", skills),
    block("Offers its commands", commands.map(asCommand)),
    block("Left", left),
  ].join("");
}

interface Installing {
  readonly plugin: Plugin;
  readonly settings: PluginSettings;
  readonly source: Source;
  /** What stands in its place. */
  readonly before: Installed | null;
}

/** All or nothing: what would take the place of something else is found before anything is written. */
async function install({ plugin, settings, source, before }: Installing, home: string): Promise<void> {
  const { name, version, skills, commands, root, fingerprint } = plugin;
  const { servers, hooks } = settings;
  const place = join(home, "plugins", name);
  const { settings: present } = await loadSettings({ home, root: home });
  const others = (kind: "skills" | "commands" | "servers", all: readonly string[]) =>
    all.filter((one) => before?.[kind].includes(one) !== true);
  const isThere = (...path: string[]) => existsSync(join(home, ...path));
  const taken = [
    ...(before === null && existsSync(place) ? [`the plugin ${name} (burin plugins remove ${name})`] : []),
    ...others("skills", skills)
      .filter((one) => isThere("skills", one))
      .map((one) => `the skill ${one}`),
    ...others("commands", commands)
      .filter((one) => isThere("commands", `${one}.md`))
      .map((one) => `the command /${one}`),
    ...others("servers", Object.keys(servers))
      .filter((one) => present.mcpServers[one])
      .map((one) => `the MCP server ${one}`),
  ];
  if (taken.length > 0)
    throw new UsageError(`nothing was installed, because you have ${taken.join(", ")} already.`);
  if (before !== null) await takeAway(before, home);
  const names = { skills, commands, servers: Object.keys(servers) };
  const record: Installed = { name, version, source, fingerprint, ...names, hooks };
  mkdirSync(join(place, "data"), { recursive: true, mode: 0o700 });
  writeFileSync(join(place, RECORD), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  for (const path of filesOf(root)) {
    copy(join(root, path), join(place, "files", path));
    const [kind, one = ""] = path.split(/[/\\]/);
    const isUsed =
      (kind === "skills" && skills.includes(one)) ||
      (kind === "commands" && commands.includes(one.slice(0, -3)));
    if (isUsed) copy(join(root, path), join(home, path));
  }
  const file = join(home, "settings.json");
  for (const [alias, definition] of Object.entries(servers))
    await changeSettings(file, ["mcpServers", alias], definition);
  if (hooks.length > 0) await changeHooks(home, (all) => [...all, ...hooks]);
}

async function changeHooks(home: string, change: (all: readonly object[]) => object[]): Promise<void> {
  const { settings } = await loadSettings({ home, root: home });
  const after = change(settings.hooks);
  await changeSettings(join(home, "settings.json"), ["hooks"], after.length === 0 ? undefined : after);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  copyFileSync(from, to);
}

async function remove(name: string, ground: Ground): Promise<void> {
  await takeAway(named(name, ground), ground.home);
  rmSync(join(ground.home, "plugins", name), { recursive: true });
  ground.output.out(visible(`Removed ${name}.\n`));
}

/** All but what it has written itself. */
async function takeAway({ name, servers, skills, commands, hooks }: Installed, home: string): Promise<void> {
  for (const alias of servers)
    await changeSettings(join(home, "settings.json"), ["mcpServers", alias], undefined);
  const own = new Set(hooks.map((hook) => JSON.stringify(hook)));
  if (own.size > 0) await changeHooks(home, (all) => all.filter((hook) => !own.has(JSON.stringify(hook))));
  for (const one of skills) rmSync(join(home, "skills", one), { recursive: true, force: true });
  for (const one of commands) rmSync(join(home, "commands", `${one}.md`), { force: true });
  rmSync(join(home, "plugins", name, "files"), { recursive: true, force: true });
}
