import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { burinHome, changeSettings, loadSettings, readText } from "@burin/core";
import type { Io, SubcommandRequest } from "../../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../../terminal/exit-code.ts";
import { type Output, visible } from "../../terminal/output.ts";
import { type Source, withPlugin } from "./fetch-plugin.ts";
import { filesOf, type Plugin, readPlugin } from "./read-plugin.ts";

/** What was installed, so that it can be taken away again. */
interface Installed {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  readonly skills: readonly string[];
  readonly commands: readonly string[];
  readonly servers: readonly string[];
}

const RECORD = "installed.json";
const MOST_BYTES = 1024 * 1024;

/** Shows what a plugin brings and would run, installs it when told to, lists and removes what is installed. */
export async function runPlugins(
  { words, own, options }: SubcommandRequest,
  { output }: Io,
): Promise<ExitCode> {
  const [action = "list", first, second, tooMuch] = words;
  const home = burinHome(process.env);
  if (tooMuch !== undefined) throw new UsageError(`burin plugins ${action} takes no "${tooMuch}".`);
  if (action === "list" && first === undefined) list(home, options.outputFormat === "text", output);
  else if (action === "add" && first !== undefined)
    await add([first, second], { home, isApplied: own.apply === true, output });
  else if (action === "remove" && first !== undefined && second === undefined)
    await remove(home, first, output);
  else
    throw new UsageError("write burin plugins list, add <folder|url|marketplace> [name], or remove <name>.");
  return EXIT.done;
}

function installedIn(home: string): Installed[] {
  const folder = join(home, "plugins");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const text = readText(join(folder, name, RECORD), MOST_BYTES);
    return text === null ? [] : [JSON.parse(text) as Installed];
  });
}

function list(home: string, isText: boolean, output: Output): void {
  const all = installedIn(home);
  if (!isText) output.out(`${JSON.stringify(all, null, 2)}\n`);
  else if (all.length === 0) output.out("No plugins installed. See burin help plugins.\n");
  for (const { name, version, source, skills, commands, servers } of isText ? all : [])
    output.out(
      visible(
        `${`${name} ${version}`.trim()}  ${[...skills, ...commands, ...servers].join(", ")}  (${source})\n`,
      ),
    );
}

interface Adding {
  readonly home: string;
  readonly isApplied: boolean;
  readonly output: Output;
}

async function add(from: Source, { home, isApplied, output }: Adding): Promise<void> {
  await withPlugin(from, async (folder) => {
    const plugin = readable(folder);
    const servers = serversOf(plugin, home);
    output.out(visible(described(plugin, servers).replaceAll(DOLLAR, "$")));
    if (!isApplied) output.out("Nothing was installed. To install it: the same with --apply\n");
    else {
      await install(plugin, { home, source: from.filter((one) => one !== undefined).join(" "), servers });
      output.out(visible(`Installed. To take it away again: burin plugins remove ${plugin.name}\n`));
    }
  });
}

