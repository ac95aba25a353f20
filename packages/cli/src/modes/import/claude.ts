import { join } from "node:path";
import type { InlineData } from "@burin/core";
import { addRules } from "./foreign-rules.ts";
import { addServers } from "./foreign-servers.ts";
import { type Fields, Found, fields, list, type Places, type Step, type Talk, text } from "./found.ts";
import { filesBelow, linesOf, settingsIn, textOf } from "./read-files.ts";

const TAKEN = new Set(["permissions", "$schema"]);
/** What the program itself says in the user's place. */
const NOT_SAID = /^\s*<(?:command-|local-command-|bash-)/;
const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>\s*/g;

/** What Claude Code has: `~/.claude`, `~/.claude.json`, and the user's own rules in the project. */
export function readClaude({ folder, userHome, root, withProject }: Places): Found {
  const found = new Found();
  const settings = settingsIn(join(folder, "settings.json"), found);
  addPermissions(found, settings.permissions, false);
  for (const key of Object.keys(settings)) if (!TAKEN.has(key)) found.leave(`setting ${key}`, whyLeft(key));
  const state = settingsIn(join(userHome, ".claude.json"), found);
  addServers(found, state.mcpServers);
  const project = fields(fields(state.projects)[root]);
  addRules(found, { allow: project.allowedTools }, true);
  for (const alias of Object.keys(fields(project.mcpServers)))
    found.leave(`MCP server ${alias} of this folder`, "add it with burin mcp add --scope project");
  const ownRules = join(root, ".claude", "settings.local.json");
  if (withProject) addPermissions(found, settingsIn(ownRules, found).permissions, true);
  else if (textOf(ownRules, found) !== null)
    found.leave(ownRules, "it lies in the project: add --project to take it");
  const memory = textOf(join(folder, "CLAUDE.md"), found);
  if (memory !== null) found.memories.push({ file: join(folder, "CLAUDE.md"), text: memory });
  const sessions = join(folder, "projects", root.replace(/[^A-Za-z0-9]/g, "-"));
  for (const file of filesBelow(join(sessions, "memory"), /\.md$/))
    found.leave(file, "what it learned of this folder; copy what you need into AGENTS.md");
  for (const file of filesBelow(sessions, /^[0-9a-f-]{36}\.jsonl$/, 0)) {
    const id = file.slice(-42, -".jsonl".length);
    found.sessions.push({ id, file, read: () => talkIn(linesOf(textOf(file, found) ?? ""), root) });
  }
  return found;
}

function addPermissions(found: Found, given: unknown, isOfProject: boolean): void {
  const { defaultMode, additionalDirectories, ...permissions } = fields(given);
  addRules(found, permissions, isOfProject);
  if (typeof defaultMode === "string" && defaultMode !== "default")
    found.leave(`permissions.defaultMode ${defaultMode}`, "give --approval-mode with each start");
  if (list(additionalDirectories).length > 0)
    found.leave("permissions.additionalDirectories", "give --include-directories with each start");
}

function whyLeft(key: string): string {
  if (key === "hooks")
    return "its hooks are told other things in other ways: see docs/hooks-skills-commands.md";
  if (key === "model") return "name a model of a service: see docs/models.md";
  if (key === "env") return "Burin's settings set no variables";
  return "Burin has no such setting";
}

/** The branch that was gone on with last; what was taken back, and what subagents said, is left out. */
function talkIn(lines: readonly Fields[], root: string): Talk {
  const own = lines.filter(({ isSidechain, uuid }) => isSidechain !== true && typeof uuid === "string");
  if (!own.some(({ cwd }) => cwd === root)) return { model: "", steps: [] };
  const kept = branchOf(own);
  const messages = new Set(own.filter((line) => kept.has(line)).map(messageId));
  messages.delete(undefined);
  const isKept = (line: Fields) => kept.has(line) || messages.has(messageId(line)) || isAnswer(line);
  const steps = own.filter(isKept).flatMap(stepsOf);
  const model = own.map(({ message }) => text(fields(message).model)).findLast((name) => name !== "");
  return { model: model ?? "", steps };
}

/** Calls that were made side by side are lines of one message, and only one of them is on the way from the end. */
function messageId({ type, message }: Fields): unknown {
  return type === "assistant" ? fields(message).id : undefined;
}

/** An answer to a call that is left out is left out with it. */
function isAnswer({ message }: Fields): boolean {
  return list(fields(message).content).some((block) => fields(block).type === "tool_result");
}

export function branchOf(lines: readonly Fields[]): ReadonlySet<Fields> {
  const byId = new Map(lines.map((line) => [line.uuid, line]));
  const kept = new Set<Fields>();
  let line = lines.findLast(({ type }) => type === "user" || type === "assistant" || type === "tool_result");
  while (line !== undefined && !kept.has(line)) {
    kept.add(line);
    line = byId.get(line.parentUuid);
  }
  return kept;
}

function stepsOf({ type, message, timestamp, isMeta, isApiErrorMessage }: Fields): Step[] {
  if ((type !== "user" && type !== "assistant") || isMeta === true || isApiErrorMessage === true) return [];
  const at = text(timestamp);
  const { content } = fields(message);
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : list(content).map(fields);
  return blocks.flatMap((block): Step[] => {
    const { type: kind, text: said, id, name, input, tool_use_id, is_error } = block as Fields;
    if (kind === "tool_use")
      return [{ at, kind: "call", id: text(id), name: text(name), args: fields(input) }];
    if (kind === "tool_result")
      return [{ at, kind: "answer", id: text(tool_use_id), ...answerIn(block), isError: is_error === true }];
    const image = imageIn(block);
    if (image !== null) return [{ at, kind: "user", text: "", media: [image] }];
    const words = text(said).replace(REMINDER, "");
    if (kind !== "text" || words.trim() === "" || (type === "user" && NOT_SAID.test(words))) return [];
    return [{ at, kind: type === "user" ? "user" : "model", text: words }];
  });
}

function answerIn({ content }: Fields): { readonly text: string; readonly media: InlineData[] } {
  if (typeof content === "string") return { text: content.replace(REMINDER, ""), media: [] };
  const blocks = list(content).map(fields);
  const words = blocks
    .map(({ text: said }) => text(said).replace(REMINDER, ""))
    .filter((said) => said !== "");
  return { text: words.join("\n"), media: blocks.flatMap((block) => imageIn(block) ?? []) };
}

function imageIn({ type, source }: Fields): InlineData | null {
  const { type: kind, data, media_type: mimeType } = fields(source);
  if ((type !== "image" && type !== "document") || kind !== "base64") return null;
  return { data: text(data), mimeType: text(mimeType) };
}
