import { createHash } from "node:crypto";
import { stableJson } from "@burin/contract/messages/plain-json";
import type { McpServerSettings } from "@burin/contract/settings/tool-sources";

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|([A-Za-z_][A-Za-z0-9_]*))/g;

/**
 * The text with `${NAME}`, `${NAME:-default}` and `$NAME` replaced. Throws when a variable is not set: a server
 * that is started without its key fails later and in stranger words. Only a `$NAME` amid other text stays as it
 * is then, because it may be no variable at all.
 */
export function expanded(text: string, environment: Environment, where: string): string {
  return text.replace(VARIABLE, (all: string, ...found: (string | undefined)[]) => {
    const [braced, fallback, bare] = found;
    const name = braced ?? bare ?? "";
    const value = environment[name] || fallback;
    if (value !== undefined) return value;
    if (braced === undefined && all !== text) return all;
    throw new Error(`${where} needs the environment variable ${name}, which is not set`);
  });
}

export function expandedValues(
  values: Readonly<Record<string, string>>,
  environment: Environment,
  where: string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, expanded(value, environment, `${where} ${name}`)]),
  );
}

/** Names one server for good: another command, address, folder or variable is another server. */
export function definitionHash(definition: McpServerSettings): string {
  const { command, args, env, cwd, url, type, headers } = definition;
  return hashOf({ command, args, env, cwd, url, type, headers });
}

/** The same for everything that is equal, in whatever order its keys stand. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(stableJson(value)).digest("hex").slice(0, 16);
}
