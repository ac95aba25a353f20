import { isRecord } from "@burin/contract/messages/untrusted-json";
import type { ProjectScripts, Settings } from "@burin/contract/settings/settings";
import {
  type McpServerSettings,
  settledSources,
  withCommandServer,
} from "@burin/contract/settings/tool-sources";
import { namePrefixes } from "@burin/mcp/tool-names";

export interface ProjectSettings {
  /** Makes rules stricter, so it counts in every folder. */
  readonly tightening: object;
  /** Everything else that counts once the folder is trusted. */
  readonly trusted: object;
  /** What would then run or be reached, a sentence without a subject each. The user's answer applies only to these. */
  readonly effects: readonly string[];
  /** Keys that never count in a project, because they make rules looser. */
  readonly refused: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;
type Servers = Readonly<Record<string, McpServerSettings | null>>;

/** When a value counts: always, in a trusted folder, in a trusted folder and listed first, or never. */
type Place = "tightens" | "harmless" | "acts" | "loosens";

/** Sections that are sorted key by key; everything else is one value. */
const SECTIONS = new Set(["model", "permissions", "files", "sandbox", "shell", "web", "tools"]);

const KEYS: Readonly<Record<Exclude<Place, "acts">, readonly string[]>> = {
  harmless: [
    ...["$schema", "ui", "model.name", "model.timeoutSeconds", "model.contextWindow"],
    // These are only names of models that the user has configured.
    ...["model.small", "model.subagent"],
    ...["tools.exclude", "tools.editCorrection", "tools.svgAsText", "tools.schemaBudget"],
    ...["tools.toolDiscoverySeconds", "tools.toolCallSeconds"],
  ],
  tightens: ["permissions.ask", "permissions.deny", "files.ignore", "files.ignoreFileNames"],
  loosens: [
    ...["approvalMode", "permissions.allow", "sandbox.hide", "shell.passEnvironment", "web.allowedHosts"],
    // These decide who gets the conversation and the user's keys.
    ...["models", "model.provider", "model.baseUrl", "model.apiKeyEnv", "model.fallbacks", "model.key"],
    ...["model.certificate", "model.headers", "model.body", "model.bearer"],
    ...["model.organization", "model.project"],
    // Text from a file could become a call.
    "model.callsInText",
    // This decides how a budget of money is counted.
    "model.prices",
    // These decide who gets data about sessions, or the queries of searches and their key.
    ...["telemetry", "web.search"],
  ],
};
const PLACES: ReadonlyMap<string, Place> = new Map(
  Object.entries(KEYS).flatMap(([place, keys]) => keys.map((key) => [key, place as Place])),
);

/** From loose to strict. */
const SANDBOX_ORDER = ["off", "workspace-write", "read-only"];

/** What an effect uses of the project's own files, a sentence each. */
type ScriptsOf = (effect: string) => readonly string[];

/** An unknown key is listed and counts only in a trusted folder, so that no setting takes effect unnoticed. */
export function projectSettings(
  layer: object,
  user: Settings,
  scriptsOf: ScriptsOf = () => [],
): ProjectSettings {
  const sorted = new Sorted(scriptsOf);
  const { mcpServers = {}, mcpServerCommand, trustedScripts: _own, ...rest } = settledSources(layer);
  for (const [key, value] of Object.entries(rest)) {
    if (!SECTIONS.has(key)) sorted.put([key], value, placeOf(key, value, user));
    else {
      for (const [name, one] of Object.entries(value as Fields)) {
        sorted.put([key, name], one, placeOf(`${key}.${name}`, one, user));
      }
    }
  }
  const servers = mcpServers as Servers;
  sortServers(withCommandServer(servers, mcpServerCommand as string | undefined), user, sorted);
  // A key, an event or an address that contains a line break would look like a line of its own.
  const { tightening, trusted, effects, scripts, refused } = sorted;
  return { tightening, trusted, effects: [...effects.map(line), ...scripts], refused: refused.map(line) };
}

class Sorted implements ProjectSettings {
  readonly #scriptsOf: ScriptsOf;
  // Without a prototype, so that a key can have any name.
  readonly tightening: Record<string, unknown> = Object.create(null);
  readonly trusted: Record<string, unknown> = Object.create(null);
  readonly effects: string[] = [];
  readonly refused: string[] = [];
  /** What the effects use of the project's files. */
  readonly scripts = new Set<string>();

