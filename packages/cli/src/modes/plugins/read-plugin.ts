import { createHash } from "node:crypto";
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import type { JsonSchema } from "@burin/core";
import {
  describeError,
  findSchemaError,
  parseRule,
  readFileInFolder,
  readText,
  SETTINGS_SCHEMA,
  withFallback,
} from "@burin/core/internal";
import { UsageError } from "../../terminal/exit-code.ts";

export type Fields = Readonly<Record<string, unknown>>;

export interface Plugin {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** The real path of the plugin's folder. */
  readonly root: string;
  /** The names of folders below `skills`. */
  readonly skills: readonly string[];
  /** The names of files below `commands`, without their extension. */
  readonly commands: readonly string[];
  readonly servers: Readonly<Record<string, Fields>>;
  /** The hooks in the form of the settings. */
  readonly hooks: readonly Fields[];
  /** Parts that are not used, and why. */
  readonly left: readonly string[];
  /** The fingerprint of all its files. */
  readonly fingerprint: string;
  /** The files by path, as they were read for the fingerprint: what is shown is exactly what is installed. */
  readonly files: ReadonlyMap<string, PluginFile>;
}

type PluginFile = Awaited<ReturnType<typeof readFileInFolder>>;

export const PLUGIN_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const MCP_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";
const PART = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const TEXT: JsonSchema = { type: "string" };
const TEXTS: JsonSchema = { type: "object", additionalProperties: TEXT };
const RESERVED = { propertyNames: { not: { enum: ["PLUGIN_ROOT", "PLUGIN_DATA"] } } };

const MANIFEST: JsonSchema = {
  type: "object",
  required: ["$schema", "name"],
  properties: {
    $schema: { enum: [PLUGIN_SCHEMA] },
    name: { type: "string", pattern: "^(?!.*(?:--|\\.\\.))[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$" },
    version: TEXT,
    description: TEXT,
    homepage: TEXT,
    repository: TEXT,
    license: TEXT,
    author: {},
    keywords: {},
    extensions: {},
  },
};
const SERVERS_FILE: JsonSchema = {
  type: "object",
  required: ["$schema", "mcpServers"],
  properties: { $schema: { enum: [MCP_SCHEMA] }, mcpServers: { type: "object" } },
  additionalProperties: false,
};
const REMOTE: JsonSchema = {
  type: "object",
  required: ["url"],
  properties: { type: TEXT, url: TEXT, headers: TEXTS },
  additionalProperties: false,
};
const SERVERS: Readonly<Record<string, JsonSchema>> = {
  stdio: {
    type: "object",
    required: ["command"],
    properties: {
      type: TEXT,
      command: { type: "string", pattern: "^[^/~]" },
      args: { type: "array", items: TEXT },
      env: { ...TEXTS, ...RESERVED },
      cwd: {
        type: "string",
        pattern: "^(?!.*(?:^|/)\\.\\.(?:/|$))(?:\\./|\\$\\{PLUGIN_(?:ROOT|DATA)\\}(?:/|$))",
      },
    },
    additionalProperties: false,
  },
  "streamable-http": REMOTE,
  sse: REMOTE,
};
const HOOKS_FILE: JsonSchema = {
  type: "object",
  required: ["hooks"],
  properties: { hooks: { type: "array" } },
};
const { hooks: HOOKS } = SETTINGS_SCHEMA.properties ?? {};
const HOOK = (typeof HOOKS === "object" ? (HOOKS.items ?? {}) : {}) as JsonSchema;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 5000;
const MAX_ALL_BYTES = 64 * 1024 * 1024;

/** Reads a plugin by Agent Plugins 1.0.0. Leaves out broken parts. Throws UsageError if it is not a plugin. */
export async function readPlugin(folder: string, more: readonly string[] = []): Promise<Plugin> {
  const root = realpathSync(folder);
  const manifest = readPluginJson(root, "plugin.json", MANIFEST);
  if (manifest === null) {
    const isOfClaude = existsSync(join(root, ".claude-plugin"));
    const advice = isOfClaude ? " It is one of Claude Code: copy its skills and commands into ~/.burin." : "";
    throw new UsageError(`${folder} has no plugin.json, so it is not an Agent Plugin.${advice}`);
  }
  const { name, version = "", description = "" } = manifest;
  const unknown = Object.keys(manifest).filter((key) => !Object.hasOwn(MANIFEST.properties ?? {}, key));
  const left = [...more, ...unknown.map((key) => `${key} of plugin.json: unknown`)];
  const parts = { root, left };
  const skills = listNames(parts, "skills").filter((skill) =>
    isFile(parts, join("skills", skill, "SKILL.md")),
  );
  const texts = listNames(parts, "commands").filter((file) => file.endsWith(".md"));
  const commands = texts.filter((file) => isFile(parts, join("commands", file)));
  if (existsSync(join(root, "hooks")))
    left.push("hooks: those of other agents get other input; Burin's are in hooks.json");
  const files = await readFiles(root);
  return {
    name: String(name),
    version: String(version),
    description: String(description),
    root,
    skills,
    commands: commands.map((file) => file.slice(0, -".md".length)),
    servers: readServers(parts),
    hooks: readHooks(parts),
    left,
    fingerprint: computeFingerprint(files),
    files,
  };
}

