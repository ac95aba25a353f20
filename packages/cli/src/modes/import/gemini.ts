import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import type { InlineData } from "@burin/core";
import { branchOf } from "./claude.ts";
import { addRules } from "./foreign-rules.ts";
import { addServers } from "./foreign-servers.ts";
import { ownToolName } from "./foreign-tools.ts";
import { type Fields, Found, fields, list, type Places, type Step, type Talk, text, texts } from "./found.ts";
import { filesBelow, linesOf, settingsIn, textOf } from "./read-files.ts";

const TAKEN = new Set([
  "mcpServers",
  "permissions",
  "model",
  "context",
  "tools",
  "security",
  "$version",
  "$schema",
]);
const NOT_SAID = /^\s*<session_context>/;
const DECISIONS: Readonly<Record<string, "allow" | "ask" | "deny">> = {
  allow: "allow",
  ask_user: "ask",
  deny: "deny",
};

/** What Gemini CLI has: `~/.gemini`. */
export function readGemini(places: Places): Found {
  const found = readShared(places, "GEMINI.md");
  const { folder, root } = places;
  for (const file of filesBelow(join(folder, "policies"), /\.toml$/))
    addPolicies(found, settingsIn(file, found));
  const project = fields(settingsIn(join(folder, "projects.json"), found).projects)[root];
  const names = [text(project), createHash("sha256").update(root).digest("hex")].filter(
    (name) => name !== "",
  );
  for (const name of names) addChats(found, join(folder, "tmp", name, "chats"));
  return found;
}

/** What Qwen Code has: `~/.qwen`. */
export function readQwen(places: Places): Found {
  const found = readShared(places, "QWEN.md");
  const { folder, root } = places;
  const chats = join(folder, "projects", root.replace(/[^A-Za-z0-9]/g, "-"), "chats");
  for (const file of filesBelow(chats, /\.jsonl$/, 0)) {
    const read = () => talkOfLines(linesOf(textOf(file, found) ?? ""), root);
    found.sessions.push({ id: basename(file, ".jsonl"), file, read });
  }
  addChats(found, join(folder, "tmp", createHash("sha256").update(root).digest("hex"), "chats"));
  return found;
}

function readShared({ folder }: Places, memoryName: string): Found {
  const found = new Found();
  const settings = settingsIn(join(folder, "settings.json"), found);
  addServers(found, settings.mcpServers);
  addTools(found, fields(settings.tools));
  addRules(found, fields(settings.permissions));
  const { fileName } = fields(settings.context);
  const names = typeof fileName === "string" ? [fileName] : texts(fileName);
  if (names.length > 0)
    found.settings.push({ path: ["context", "fileNames"], value: [...new Set(["AGENTS.md", ...names])] });
  addModel(found, settings);
  for (const key of Object.keys(settings))
    if (!TAKEN.has(key)) found.leave(`setting ${key}`, "Burin has no such setting");
  for (const name of [...new Set([memoryName, ...names])]) {
    const memory = textOf(join(folder, basename(name)), found);
    if (memory !== null) found.memories.push({ file: join(folder, basename(name)), text: memory });
  }
  return found;
}

function addTools(found: Found, { allowed, exclude, core, ...others }: Fields): void {
  addRules(found, { allow: allowed });
  const [wholly, partly] = [
    texts(exclude).filter((name) => !name.includes("(")),
    texts(exclude).filter((name) => name.includes("(")),
  ];
  addRules(found, { deny: partly });
  const excluded = wholly.map((name) => ownToolName(name) ?? name);
  if (excluded.length > 0) found.settings.push({ path: ["tools", "exclude"], value: excluded });
  if (texts(core).length > 0) found.leave("setting tools.core", "name the tools in tools.include");
  for (const key of Object.keys(others)) found.leave(`setting tools.${key}`, "Burin has no such setting");
}

function addModel(found: Found, settings: Fields): void {
  const { name } = fields(settings.model);
  const { selectedType, apiKey, baseUrl } = fields(fields(settings.security).auth);
  if (typeof name !== "string") return;
  const provider = selectedType === "openai" ? "openai" : "gemini";
  if (provider === "openai" && typeof baseUrl !== "string")
    found.leave(`model ${name}`, "name it with its service: see docs/models.md");
  else
    found.settings.push({
      path: ["model"],
      value: { provider, name, ...(typeof baseUrl === "string" ? { baseUrl } : {}) },
    });
  if (apiKey !== undefined)
    found.leave("security.auth.apiKey", "keys are not copied: set the variable of the service");
}

/** Rules of the policy engine that name a tool, and for commands how they begin. */
function addPolicies(found: Found, { rule }: Fields): void {
  for (const one of list(rule).map(fields)) {
    const { toolName, commandPrefix, decision, priority: _, ...conditions } = one;
    const named = DECISIONS[text(decision)];
    if (named === undefined || toolName === undefined || Object.keys(conditions).length > 0) {
      found.leave(`policy ${JSON.stringify(one)}`, "it has conditions that a rule of Burin cannot have");
      continue;
    }
    const prefixes = commandPrefix === undefined ? [null] : [commandPrefix].flat().map(String);
    const tools = [toolName].flat().map(String);
    const rules = tools.flatMap((tool) =>
      prefixes.map((prefix) => (prefix === null ? tool : `${tool}(${prefix.trim()}:*)`)),
    );
    addRules(found, { [named]: rules });
  }
}

