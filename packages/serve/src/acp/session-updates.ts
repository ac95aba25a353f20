import { resolve } from "node:path";
import type { SessionUpdate, ToolCallContent, ToolCallStatus, ToolKind } from "@agentclientprotocol/sdk";
import type { AgentEvent, ToolKind as BurinKind, FileDiff, Part, Tool, ToolDisplay } from "@burin/core";
import { resolveToolKind as kindOfTool, readExitCode, visibleText } from "@burin/core/internal";
import { type ToolCall as Call, isAnswered } from "@burin/core/sessions";

/** Facts about the session that the events come from. */
export interface UpdateContext {
  readonly root: string;
  readonly findTool: (name: string) => Tool | undefined;
  /** true if the editor shows notices separately from the model's text. */
  readonly showsNotices: boolean;
  /** true if the editor shows a command's output in a terminal of its own. */
  readonly showsTerminals: boolean;
  /** true if the editor understands context usage updates, which the first version of the protocol did not have. */
  readonly showsUsage: boolean;
}

const KINDS: Readonly<Record<BurinKind, ToolKind>> = {
  read: "read",
  edit: "edit",
  execute: "execute",
  fetch: "fetch",
  delegate: "other",
  plan: "think",
};
const STATUSES: Readonly<Record<Call["status"], ToolCallStatus>> = {
  validating: "pending",
  awaiting_approval: "pending",
  executing: "in_progress",
  success: "completed",
  error: "failed",
  cancelled: "failed",
};

/** How many characters at the end of the last output are used to find it in the new one. */
const SEAM_CHARACTERS = 200;

/** Converts events into updates for the editor, in order. */
export class SessionUpdates {
  readonly #ground: UpdateContext;
  readonly #known = new Set<string>();
  /** The last output sent for each terminal. */
  readonly #shown = new Map<string, string>();

  constructor(ground: UpdateContext) {
    this.#ground = ground;
  }

