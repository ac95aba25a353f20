import { isRecord } from "@burin/contract/messages/untrusted-json";
import type { ProjectScripts, Settings } from "@burin/contract/settings/settings";
import {
  addCommandServer,
  type McpServerSettings,
  normalizeToolSources,
} from "@burin/contract/settings/tool-sources";
import { assignPrefixes } from "@burin/mcp/tool-names";

export interface ProjectSettings {
  /** Settings that make rules stricter. They are used in every folder. */
  readonly tightening: object;
  /** All other settings. They are used once the folder is trusted. */
  readonly trusted: object;
  /** What a trusted folder would run or access, in sentences without a subject. The user's answer is for these. */
  readonly effects: readonly string[];
  /** Keys that are never used from a project, because they would loosen rules. */
  readonly refused: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;
type Servers = Readonly<Record<string, McpServerSettings | null>>;

/**
 * When a value is used: always (`tightens`), in a trusted folder (`harmless`), in a trusted folder after the user has
 * seen it in a list (`acts`), or never (`loosens`).
 */
type SettingScope = "tightens" | "harmless" | "acts" | "loosens";

/** Sections that are sorted key by key. Everything else is sorted as one value. */
const SECTIONS = new Set(["model", "permissions", "files", "sandbox", "shell", "web", "tools", "ui"]);

const KEYS: Readonly<Record<Exclude<SettingScope, "acts">, readonly string[]>> = {
  harmless: [
    ...["ui.language", "ui.theme", "ui.colors", "ui.sideBySide", "ui.vim", "ui.notify", "ui.screenReader"],
    ...["$schema", "model.name", "model.timeoutSeconds", "model.contextWindow"],
    // These keys only name models that the user has configured.
    ...["model.small", "model.subagent"],
    ...["tools.exclude", "tools.editCorrection", "tools.svgAsText", "tools.schemaBudget"],
    ...["tools.toolDiscoverySeconds", "tools.toolCallSeconds"],
  ],
  tightens: ["permissions.ask", "permissions.deny", "files.ignore", "files.ignoreFileNames"],
  loosens: [
    ...["approvalMode", "permissions.allow", "sandbox.hide", "shell.passEnvironment", "web.allowedHosts"],
    // These keys decide who gets the conversation and the user's API keys.
    ...["models", "model.provider", "model.baseUrl", "model.apiKeyEnv", "model.fallbacks", "model.key"],
    ...["model.certificate", "model.headers", "model.body", "model.bearer"],
    ...["model.organization", "model.project"],
    // With this key, text from a file could become a call.
    "model.callsInText",
    // This decides how a budget of money is counted.
    "model.prices",
    // This command runs at each start.
    "ui.statusLine",
    // These decide who gets data about sessions, or the queries of searches and their key.
    ...["telemetry", "web.search"],
  ],
};
const PLACES: ReadonlyMap<string, SettingScope> = new Map(
  Object.entries(KEYS).flatMap(([place, keys]) => keys.map((key) => [key, place as SettingScope])),
);

/** From the loosest to the strictest. */
const SANDBOX_ORDER = ["off", "workspace-write", "read-only"];

/** Returns sentences about the project's own files that an effect uses. */
type ScriptsOf = (effect: string) => readonly string[];

/** Sorts a project's settings. An unknown key is listed and used only in a trusted folder, never unnoticed. */
export function readProjectSettings(
  layer: object,
  user: Settings,
  scriptsOf: ScriptsOf = () => [],
): ProjectSettings {
  const sorted = new SortedSettings(scriptsOf);
  const { mcpServers = {}, mcpServerCommand, trustedScripts: _own, ...rest } = normalizeToolSources(layer);
  for (const [key, value] of Object.entries(rest)) {
    if (!SECTIONS.has(key)) sorted.addSetting([key], value, classifySetting(key, value, user));
    else {
      for (const [name, one] of Object.entries(value as Fields)) {
        sorted.addSetting([key, name], one, classifySetting(`${key}.${name}`, one, user));
      }
    }
  }
  const servers = mcpServers as Servers;
  sortServers(addCommandServer(servers, mcpServerCommand as string | undefined), user, sorted);
  // Quote texts with line breaks: a key, an event or an address that contains one would look like several lines.
  const { tightening, trusted, effects, scripts, refused } = sorted;
  return {
    tightening,
    trusted,
    effects: [...effects.map(formatCommand), ...scripts],
    refused: refused.map(formatCommand),
  };
}

class SortedSettings implements ProjectSettings {
  readonly #scriptsOf: ScriptsOf;
  // Without a prototype, so that keys can have any name.
  readonly tightening: Record<string, unknown> = Object.create(null);
  readonly trusted: Record<string, unknown> = Object.create(null);
  readonly effects: string[] = [];
  readonly refused: string[] = [];
  /** Sentences about the project's files that the effects use. */
  readonly scripts = new Set<string>();

  constructor(scriptsOf: ScriptsOf) {
    this.#scriptsOf = scriptsOf;
  }