function addChats(found: Found, folder: string): void {
  for (const file of filesBelow(folder, /^session-.*\.jsonl?$/, 0)) {
    const id = basename(file).replace(/\.jsonl?$/, "");
    found.sessions.push({ id, file, read: () => talkOfChat(file, textOf(file, found) ?? "") });
  }
}

/** A record that is rewritten as it grows: a message of the same id takes the place of the one before. */
function talkOfChat(file: string, source: string): Talk {
  const messages = new Map<unknown, Fields>();
  const lines = file.endsWith(".json") ? [safeObject(source)] : linesOf(source);
  if (lines.some(({ kind }) => kind === "subagent")) return { model: "", steps: [] };
  for (const line of lines) {
    const all = line.messages ?? fields(line.$set).messages;
    if (all !== undefined) messages.clear();
    for (const message of list(all).map(fields)) messages.set(message.id, message);
    if (line.type !== undefined) messages.set(line.id, line);
    if (line.$rewindTo !== undefined) {
      const ids = [...messages.keys()];
      for (const id of ids.slice(ids.indexOf(line.$rewindTo))) messages.delete(id);
    }
  }
  const kept = [...messages.values()];
  const model = kept.map((message) => text(message.model)).findLast((name) => name !== "") ?? "";
  return { model, steps: kept.flatMap(stepsOfMessage) };
}

function safeObject(source: string): Fields {
  try {
    return fields(JSON.parse(source));
  } catch {
    return {};
  }
}

function stepsOfMessage({ type, content, timestamp, toolCalls }: Fields): Step[] {
  const at = text(timestamp);
  const parts = typeof content === "string" ? [{ text: content }] : [content].flat().map(fields);
  if (type === "user")
    return partSteps(
      parts.filter(({ functionResponse }: Fields) => functionResponse === undefined),
      "user",
      at,
    );
  if (type !== "gemini" && type !== "qwen") return [];
  const calls = list(toolCalls).map(fields);
  const asked = calls.map(
    (call): Step => ({ at, kind: "call", id: text(call.id), name: text(call.name), args: fields(call.args) }),
  );
  const answers = calls.map(({ id, result, status }): Step => {
    const { text: said, media } = responseIn(list(result).map(fields));
    return { at, kind: "answer", id: text(id), text: said, media, isError: status !== "success" };
  });
  return [...partSteps(parts, "model", at), ...asked, ...answers];
}

/** Records whose lines are messages of the protocol, each with the one before it. */
function talkOfLines(lines: readonly Fields[], root: string): Talk {
  if (!lines.some(({ cwd }) => cwd === root)) return { model: "", steps: [] };
  const kept = branchOf(lines);
  let steps: Step[] = [];
  for (const { type, subtype, message, systemPayload, timestamp } of lines.filter((line) => kept.has(line))) {
    const at = text(timestamp);
    if (subtype === "chat_compression") {
      const history = list(fields(systemPayload).compressedHistory).map(fields);
      steps = history.flatMap(({ role, parts }) =>
        partSteps(list(parts).map(fields), role === "model" ? "model" : "user", at),
      );
    } else if (type === "user" || type === "assistant" || type === "tool_result") {
      steps.push(
        ...partSteps(list(fields(message).parts).map(fields), type === "assistant" ? "model" : "user", at),
      );
    }
  }
  const model = lines.map((line) => text(line.model)).findLast((name) => name !== "") ?? "";
  return { model, steps };
}

function partSteps(parts: readonly Fields[], kind: "user" | "model", at: string): Step[] {
  return parts.flatMap((part): Step[] => {
    const { functionCall, functionResponse, inlineData, thought } = part;
    if (functionCall !== undefined) {
      const { id, name, args } = fields(functionCall);
      return [{ at, kind: "call", id: text(id), name: text(name), args: fields(args) }];
    }
    if (functionResponse !== undefined) {
      const { error } = fields(fields(functionResponse).response);
      return [
        {
          at,
          kind: "answer",
          id: text(fields(functionResponse).id),
          ...responseIn([part]),
          isError: error !== undefined,
        },
      ];
    }
    if (inlineData !== undefined) return [{ at, kind, text: "", media: [inlineData as InlineData] }];
    const said = text(part.text);
    return thought === true || said === "" || NOT_SAID.test(said) ? [] : [{ at, kind, text: said }];
  });
}

function responseIn(parts: readonly Fields[]): { readonly text: string; readonly media: InlineData[] } {
  const said = parts.map(({ functionResponse, text: words }) => {
    const { output, error } = fields(fields(functionResponse).response);
    return text(output ?? error) || text(words);
  });
  const media = parts.flatMap(({ inlineData }) =>
    inlineData === undefined ? [] : [inlineData as InlineData],
  );
  return { text: said.filter((one) => one !== "").join("\n"), media };
}