  listUpdates(event: AgentEvent): SessionUpdate[] {
    switch (event.type) {
      case "text":
        return event.text === ""
          ? []
          : [
              createMessageChunk(
                event.role === "user" ? "user_message_chunk" : "agent_message_chunk",
                event.text,
              ),
            ];
      case "thought":
        return event.text === "" ? [] : [createMessageChunk("agent_thought_chunk", event.text)];
      case "tool_call":
        return [this.#createCallUpdate(event.call), ...buildPlan(event.call)];
      case "subagent_call":
        return [this.#createSubagentUpdate(event)];
      case "mode":
        return [{ sessionUpdate: "current_mode_update", currentModeId: event.mode }];
      case "context_fill":
        return this.#ground.showsUsage
          ? [{ sessionUpdate: "usage_update", used: event.tokens, size: event.window }]
          : [];
      case "notice":
        return [this.createNotice(event.message)];
      default:
        return [];
    }
  }

  createNotice(message: string): SessionUpdate {
    const title = visibleText(message);
    if (this.#ground.showsNotices) return { sessionUpdate: "notice", severity: "info", title };
    return createMessageChunk("agent_thought_chunk", `${title}\n\n`);
  }

  #createCallUpdate(call: Call): SessionUpdate {
    const { callId: toolCallId, name, args: rawInput, description } = call;
    const title = visibleText(description || name);
    const shown = { toolCallId, status: STATUSES[call.status], title, rawInput };
    const kind = mapKind(this.#ground.findTool(name));
    const isTerminal = this.#ground.showsTerminals && kind === "execute";
    const content = isTerminal ? buildTerminalContent(call) : buildContent(call, this.#ground.root);
    const more = {
      ...(content.length > 0 ? { content } : {}),
      ...this.#buildLocations(call),
      ...(isTerminal ? { _meta: this.#buildTerminalFields(call) } : {}),
    };
    if (this.#known.has(toolCallId)) return { sessionUpdate: "tool_call_update", ...shown, ...more };
    this.#known.add(toolCallId);
    return { sessionUpdate: "tool_call", ...shown, ...more, kind };
  }

  /** An extension that editors have agreed on, for commands that an agent runs itself. */
  #buildTerminalFields(call: Call): Record<string, unknown> {
    const { callId: terminal_id, args } = call;
    const text = readOutput(call);
    const data = text === null ? "" : visibleText(findAddedText(this.#shown.get(terminal_id) ?? "", text));
    if (text !== null) this.#shown.set(terminal_id, text);
    if (isAnswered(call)) this.#shown.delete(terminal_id);
    const cwd = resolve(this.#ground.root, typeof args.directory === "string" ? args.directory : ".");
    const exit_code = call.status === "success" ? readExitCode(call.llmContent) : null;
    return {
      ...(this.#known.has(terminal_id) ? {} : { terminal_info: { terminal_id, cwd } }),
      ...(data === "" ? {} : { terminal_output: { terminal_id, data } }),
      ...(isAnswered(call) ? { terminal_exit: { terminal_id, exit_code, signal: null } } : {}),
    };
  }

  /** Creates the update about a subagent's call. The editor sees the call, but only the subagent gets the result. */
  #createSubagentUpdate({ agent, call }: Extract<AgentEvent, { type: "subagent_call" }>): SessionUpdate {
    const { callId: toolCallId, status, name, description } = call;
    const title = visibleText(`${agent}: ${description || name}`);
    const shown = { toolCallId, title, status: STATUSES[status] };
    if (this.#known.has(toolCallId)) return { sessionUpdate: "tool_call_update", ...shown };
    this.#known.add(toolCallId);
    return { sessionUpdate: "tool_call", ...shown, kind: mapKind(this.#ground.findTool(name)) };
  }

  /** Locations let the editor follow along. A call without a description has invalid arguments. */
  #buildLocations({ name, args, description }: Call) {
    const tool = this.#ground.findTool(name);
    if (description === "" || (tool?.kind !== "read" && tool?.kind !== "edit")) return {};
    const paths = tool.ruleSubjects?.(args) ?? [];
    return { locations: paths.map((path) => ({ path: resolve(this.#ground.root, path) })) };
  }
}

export function createMessageChunk(
  sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text } };
}

function mapKind(tool: Tool | undefined): ToolKind {
  return tool === undefined ? "other" : KINDS[kindOfTool(tool)];
}

function buildContent(call: Call, root: string): ToolCallContent[] {
  if (call.status === "awaiting_approval") {
    return call.confirmation.kind === "edit" ? buildDiffContent(call.confirmation.diff, root) : [];
  }
  if (call.status === "executing") return buildDisplayContent(call.display ?? "", root);
  if (call.status === "validating") return [];
  if (call.status !== "success") return buildTextContent(call.error.message);
  const media = [call.llmContent]
    .flat()
    .flatMap((part) => (typeof part === "string" ? [] : buildImageContent(part)));
  return [...buildDisplayContent(call.returnDisplay, root), ...media];
}

function buildTerminalContent(call: Call): ToolCallContent[] {
  if (call.status === "validating" || call.status === "awaiting_approval") return [];
  const failure = call.status === "error" || call.status === "cancelled" ? call.error.message : "";
  return [{ type: "terminal", terminalId: call.callId }, ...buildTextContent(failure)];
}

/** Returns null when there is no text to show. */
function readOutput(call: Call): string | null {
  const display = call.status === "executing" ? call.display : "";
  const shown = call.status === "success" ? call.returnDisplay : display;
  return typeof shown === "string" && shown !== "" ? shown : null;
}

/** Finds what was appended to a text of which only the end is known. */
function findAddedText(before: string, now: string): string {
  if (now.startsWith(before)) return now.slice(before.length);
  const seam = before.slice(-SEAM_CHARACTERS);
  const at = now.indexOf(seam);
  return at === -1 ? `\n[...]\n${now}` : now.slice(at + seam.length);
}

function buildDisplayContent(display: ToolDisplay, root: string): ToolCallContent[] {
  if (typeof display === "string") return buildTextContent(display);
  if (display.kind === "file_diff") return buildDiffContent(display, root);
  return display.kind === "progress" ? buildTextContent(display.lines.join("\n")) : [];
}

export function buildTextContent(text: string): ToolCallContent[] {
  return text === "" ? [] : [{ type: "content", content: { type: "text", text: visibleText(text) } }];
}

function buildImageContent({ inlineData: { data, mimeType } = {} }: Part): ToolCallContent[] {
  if (data === undefined || !mimeType?.startsWith("image/")) return [];
  return [{ type: "content", content: { type: "image", data, mimeType } }];
}

/**
 * Builds the content of a diff. For a file too large to show in full, the contents are only a part, which the editor
 * would take for the whole.
 */
export function buildDiffContent(diff: FileDiff, root: string): ToolCallContent[] {
  if (diff.firstLine !== undefined) return buildTextContent(diff.fileDiff);
  const path = resolve(root, diff.fileName);
  return [{ type: "diff", path, oldText: diff.originalContent, newText: diff.newContent }];
}

function buildPlan(call: Call): SessionUpdate[] {
  if (call.status !== "success" || typeof call.returnDisplay === "string") return [];
  if (call.returnDisplay.kind !== "todo_list") return [];
  const { todos } = call.returnDisplay;
  const entries = todos.map(({ content, status }) => ({ content, status, priority: "medium" as const }));
  return [{ sessionUpdate: "plan", entries }];
}
