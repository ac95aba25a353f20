import { createHash } from "node:crypto";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { orElse } from "@burin/contract/or-else";
import { MOST_SETTINGS_BYTES } from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { readText } from "@burin/machine/disk/regular-file";
import { MODEL_VARIABLES } from "@burin/models/choice/choose-model";
import { parseLayer } from "./parse-layer.ts";

/** The servers of `.mcp.json`, which several agents share; null without the file. A broken file is only reported. */
export function readServers(root: string): { servers: object; faults: string[] } | null {
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

/** The variables about models in `.env`, each with a sentence about it that shows a key only as a fingerprint. */
export function readModelVariables(root: string) {
  const all = orElse({}, () => parseEnv(readText(join(root, ".env"), MOST_SETTINGS_BYTES) ?? ""));
  const named = Object.entries(all as Record<string, string>).filter(([name]) => MODEL_VARIABLES.has(name));
  const effects = named.map(([name, value]) => `ask the model with ${name} of .env (${shown(name, value)})`);
  return { values: Object.fromEntries(named), effects };
}

function shown(name: string, value: string): string {
  if (!/KEY|TOKEN/.test(name)) return JSON.stringify(value);
  return `text ${createHash("sha256").update(value).digest("hex").slice(0, 32)}`;
}
