import { stringifySorted } from "@burin/contract/messages/untrusted-json";
import type { McpServerSettings } from "@burin/contract/settings/tool-sources";

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\$(?:\{([A-Za-z_]\w*)(?::-([^}]*))?\}|([A-Za-z_]\w*)|\{[A-Za-z_]\w*:-[^}]*$)/g;

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `$NAME`. Throws if a variable is not set, because a server without its key
 * would fail later with a less clear message. The exception is `$NAME` inside other text: it stays as it is, because it
 * may not be a variable.
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

export function expandVariablesInValues(
  values: Readonly<Record<string, string>>,
  environment: Environment,
  where: string,
): Record<string, string> {
  const expand = (name: string, value: string) => expandVariables(value, environment, `${where} ${name}`);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, expand(name, value)]));
}

/** Returns a hash that identifies a server: a different command, address, folder or variable means another server. */
export function hashDefinition(definition: McpServerSettings): string {
  const { command, args, env, cwd, url, type, headers } = definition;
  return hashText({ command, args, env, cwd, url, type, headers });
}

/** Hashes a value, independent of the order of its keys. The hash is long enough to rule out collisions. */
export function hashText(value: unknown): string {
  // Not imported at the top, because the library's classes load this module.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(stringifySorted(value)).digest("hex").slice(0, 32);
}
