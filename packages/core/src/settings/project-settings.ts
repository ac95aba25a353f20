import type { Settings } from "@burin/contract/settings/settings";
import { type McpServerSettings, settledSources } from "@burin/contract/settings/tool-sources";

/** What a project's settings come to, sorted by what each of them may do. */
export interface ProjectSettings {
  /** Makes rules stricter, so it counts in every folder. */
  readonly tightening: object;
  /** The rest of what may count, once the folder is trusted. */
  readonly trusted: object;
  /** What would then be run or reached, one sentence without a subject for each. The user's answer is bound to these. */
  readonly effects: readonly string[];
  /** Keys that never count in a project, because they make rules looser. */
  readonly refused: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Where one value goes: always in force, in force in a trusted folder, listed first, or never. */
type Place = "tightens" | "harmless" | "acts" | "loosens";

/** Sections that are sorted key by key; everything else is one value. */
const SECTIONS = new Set(["model", "permissions", "files", "sandbox", "shell", "web", "tools"]);

const PLACES: Readonly<Record<string, Place>> = {
  $schema: "harmless",
  ui: "harmless",
  "model.name": "harmless",
  "model.timeoutSeconds": "harmless",
  // These say who gets the conversation and the user's keys.
  "model.provider": "loosens",
  "model.baseUrl": "loosens",
  "model.apiKeyEnv": "loosens",
  "model.fallbacks": "loosens",
  "model.contextWindow": "harmless",
  ...Object.fromEntries(
    ["key", "certificate", "headers", "body", "bearer", "organization", "project"].map((key) => [
      `model.${key}`,
      "loosens",
    ]),
  ),
  models: "loosens",
  // Only names, of what the user has.
  "model.small": "harmless",
  "model.subagent": "harmless",
  // What a file says could become a call.
  "model.callsInText": "loosens",
  // A budget of money is counted with these.
  "model.prices": "loosens",
  "permissions.allow": "loosens",
  "permissions.ask": "tightens",
  "permissions.deny": "tightens",
  "files.ignore": "tightens",
  "files.ignoreFileNames": "tightens",
  "sandbox.hide": "loosens",
  "shell.passEnvironment": "loosens",
  // This says who hears of sessions.
  telemetry: "loosens",
  "web.allowedHosts": "loosens",
  // This says who gets the questions and the key.
  "web.search": "loosens",
  "tools.exclude": "harmless",
  "tools.editCorrection": "harmless",
  "tools.svgAsText": "harmless",
  "tools.schemaBudget": "harmless",
  "tools.toolDiscoverySeconds": "harmless",
  "tools.toolCallSeconds": "harmless",
};

/** From loose to strict. */
const SANDBOX_ORDER = ["off", "workspace-write", "read-only"];

/**
 * Sorts the settings that a project brings, seen from those of the user. A key that is not known here is
 * listed and counts in a trusted folder only, so that nothing new is ever in force unseen.
 */
export function projectSettings(layer: object, user: Settings): ProjectSettings {
  const sorted = new Sorted();
  const { mcpServers = {}, mcpServerCommand, ...rest } = settledSources(layer);
  for (const [key, value] of Object.entries(rest)) {
    if (!SECTIONS.has(key)) sorted.put([key], value, placeOf(key, value, user));
    else {
      for (const [name, one] of Object.entries(value as Fields)) {
        sorted.put([key, name], one, placeOf(`${key}.${name}`, one, user));
      }
    }
  }
  sortServers(mcpServers as Record<string, McpServerSettings | null>, user, sorted);
  if (mcpServerCommand !== undefined && !Object.hasOwn(user.mcpServers, "mcp")) {
    sorted.put(["mcpServerCommand"], mcpServerCommand, "harmless");
    sorted.effects.push(`start the MCP server "mcp": ${line(mcpServerCommand)}`);
  }
  return sorted;
}

class Sorted implements ProjectSettings {
  readonly tightening: Record<string, unknown> = {};
  readonly trusted: Record<string, unknown> = {};
  readonly effects: string[] = [];
  readonly refused: string[] = [];