  /** Adds an effect. Returns the files that it uses, to be compared again before it runs. */
  addEffect(effect: string): ProjectScripts {
    this.effects.push(effect);
    const uses = this.#scriptsOf(formatCommand(effect));
    for (const use of uses) this.scripts.add(use);
    return { effect: formatCommand(effect), uses };
  }

  addSetting(path: readonly string[], value: unknown, place: SettingScope): void {
    if (place === "loosens") {
      this.refused.push(path.join("."));
      return;
    }
    if (place === "acts") this.#applyEffect(path.join("."), value);
    const target = place === "tightens" ? this.tightening : this.trusted;
    const [key = "", name] = path;
    target[key] = name === undefined ? value : { ...(target[key] as Fields | undefined), [name]: value };
  }

  #applyEffect(key: string, value: unknown): void {
    if (key === "hooks" && Array.isArray(value)) {
      for (const hook of value as Fields[]) this.#addCommandEffect(hook.command, describeHook(hook));
    } else if (Object.hasOwn(RUN, key)) {
      this.#addCommandEffect(value, `run, ${RUN[key]}: ${formatCommand(value)}`);
    } else {
      this.effects.push(`set ${key} to ${JSON.stringify(value)}`);
    }
  }

  #addCommandEffect(command: unknown, effect: string): void {
    const known = this.trusted.trustedScripts as Fields | undefined;
    this.trusted.trustedScripts = { ...known, [String(command)]: this.addEffect(effect) };
  }
}

/** When each of these commands runs, in words. */
const RUN: Readonly<Record<string, string>> = {
  "tools.toolDiscoveryCommand": "to discover tools",
  "tools.toolCallCommand": "for each call of a discovered tool",
  check: "when the model is done",
};

function classifySetting(key: string, value: unknown, user: Settings): SettingScope {
  const { sandbox, tools } = user;
  switch (key) {
    case "sandbox.mode":
      return SANDBOX_ORDER.indexOf(String(value)) >= SANDBOX_ORDER.indexOf(sandbox.mode)
        ? "tightens"
        : "loosens";
    case "sandbox.network":
      return value === false || hasOnlyDeniedDomains(value) || sandbox.network === true
        ? "tightens"
        : "loosens";
    case "sandbox.discovered":
      return value === true || !sandbox.discovered ? "tightens" : "loosens";
    case "tools.include":
      // A list that is merged with the user's would add tools that the user excluded.
      return tools.include.length === 0 ? "harmless" : "loosens";
    default:
      return PLACES.get(key) ?? "acts";
  }
}

function hasOnlyDeniedDomains(network: unknown): boolean {
  return isRecord(network) && Object.keys(network).every((key) => key === "deniedDomains");
}

function sortServers(servers: Servers, user: Settings, sorted: SortedSettings): void {
  const kept: Record<string, object> = {};
  const taken = new Set(assignPrefixes(Object.keys(user.mcpServers)).values());
  for (const [alias, server] of Object.entries(servers)) {
    if (server === null) kept[alias] = { disabled: true };
    // The user's rules for the tools of their own server must not apply to another server, whose alias may be written
    // differently but give the same prefix.
    else if (taken.has(assignPrefixes([alias]).get(alias) ?? "")) sorted.refused.push(`mcpServers.${alias}`);
    else {
      if (server.trust) sorted.refused.push(`mcpServers.${alias}.trust`);
      const scripts = sorted.addEffect(describeServer(alias, server));
      kept[alias] = { ...server, trust: false, sampling: false, scripts };
    }
  }
  if (Object.keys(kept).length > 0) sorted.addSetting(["mcpServers"], kept, "harmless");
}

function describeHook({ event, command, tools }: Fields): string {
  const calls = tools === undefined ? "" : `, for ${JSON.stringify(tools)}`;
  return `run as a hook at ${event}${calls}: ${formatCommand(command)}`;
}

/** Returns a plain line unchanged and anything else as a JSON string. Different texts never look the same. */
function formatCommand(command: unknown): string {
  const text = String(command);
  return text.startsWith('"') || /\p{Cc}/u.test(text) ? JSON.stringify(text) : text;
}

function describeServer(alias: string, server: McpServerSettings): string {
  const name = JSON.stringify(alias);
  if (server.type !== "stdio") {
    return `connect to the MCP server ${name}: ${server.url ?? ""}${describeDetails({ headers: server.headers, oauth: server.oauth })}`;
  }
  const words = [server.command ?? "", ...server.args].map((word) =>
    /^[^\s"]+$/.test(word) ? word : JSON.stringify(word),
  );
  return `start the MCP server ${name}: ${words.join(" ")}${describeDetails({ env: server.env, cwd: server.cwd })}`;
}

/** Formats everything else that decides what is started or sent. Empty values are left out. */
function describeDetails(details: Fields): string {
  const told = Object.entries(details).filter(([, one]) => one !== undefined && JSON.stringify(one) !== "{}");
  return told.map(([key, one]) => `, ${key} ${JSON.stringify(one)}`).join("");
}
