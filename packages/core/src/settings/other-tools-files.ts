import { createHash } from "node:crypto";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { orElse } from "@burin/contract/or-else";
import { MOST_SETTINGS_BYTES } from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { readText } from "@burin/machine/disk/regular-file";
import { MODEL_VARIABLES } from "@burin/models/choice/choose-model";
import { parseLayer } from "./parse-layer.ts";

export interface OfferedServers {
  /** In the form of `mcpServers` in the settings. */
  readonly servers: object;
  /** Why the file was not read. */
  readonly faults: readonly string[];
}

/** The servers of `.mcp.json`, which several agents share; null without the file. A broken file is only reported. */
export function readServers(root: string): OfferedServers | null {
  const file = join(root, ".mcp.json");
  try {
    const text = readText(file, MOST_SETTINGS_BYTES);
    if (text === null) return null;
    const { mcpServers = {} } = parseLayer(file, text) as { mcpServers?: object };
    return { servers: mcpServers, faults: [] };
  } catch (error) {
    return { servers: {}, faults: [`${messageOf(error)} No server of it is used.`] };
  }
}

export interface OfferedVariables {
  readonly values: Readonly<Record<string, string>>;
  /** One sentence without a subject for each. A key is shown only as a fingerprint. */
  readonly effects: readonly string[];
}

/** The variables about models in `.env`; all others are ignored. */
export function readModelVariables(root: string): OfferedVariables {
  const named = Object.entries(parsedVariables(join(root, ".env"))).filter(([name]) =>
    MODEL_VARIABLES.has(name),
  );
  const effects = named.map(([name, value]) => `ask the model with ${name} of .env (${shown(name, value)})`);
  return { values: Object.fromEntries(named), effects };
}

function parsedVariables(file: string): Record<string, string> {
  return orElse({}, () => parseEnv(readText(file, MOST_SETTINGS_BYTES) ?? "") as Record<string, string>);
}

function shown(name: string, value: string): string {
  if (!/KEY|TOKEN/.test(name)) return JSON.stringify(value);
  return `text ${createHash("sha256").update(value).digest("hex").slice(0, 32)}`;
}
