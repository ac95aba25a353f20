import { join } from "node:path";
import type { Fields, Plugin } from "./read-plugin.ts";

/** A plugin gets none of the user's variables: what looks like one in its servers stays literal. */
const DOLLAR = `\${BURIN_DOLLAR:-$}`;

/** The plugin with its servers and hooks in the form of settings, with the future paths of its files and its data. */
export function inSettings(plugin: Plugin, home: string): Plugin {
  const { name, servers, hooks } = plugin;
  const place = join(home, "plugins", name);
  const places = { PLUGIN_ROOT: join(place, "files"), PLUGIN_DATA: join(place, "data") };
  const own = Object.entries(servers).map(([alias, server]) => {
    const ownName = `${name}-${alias}`.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 30);
    return [ownName, server.type === "stdio" ? nearServer(server, places) : farServer(server)] as const;
  });
  const set = Object.entries(places).map(([key, path]) => `${key}=${quoted(path)}`);
  const ownHooks = hooks.map((hook) => ({ ...hook, command: `export ${set.join(" ")}; ${hook.command}` }));
  return { ...plugin, servers: Object.fromEntries(own), hooks: ownHooks };
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

/** What starts by itself, for the user. */
export function startedBy({ servers }: Plugin): string[] {
  return Object.entries(servers).map(([alias, { command, args, url, cwd }]) => {
    const words = Array.isArray(args) ? args.map((one) => JSON.stringify(one)) : [];
    const what = url === undefined ? `${[command, ...words].join(" ")}, in ${cwd}` : url;
    return `${alias}: ${what}`.replaceAll(DOLLAR, "$");
  });
}
