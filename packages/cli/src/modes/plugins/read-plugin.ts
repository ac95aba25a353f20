import { createHash } from "node:crypto";
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { readText } from "@burin/core";

type Fields = Readonly<Record<string, unknown>>;

/** What a plugin brings. */
export interface Plugin {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** The real path of its folder. */
  readonly root: string;
  /** Names of folders below `skills`. */
  readonly skills: readonly string[];
  /** Names of files below `commands`, without their ending. */
  readonly commands: readonly string[];
  readonly servers: Readonly<Record<string, Fields>>;
  /** What of it is not used, and why. */
  readonly left: readonly string[];
  /** Of all its files. */
  readonly fingerprint: string;
}

const SCHEMA = "https://agent-plugins.org/schemas/1.0.0/";
const NAME = /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$/;
const PART = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const TEXTS = ["version", "description", "homepage", "repository", "license"];
const KNOWN = new Set(["$schema", "name", "author", "keywords", "extensions", ...TEXTS]);
const SERVER_KEYS: Readonly<Record<string, readonly string[]>> = {
  stdio: ["type", "command", "args", "env", "cwd"],
  "streamable-http": ["type", "url", "headers"],
  sse: ["type", "url", "headers"],
};
const MOST_BYTES = 1024 * 1024;
const MOST_FILES = 5000;
const MOST_ALL_BYTES = 64 * 1024 * 1024;

/** Reads a plugin by Agent Plugins 1.0.0. Throws why the folder is none; a part that is broken is left, and no other. */
export function readPlugin(folder: string): Plugin {
  const root = realpathSync(folder);
  const manifest = jsonIn(root, "plugin.json");
  if (manifest === null) throw new Error(`${folder} has no plugin.json, so it is not an Agent Plugin.`);
  const fault = manifestFault(manifest);
  if (fault !== null) throw new Error(`${join(folder, "plugin.json")}: ${fault}.`);
  const left = Object.keys(manifest).flatMap((key) =>
    KNOWN.has(key) ? [] : [`${key} of plugin.json: unknown`],
  );
  const parts = { root, left };
  const skills = namesIn(parts, "skills").filter((name) => isFile(parts, join("skills", name, "SKILL.md")));
  const commands = namesIn(parts, "commands").filter((name) => name.endsWith(".md"));
  if (existsSync(join(root, "hooks")))
    left.push("hooks: other agents tell their hooks other things; write them as yours");
  return {
    name: String(manifest.name),
    version: String(manifest.version ?? ""),
    description: String(manifest.description ?? ""),
    root,
    skills,
    commands: commands
      .filter((name) => isFile(parts, join("commands", name)))
      .map((name) => name.slice(0, -3)),
    servers: serversIn(parts),
    left,
    fingerprint: fingerprintOf(root),
  };
}

interface Parts {
  readonly root: string;
  readonly left: string[];
}

function manifestFault(manifest: Fields): string | null {
  if (manifest.$schema !== `${SCHEMA}plugin.schema.json`)
    return `"$schema" must be ${SCHEMA}plugin.schema.json`;
  if (typeof manifest.name !== "string" || !NAME.test(manifest.name))
    return '"name" must be 1 to 64 lowercase letters, digits, "-" or "."';
  const wrong = TEXTS.find((key) => manifest[key] !== undefined && typeof manifest[key] !== "string");
  return wrong === undefined ? null : `"${wrong}" must be a string`;
}

/** A file of the plugin itself; one that a link leads out of it is none. */
function isFile({ root, left }: Parts, path: string): boolean {
  const real = realIn(root, path);
  if (real !== null && statSync(real).isFile()) return true;
  if (existsSync(join(root, path))) left.push(`${path}: it is not a file of the plugin`);
  return false;
}

function realIn(root: string, path: string): string | null {
  try {
    const real = realpathSync(resolve(root, path));
    return real === root || real.startsWith(root + sep) ? real : null;
  } catch {
    return null;
  }
}

function namesIn({ root, left }: Parts, kind: string): string[] {
  const real = realIn(root, kind);
  if (real === null || !statSync(real).isDirectory()) return [];
  const names = readdirSync(real).sort();
  const odd = names.filter((name) => !PART.test(name));
  left.push(...odd.map((name) => `${kind}/${name}: the name is not usable`));
  return names.filter((name) => PART.test(name));
}