  constructor(scriptsOf: ScriptsOf) {
    this.#scriptsOf = scriptsOf;
  }

  /** Adds an effect; returns what it uses, to be compared again before it runs. */
  runs(effect: string): ProjectScripts {
    this.effects.push(effect);
    const uses = this.#scriptsOf(line(effect));
    for (const use of uses) this.scripts.add(use);
    return { effect: line(effect), uses };
  }

  put(path: readonly string[], value: unknown, place: Place): void {
    if (place === "loosens") {
      this.refused.push(path.join("."));
      return;
    }
    if (place === "acts") this.#act(path.join("."), value);
    const target = place === "tightens" ? this.tightening : this.trusted;
    const [key = "", name] = path;
    target[key] = name === undefined ? value : { ...(target[key] as Fields | undefined), [name]: value };
  }

  #act(key: string, value: unknown): void {
    if (key === "hooks" && Array.isArray(value)) {
      for (const hook of value as Fields[]) this.#runsCommand(hook.command, hookEffect(hook));
    } else if (Object.hasOwn(RUN, key)) {
      this.#runsCommand(value, `run, ${RUN[key]}: ${line(value)}`);
    } else {
      this.effects.push(`set ${key} to ${JSON.stringify(value)}`);
    }
  }

  #runsCommand(command: unknown, effect: string): void {
    const known = this.trusted.trustedScripts as Fields | undefined;
    this.trusted.trustedScripts = { ...known, [String(command)]: this.runs(effect) };
  }
}

/** Commands, and when they run. */
const RUN: Readonly<Record<string, string>> = {
  "tools.toolDiscoveryCommand": "to discover tools",
  "tools.toolCallCommand": "for each call of a discovered tool",
  check: "when the model is done",
};

function placeOf(key: string, value: unknown, user: Settings): Place {
  const { sandbox, tools } = user;
  switch (key) {
    case "sandbox.mode":
      return SANDBOX_ORDER.indexOf(String(value)) >= SANDBOX_ORDER.indexOf(sandbox.mode)
        ? "tightens"
        : "loosens";
    case "sandbox.network":
      return value === false || onlyDenies(value) || sandbox.network === true ? "tightens" : "loosens";
    case "sandbox.discovered":
      return value === true || !sandbox.discovered ? "tightens" : "loosens";
    case "tools.include":
      // Merged with a list of the user's, it would add tools that the user left out.
      return tools.include.length === 0 ? "harmless" : "loosens";
    default:
      return PLACES.get(key) ?? "acts";
  }
}

function onlyDenies(network: unknown): boolean {
  return isRecord(network) && Object.keys(network).every((key) => key === "deniedDomains");
}

function sortServers(servers: Servers, user: Settings, sorted: Sorted): void {
  const kept: Record<string, object> = {};
  const taken = new Set(namePrefixes(Object.keys(user.mcpServers)).values());
  for (const [alias, server] of Object.entries(servers)) {
    if (server === null) kept[alias] = { disabled: true };
    // The user's rules for tools of their own server must not apply to another server, whose alias may look different.
    else if (taken.has(namePrefixes([alias]).get(alias) ?? "")) sorted.refused.push(`mcpServers.${alias}`);
    else {
      if (server.trust) sorted.refused.push(`mcpServers.${alias}.trust`);
      const scripts = sorted.runs(serverEffect(alias, server));
      kept[alias] = { ...server, trust: false, sampling: false, scripts };
    }
  }
  if (Object.keys(kept).length > 0) sorted.put(["mcpServers"], kept, "harmless");
}

function hookEffect({ event, command, tools }: Fields): string {
  const calls = tools === undefined ? "" : `, for ${JSON.stringify(tools)}`;
  return `run as a hook at ${event}${calls}: ${line(command)}`;
}

/** Unchanged if it is one plain line; different texts never look the same. */
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

/** Everything else that decides what is started or sent, without empty values. */
function more(details: Fields): string {
  const told = Object.entries(details).filter(([, one]) => one !== undefined && JSON.stringify(one) !== "{}");
  return told.map(([key, one]) => `, ${key} ${JSON.stringify(one)}`).join("");
}