  put(path: readonly string[], value: unknown, place: Place): void {
    if (place === "loosens") {
      this.refused.push(path.join("."));
      return;
    }
    if (place === "acts") this.effects.push(...effectsOf(path.join("."), value));
    const target = place === "tightens" ? this.tightening : this.trusted;
    const [key = "", name] = path;
    const plain = name === undefined ? value : { ...(target[key] as Fields | undefined), [name]: value };
    Object.defineProperty(target, key, {
      value: plain,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

function placeOf(key: string, value: unknown, user: Settings): Place {
  const { sandbox, tools } = user;
  switch (key) {
    case "sandbox.mode":
      return SANDBOX_ORDER.indexOf(String(value)) >= SANDBOX_ORDER.indexOf(sandbox.mode)
        ? "tightens"
        : "loosens";
    case "sandbox.network":
      return value === false || sandbox.network ? "tightens" : "loosens";
    case "sandbox.discovered":
      return value === true || !sandbox.discovered ? "tightens" : "loosens";
    case "tools.include":
      // Joined to a list of the user's it would bring back what they left out.
      return tools.include.length === 0 ? "harmless" : "loosens";
    default:
      return PLACES[key] ?? "acts";
  }
}

function sortServers(
  servers: Readonly<Record<string, McpServerSettings | null>>,
  user: Settings,
  sorted: Sorted,
): void {
  const kept: Record<string, object> = {};
  for (const [alias, server] of Object.entries(servers)) {
    if (server === null) kept[alias] = { disabled: true };
    // The user's rules for the tools of their own server must not come to mean another.
    else if (Object.hasOwn(user.mcpServers, alias)) sorted.refused.push(`mcpServers.${alias}`);
    else {
      if (server.trust) sorted.refused.push(`mcpServers.${alias}.trust`);
      kept[alias] = { ...server, trust: false, sampling: false };
      sorted.effects.push(serverEffect(alias, server));
    }
  }
  if (Object.keys(kept).length > 0) sorted.put(["mcpServers"], kept, "harmless");
}

function effectsOf(key: string, value: unknown): string[] {
  if (key === "tools.toolDiscoveryCommand") return [`run, to discover tools: ${line(value)}`];
  if (key === "tools.toolCallCommand") return [`run, for each call of a discovered tool: ${line(value)}`];
  if (key === "hooks" && Array.isArray(value)) return value.map(hookEffect);
  return [`set ${key} to ${JSON.stringify(value)}`];
}

function hookEffect(hook: unknown): string {
  const { event, command, tools } = (hook ?? {}) as Fields;
  const calls = tools === undefined ? "" : `, for ${JSON.stringify(tools)}`;
  return `run as a hook at ${event}${calls}: ${line(command)}`;
}

/** As written where that is one plain line; no two texts look the same. */
function line(command: unknown): string {
  const text = String(command);
  return text.startsWith('"') || /\p{Cc}/u.test(text) ? JSON.stringify(text) : text;
}

function serverEffect(alias: string, server: McpServerSettings): string {
  const name = JSON.stringify(alias);
  if (server.type !== "stdio") {
    return `connect to the MCP server ${name}: ${server.url ?? ""}${more({ headers: server.headers, oauth: server.oauth })}`;
  }
  const words = [server.command ?? "", ...server.args].map((word) =>
    /^[^\s"]+$/.test(word) ? word : JSON.stringify(word),
  );
  return `start the MCP server ${name}: ${words.join(" ")}${more({ env: server.env, cwd: server.cwd })}`;
}

/** What else decides what is started or sent, empty things left out. */
function more(details: Fields): string {
  const told = Object.entries(details).filter(([, one]) => one !== undefined && JSON.stringify(one) !== "{}");
  return told.map(([key, one]) => `, ${key} ${JSON.stringify(one)}`).join("");
}
