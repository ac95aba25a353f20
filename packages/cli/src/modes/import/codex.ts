import { join } from "node:path";
import type { InlineData } from "@burin/core";
import { addRules } from "./foreign-rules.ts";
import { addCodexServers } from "./foreign-servers.ts";
import { type Fields, Found, fields, list, type Places, type Step, type Talk, text, texts } from "./found.ts";
import { filesBelow, linesOf, settingsIn, textOf } from "./read-files.ts";

const TAKEN = new Set([
  "mcp_servers",
  "model",
  "model_provider",
  "model_providers",
  "project_doc_fallback_filenames",
]);
/** What the program itself says in the user's place. */
const NOT_SAID =
  /^\s*(?:<(?:environment_context|user_instructions|INSTRUCTIONS|turn_aborted|skill|permissions|user_shell_command)\b|# AGENTS\.md)/;
const DECISIONS: Readonly<Record<string, "allow" | "ask" | "deny">> = {
  allow: "allow",
  prompt: "ask",
  forbidden: "deny",
};
const MOST_FIRST_LINE = 1024 * 1024;

/** What Codex has: `~/.codex`. */
export function readCodex({ folder, root }: Places): Found {
  const found = new Found();
  const settings = settingsIn(join(folder, "config.toml"), found);
  addCodexServers(found, settings.mcp_servers);
  addModel(found, settings);
  const names = texts(settings.project_doc_fallback_filenames);
  if (names.length > 0)
    found.settings.push({ path: ["context", "fileNames"], value: ["AGENTS.md", ...names] });
  for (const key of Object.keys(settings))
    if (!TAKEN.has(key)) found.leave(`setting ${key}`, "Burin has no such setting");
  for (const file of filesBelow(join(folder, "rules"), /\.rules$/))
    addPrefixRules(found, textOf(file, found) ?? "");
  const memory = textOf(join(folder, "AGENTS.md"), found);
  if (memory !== null) found.memories.push({ file: join(folder, "AGENTS.md"), text: memory });
  for (const file of filesBelow(join(folder, "sessions"), /^rollout-.*\.jsonl$/)) {
    const id = file.slice(-42, -".jsonl".length);
    const read = () => linesOf(textOf(file, found) ?? "");
    if (isOf(root, file, found)) found.sessions.push({ id, file, read: () => talkIn(read()) });
  }
  return found;
}

function isOf(root: string, file: string, found: Found): boolean {
  const source = textOf(file, found) ?? "";
  const [first = {}] = linesOf(source.slice(0, Math.min(source.indexOf("\n"), MOST_FIRST_LINE)));
  return fields(first.payload).cwd === root;
}

/** A service of the user's own; what an account opens is left to Burin's settings. */
function addModel(found: Found, { model, model_provider, model_providers }: Fields): void {
  const { base_url, env_key, wire_api } = fields(fields(model_providers)[text(model_provider)]);
  if (typeof model !== "string") return;
  if (typeof base_url !== "string") {
    found.leave(`model ${model}`, "name it with its service: see docs/models.md");
    return;
  }
  const provider = wire_api === "chat" ? "openai" : "openai-responses";
  const key = typeof env_key === "string" ? { apiKeyEnv: env_key } : {};
  found.settings.push({ path: ["model"], value: { provider, name: model, baseUrl: base_url, ...key } });
}

/** `prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "prompt")`, with words alone. */
function addPrefixRules(found: Found, source: string): void {
  for (const [whole, inner = ""] of source.matchAll(/^prefix_rule\(([\s\S]*?)\)[ \t]*(?:#.*)?$/gm)) {
    const [, pattern = ""] = /pattern\s*=\s*(\[(?:[^[\]]|\[[^[\]]*\])*\])/.exec(inner) ?? [];
    const [, decision = "allow"] = /decision\s*=\s*"(\w+)"/.exec(inner) ?? [];
    const named = DECISIONS[decision];
    const commands = commandsOf(pattern);
    if (named === undefined || commands === null)
      found.leave(whole.split("\n").join(" "), "it is not a list of words");
    else addRules(found, { [named]: commands.map((words) => `Bash(${words}:*)`) });
  }
}

function commandsOf(pattern: string): string[] | null {
  try {
    const words = list(JSON.parse(pattern.replace(/,\s*\]/g, "]"))).map((one) =>
      Array.isArray(one) ? texts(one) : [text(one)],
    );
    if (words.length === 0 || words.flat().some((word) => !/^[\w./:@=+-]+$/.test(word))) return null;
    return words.reduce<string[]>(
      (all, next) => all.flatMap((one) => next.map((word) => `${one} ${word}`.trim())),
      [""],
    );
  } catch {
    return null;
  }
}

function talkIn(lines: readonly Fields[]): Talk {
  let model = "";
  let steps: Step[] = [];
  for (const { type, timestamp, payload: given } of lines) {
    const payload = fields(given);
    const at = text(timestamp);
    if (type === "turn_context") model = text(payload.model) || model;
    if (type === "response_item") steps.push(...stepsOf(payload, at));
    if (type === "compacted") steps = compacted(payload, at);
    if (payload.type === "thread_rolled_back") steps = withoutTurns(steps, Number(payload.num_turns));
  }
  return { model, steps };
}

function compacted({ message, replacement_history: history }: Fields, at: string): Step[] {
  const kept = list(history).flatMap((item) => stepsOf(fields(item), at));
  return kept.length > 0 || text(message) === "" ? kept : [{ at, kind: "user", text: text(message) }];
}

function withoutTurns(steps: readonly Step[], count: number): Step[] {
  const begins = steps.flatMap(({ kind }, index) => (kind === "user" ? [index] : []));
  return count > 0 ? steps.slice(0, begins.at(-count) ?? 0) : [...steps];
}

function stepsOf(item: Fields, at: string): Step[] {
  const id = text(item.call_id);
  switch (item.type) {
    case "message":
      return saidIn(item, at);
    case "function_call":
      return [{ at, kind: "call", id, name: text(item.name), args: argumentsIn(item.arguments) }];
    case "custom_tool_call":
      return [{ at, kind: "call", id, name: text(item.name), args: { input: item.input } }];
    case "local_shell_call":
      return [{ at, kind: "call", id, name: "local_shell", args: { command: fields(item.action).command } }];
    case "function_call_output":
    case "custom_tool_call_output":
      return [
        {
          at,
          kind: "answer",
          id,
          text: outputIn(item.output),
          isError: fields(item.output).success === false,
        },
      ];
    default:
      return [];
  }
}

function saidIn({ role, content }: Fields, at: string): Step[] {
  if (role !== "user" && role !== "assistant") return [];
  const parts = list(content).map(fields);
  const words = parts
    .map((part) => text(part.text))
    .filter((said) => role === "assistant" || !NOT_SAID.test(said));
  const media = parts.flatMap((part) => imageIn(part.image_url));
  if (words.join("") === "" && media.length === 0) return [];
  return [{ at, kind: role === "user" ? "user" : "model", text: words.join("\n"), media }];
}

function imageIn(url: unknown): InlineData[] {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.+)$/s.exec(text(url)) ?? [];
  return mimeType === undefined || data === undefined ? [] : [{ mimeType, data }];
}

function argumentsIn(written: unknown): Fields {
  try {
    return fields(JSON.parse(text(written)));
  } catch {
    return { arguments: written };
  }
}

function outputIn(output: unknown): string {
  if (typeof output === "string") return output;
  const parts = Array.isArray(output) ? output : [fields(output).content].flat();
  return parts.map((part) => (typeof part === "string" ? part : text(fields(part).text))).join("\n");
}