function readable(folder: string): Plugin {
  try {
    return readPlugin(folder);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

type Servers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function described(
  { name, version, description, skills, commands, left, fingerprint }: Plugin,
  servers: Servers,
): string {
  const block = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? "" : `${title}\n${lines.map((line) => `  ${line}\n`).join("")}`;
  const runs = Object.entries(servers).map(([alias, { command, args, url, cwd }]) => {
    const words = Array.isArray(args) ? args.map((one) => JSON.stringify(one)) : [];
    return url === undefined ? `${alias}: ${[command, ...words].join(" ")}, in ${cwd}` : `${alias}: ${url}`;
  });
  return [
    `${`${name} ${version}`.trim()}${description === "" ? "" : `: ${description}`} (files ${fingerprint})\n`,
    block("Starts with each session, as MCP servers whose tools ask", runs),
    block("Tells the model of its skills", skills),
    block(
      "Offers its commands",
      commands.map((one) => `/${one}`),
    ),
    block("Left", left),
  ].join("");
}

/** A plugin gets none of the user's variables: what looks like one in its texts stays as it is. */
const DOLLAR = `\${BURIN_DOLLAR:-$}`;

function literal(text: string): string {
  return text.replace(/\$(?=[A-Za-z_{])/g, () => DOLLAR);
}

function literals(values: unknown): Readonly<Record<string, string>> {
  const texts = Object.entries((values ?? {}) as Record<string, string>);
  return Object.fromEntries(texts.map(([key, value]) => [key, literal(value)]));
}

/** As settings have them, with the places where the plugin and its data will be. */
function serversOf(plugin: Plugin, home: string): Servers {
  const place = join(home, "plugins", plugin.name);
  const [root, data] = [join(place, "files"), join(place, "data")];
  const places: Readonly<Record<string, string>> = { ROOT: root, DATA: data };
  const expanded = (text: string) =>
    literal(text.replace(/\$\{PLUGIN_(ROOT|DATA)\}/g, (all, which) => places[which] ?? all));
  const settled = Object.entries(plugin.servers).map(
    ([alias, { type, command, args, env, cwd = "./", ...others }]) => {
      const name = `${plugin.name}-${alias}`.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 30);
      if (type !== "stdio") return [name, farServer(type, others)] as const;
      const inside = expanded(String(cwd));
      const texts = Object.entries((env ?? {}) as Record<string, string>);
      return [
        name,
        {
          command: String(command).startsWith("./") ? join(root, String(command)) : command,
          args: ((args ?? []) as string[]).map(expanded),
          env: {
            ...Object.fromEntries(texts.map(([key, value]) => [key, expanded(value)])),
            PLUGIN_ROOT: root,
            PLUGIN_DATA: data,
          },
          cwd: inside.startsWith("./") ? join(root, inside) : inside,
        },
      ] as const;
    },
  );
  return Object.fromEntries(settled);
}

function farServer(type: unknown, { url, headers }: Readonly<Record<string, unknown>>) {
  const named = headers === undefined ? {} : { headers: literals(headers) };
  return { type: type === "sse" ? "sse" : "http", url: literal(String(url)), ...named };
}

interface Installing {
  readonly home: string;
  readonly source: string;
  readonly servers: Servers;
}

/** All or nothing: what would take the place of something else is found before anything is written. */
async function install(plugin: Plugin, { home, source, servers }: Installing): Promise<void> {
  const { name, version, skills, commands, root } = plugin;
  const place = join(home, "plugins", name);
  const { settings } = await loadSettings({ home, root: home });
  const taken = [
    ...(existsSync(place) ? [`the plugin ${name} (burin plugins remove ${name})`] : []),
    ...skills.filter((one) => existsSync(join(home, "skills", one))).map((one) => `the skill ${one}`),
    ...commands
      .filter((one) => existsSync(join(home, "commands", `${one}.md`)))
      .map((one) => `the command /${one}`),
    ...Object.keys(servers)
      .filter((one) => settings.mcpServers[one])
      .map((one) => `the MCP server ${one}`),
  ];
  if (taken.length > 0)
    throw new UsageError(`nothing was installed, because you have ${taken.join(", ")} already.`);
  const record: Installed = { name, version, source, skills, commands, servers: Object.keys(servers) };
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
  for (const [alias, definition] of Object.entries(servers))
    await changeSettings(join(home, "settings.json"), ["mcpServers", alias], definition);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  copyFileSync(from, to);
}

async function remove(home: string, name: string, output: Output): Promise<void> {
  const found = installedIn(home).find((one) => one.name === name);
  if (found === undefined) throw new UsageError(`there is no plugin "${name}". See burin plugins list.`);
  for (const alias of found.servers)
    await changeSettings(join(home, "settings.json"), ["mcpServers", alias], undefined);
  for (const one of found.skills) rmSync(join(home, "skills", one), { recursive: true, force: true });
  for (const one of found.commands) rmSync(join(home, "commands", `${one}.md`), { force: true });
  rmSync(join(home, "plugins", name), { recursive: true });
  output.out(visible(`Removed ${name}.\n`));
}
