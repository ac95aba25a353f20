import { stableJson } from "@burin/contract/messages/untrusted-json";
import type { McpServerSettings } from "@burin/contract/settings/tool-sources";

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\$(?:\{([A-Za-z_]\w*)(?::-([^}]*))?\}|([A-Za-z_]\w*)|\{[A-Za-z_]\w*:-[^}]*$)/g;

/**
 * The text with `${NAME}`, `${NAME:-default}` and `$NAME` replaced. Throws when a variable is not set: a server
 * without its key would fail later, with a less clear message. Only a `$NAME` inside other text stays as it is
 * then, because it may not be a variable.
 */
export function expandVariables(text: string, environment: Environment, where: string): string {
  return text.replace(VARIABLE, (all: string, ...found: (string | undefined)[]) => {
    const [braced, fallback, bare] = found;
    const name = braced ?? bare ?? "";
    const value = environment[name] || fallback;
    if (value !== undefined) return value;
    if (name === "" || (braced === undefined && all !== text)) return all;
    throw new Error(`${where} needs the environment variable ${name}, which is not set`);
  });
}

export function expandEach(
  values: Readonly<Record<string, string>>,
  environment: Environment,
  where: string,
): Record<string, string> {
  const expand = (name: string, value: string) => expandVariables(value, environment, `${where} ${name}`);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, expand(name, value)]));
}

/** Identifies a server: another command, address, folder or variable is another server. */
export function definitionHash(definition: McpServerSettings): string {
  const { command, args, env, cwd, url, type, headers } = definition;
  return hashOf({ command, args, env, cwd, url, type, headers });
}

/** The same for equal values, whatever the order of their keys, and so long that nobody can find two that share it. */
export function hashOf(value: unknown): string {
  // Not with the import: the library's classes load with it.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(stableJson(value)).digest("hex").slice(0, 32);
}