function jsonIn(root: string, name: string): Fields | null {
  const real = realIn(root, name);
  const text = real === null ? null : readText(real, MOST_BYTES);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {}
  throw new Error(`${join(root, name)} is not a valid JSON object.`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function serversIn({ root, left }: Parts): Record<string, Fields> {
  let config: Fields | null;
  try {
    config = jsonIn(root, "mcp.json");
  } catch (error) {
    left.push(`mcp.json: ${error instanceof Error ? error.message : error}`);
    return {};
  }
  if (config === null) return {};
  const { $schema, mcpServers, ...others } = config;
  if ($schema !== `${SCHEMA}mcp.schema.json` || !isFields(mcpServers) || Object.keys(others).length > 0) {
    left.push('mcp.json: it must have "$schema" of version 1.0.0 and "mcpServers", and nothing else');
    return {};
  }
  const usable = Object.entries(mcpServers).filter(([alias, server]) => {
    const fault = isFields(server) ? serverFault(server, root) : "it must be an object";
    if (fault !== null) left.push(`MCP server ${alias}: ${fault}`);
    return fault === null;
  });
  return Object.fromEntries(usable) as Record<string, Fields>;
}

function serverFault(server: Fields, root: string): string | null {
  const { type, command, args = [], env = {}, headers = {}, cwd, url } = server;
  const known = SERVER_KEYS[String(type)];
  if (known === undefined) return '"type" must be stdio, streamable-http or sse';
  const odd = Object.keys(server).find((key) => !known.includes(key));
  if (odd !== undefined) return `"${odd}" is unknown for ${type}`;
  const isTexts = (value: unknown) =>
    isFields(value) && Object.values(value).every((one) => typeof one === "string");
  if (!isTexts(env) || !isTexts(headers)) return '"env" and "headers" must hold strings';
  if (type !== "stdio") return urlFault(url);
  if (!Array.isArray(args) || args.some((one) => typeof one !== "string"))
    return '"args" must be a list of strings';
  if (
    typeof command !== "string" ||
    (/[/\\]/.test(command) && realIn(root, command) === null) ||
    /^(?:[/~]|$)/.test(command)
  )
    return '"command" must be a program\'s name, or begin with ./ and lie in the plugin';
  if (["PLUGIN_ROOT", "PLUGIN_DATA"].some((name) => Object.hasOwn(env as object, name)))
    return '"env" must not set PLUGIN_ROOT or PLUGIN_DATA';
  return cwd === undefined || (typeof cwd === "string" && isFolderOf(cwd))
    ? null
    : '"cwd" must lie in the plugin';
}

function isFolderOf(cwd: string): boolean {
  return /^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/.test(cwd) && !cwd.split("/").includes("..");
}

function urlFault(url: unknown): string | null {
  if (typeof url !== "string" || !URL.canParse(url)) return '"url" must be an address';
  const { protocol, hostname, username, hash } = new URL(url);
  const isHere = hostname === "localhost" || hostname === "[::1]" || /^127\.[\d.]+$/.test(hostname);
  const isFine = protocol === "https:" || (protocol === "http:" && isHere);
  return isFine && username === "" && hash === ""
    ? null
    : '"url" must be https, without a user and a fragment';
}

/** The files to be copied; links that lead out of the plugin are none of them. */
export function filesOf(root: string): string[] {
  const files: string[] = [];
  const look = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== ".git") look(path);
      else if (entry.isFile()) files.push(relative(root, path));
      if (files.length > MOST_FILES) throw new Error(`A plugin may have ${MOST_FILES} files at most.`);
    }
  };
  look(root);
  return files;
}

function fingerprintOf(root: string): string {
  const hash = createHash("sha256");
  let left = MOST_ALL_BYTES;
  for (const path of filesOf(root)) {
    const text = readText(join(root, path), left) ?? "";
    left -= text.length;
    hash.update(`${JSON.stringify(path)} ${text.length}\n${text}`);
  }
  return hash.digest("hex").slice(0, 16);
}
