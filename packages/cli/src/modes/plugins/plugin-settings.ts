import { join } from "node:path";
import type { Plugin } from "./read-plugin.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a plugin adds to the user's settings. */
export interface PluginSettings {
  readonly servers: Readonly<Record<string, Fields>>;
  readonly hooks: readonly Fields[];
}

/** A plugin gets none of the user's variables: what looks like one in its servers stays literal. */
const DOLLAR = `\${BURIN_DOLLAR:-$}`;

/** In the form of settings, with the future paths of the plugin and its data. */
export function settingsOf({ name, servers, hooks }: Plugin, home: string): PluginSettings {
  const place = join(home, "plugins", name);
  const places = { PLUGIN_ROOT: join(place, "files"), PLUGIN_DATA: join(place, "data") };
  const own = Object.entries(servers).map(([alias, server]) => {
    const ownName = `${name}-${alias}`.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 30);
    return [ownName, server.type === "stdio" ? nearServer(server, places) : farServer(server)] as const;
  });
  const set = Object.entries(places).map(([key, path]) => `${key}=${quoted(path)}`);
  const ownHooks = hooks.map((hook) => ({ ...hook, command: `export ${set.join(" ")}; ${hook.command}` }));
  return { servers: Object.fromEntries(own), hooks: ownHooks };
}

type Places = Readonly<Record<"PLUGIN_ROOT" | "PLUGIN_DATA", string>>;

function nearServer({ command, args = [], env = {}, cwd = "./" }: Fields, places: Places): Fields {
  const expanded = (text: string) =>
    literal(text.replace(/\$\{(PLUGIN_(?:ROOT|DATA))\}/g, (_, which: keyof Places) => places[which]));
  const inRoot = (path: string) => (path.startsWith("./") ? join(places.PLUGIN_ROOT, path) : path);
  return {
    command: inRoot(String(command)),
    args: (args as string[]).map(expanded),
    env: { ...eachOf(env, expanded), ...places },
    cwd: inRoot(expanded(String(cwd))),
  };
}

function farServer({ type, url, headers }: Fields): Fields {
  const named = headers === undefined ? {} : { headers: eachOf(headers, literal) };
  return { type: type === "sse" ? "sse" : "http", url: literal(String(url)), ...named };
}

function eachOf(texts: unknown, change: (text: string) => string): Fields {
  return Object.fromEntries(
    Object.entries(texts as Fields).map(([key, text]) => [key, change(String(text))]),
  );
}

function literal(text: string): string {
  return text.replace(/\$(?=[A-Za-z_{])/g, () => DOLLAR);
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Describes what runs by itself. */
export function describeSettings({ servers, hooks }: PluginSettings) {
  const started = Object.entries(servers).map(([alias, { command, args, url, cwd }]) => {
    const words = Array.isArray(args) ? args.map((one) => JSON.stringify(one)) : [];
    return url === undefined ? `${alias}: ${[command, ...words].join(" ")}, in ${cwd}` : `${alias}: ${url}`;
  });
  const run = hooks.map(({ event, tools, command }) => {
    const when = tools === undefined ? event : `${event} of ${[tools].flat().join(", ")}`;
    return `${when}: ${command}`;
  });
  return { started: started.map((line) => line.replaceAll(DOLLAR, "$")), run };
}