interface Parts {
  readonly root: string;
  readonly left: string[];
}

/** Whether this is a file of the plugin and not a link; links are not copied. */
function isFile({ root, left }: Parts, path: string): boolean {
  const real = resolveInFolder(root, path);
  if (real === join(root, path) && statSync(real).isFile()) return true;
  if (existsSync(join(root, path))) left.push(`${path}: it is not a file of the plugin`);
  return false;
}

/** Returns the real path, or null if it is not in the folder. `root` must be a real path. */
export function resolveInFolder(root: string, path: string): string | null {
  const real = withFallback(null, () => realpathSync(resolve(root, path)));
  return real === root || real?.startsWith(root + sep) ? real : null;
}

function listNames({ root, left }: Parts, kind: string): string[] {
  const real = resolveInFolder(root, kind);
  if (real === null || !statSync(real).isDirectory()) return [];
  const names = readdirSync(real).sort();
  const odd = names.filter((name) => !PART.test(name));
  left.push(...odd.map((name) => `${kind}/${name}: the name is not usable`));
  return names.filter((name) => PART.test(name));
}

/** Reads and checks a JSON file; null if it does not exist. Throws UsageError that says what is wrong with it. */
export function readJson(path: string, schema: JsonSchema): Fields | null {
  const text = readText(path, MAX_BYTES);
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`${path} is not valid JSON.`);
  }
  const fault = findSchemaError({ ...schema, description: basename(path) }, value);
  if (fault !== null) throw new UsageError(`${path}: ${fault}.`);
  return value as Fields;
}

/** Reads a JSON file of the plugin itself, never one outside its folder. */
function readPluginJson(root: string, name: string, schema: JsonSchema): Fields | null {
  const real = resolveInFolder(root, name);
  return real === null ? null : readJson(real, schema);
}

/** Reads an optional JSON file of the plugin. A broken one is reported and left out. */
function readPart({ root, left }: Parts, name: string, schema: JsonSchema): Fields {
  try {
    return readPluginJson(root, name, schema) ?? {};
  } catch (error) {
    left.push(describeError(error));
    return {};
  }
}

function readServers(parts: Parts): Record<string, Fields> {
  const { mcpServers = {} } = readPart(parts, "mcp.json", SERVERS_FILE);
  const usable = Object.entries(mcpServers as Record<string, Fields>).filter(([alias, server]) => {
    const fault = findServerFault(server, parts.root);
    if (fault !== null) parts.left.push(`MCP server ${alias}: ${fault}`);
    return fault === null;
  });
  return Object.fromEntries(usable);
}

function findServerFault(server: Fields | null, root: string): string | null {
  const { type, command, url } = server ?? {};
  const schema = Object.hasOwn(SERVERS, String(type)) ? SERVERS[String(type)] : undefined;
  if (schema === undefined) return '"type" must be stdio, streamable-http or sse';
  const fault = findSchemaError(schema, server);
  if (fault !== null) return fault;
  if (url !== undefined)
    return isSafeServerUrl(String(url)) ? null : '"url" must be https, without a user and a fragment';
  const isOutside = /[/\\]/.test(String(command)) && resolveInFolder(root, String(command)) === null;
  return isOutside ? '"command" must be a program\'s name, or begin with ./ and lie in the plugin' : null;
}

function isSafeServerUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, hash } = new URL(url);
  const isHere = hostname === "localhost" || hostname === "[::1]" || /^127\.[\d.]+$/.test(hostname);
  return (protocol === "https:" || (protocol === "http:" && isHere)) && username === "" && hash === "";
}

/** Reads the commands from the plugin's hooks file, which has the same form as `hooks` in the settings. */
function readHooks(parts: Parts): Fields[] {
  const { hooks = [] } = readPart(parts, "hooks.json", HOOKS_FILE);
  return (hooks as Fields[]).filter((hook, at) => {
    const fault = findSchemaError(HOOK, hook) ?? findRuleFault(hook.tools);
    if (fault !== null) parts.left.push(`hook ${at + 1}: ${fault}`);
    return fault === null;
  });
}

function findRuleFault(tools: unknown): string | null {
  try {
    for (const rule of [tools ?? []].flat()) parseRule(String(rule));
    return null;
  } catch (error) {
    return describeError(error);
  }
}

/** Reads the files to install, leaving out links. */
async function readFiles(root: string): Promise<Map<string, PluginFile>> {
  const files = new Map<string, PluginFile>();
  let left = MAX_ALL_BYTES;
  const readFolder = async (folder: string): Promise<void> => {
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== ".git") await readFolder(path);
      if (!entry.isFile()) continue;
      left -= statSync(path).size;
      if (files.size === MAX_FILES) throw new UsageError(`A plugin may have ${MAX_FILES} files at most.`);
      if (left < 0) throw new UsageError(`A plugin may have ${MAX_ALL_BYTES / 1024 / 1024} MB at most.`);
      files.set(relative(root, path), await readFileInFolder(path, root));
    }
  };
  try {
    await readFolder(root);
    return files;
  } catch (error) {
    throw new UsageError(describeError(error));
  }
}

function computeFingerprint(files: Plugin["files"]): string {
  const hash = createHash("sha256");
  for (const [path, { bytes }] of files) {
    hash.update(`${JSON.stringify(path)} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex").slice(0, 16);
}
