import { resolve } from "node:path";
import type { SessionUpdate, ToolCallContent, ToolCallStatus, ToolKind } from "@agentclientprotocol/sdk";
import type { AgentEvent, ToolKind as BurinKind, FileDiff, Part, Tool, ToolDisplay } from "@burin/core";
import { exitCodeIn, kindOf as kindOfTool, visibleText } from "@burin/core/internal";
import { type ToolCall as Call, isAnswered } from "@burin/core/sessions";

/** Facts about the session that the events come from. */
export interface UpdateGround {
  readonly root: string;
  readonly toolOf: (name: string) => Tool | undefined;
  /** The editor shows notices separately from the model's text. */
  readonly showsNotices: boolean;
  /** The editor shows a command's output in a terminal of its own. */
  readonly showsTerminals: boolean;
  /** The editor knows updates of how full the window is; the first version of the protocol had none. */
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
const SEAM = 200;

/** Converts events into updates for the editor, in order. */
export class SessionUpdates {
  readonly #ground: UpdateGround;
  readonly #known = new Set<string>();
  /** The last output sent for each terminal. */
  readonly #shown = new Map<string, string>();

  constructor(ground: UpdateGround) {
    this.#ground = ground;
  }

  of(event: AgentEvent): SessionUpdate[] {
    switch (event.type) {
      case "text":
        return event.text === ""
          ? []
          : [said(event.role === "user" ? "user_message_chunk" : "agent_message_chunk", event.text)];
      case "thought":
        return event.text === "" ? [] : [said("agent_thought_chunk", event.text)];
      case "tool_call":
        return [this.#call(event.call), ...planOf(event.call)];
      case "subagent_call":
        return [this.#subagentCall(event)];
      case "mode":
        return [{ sessionUpdate: "current_mode_update", currentModeId: event.mode }];
      case "context_fill":
        return this.#ground.showsUsage
          ? [{ sessionUpdate: "usage_update", used: event.tokens, size: event.window }]
          : [];
      case "notice":
        return [this.notice(event.message)];
      default:
        return [];
    }
  }

  notice(message: string): SessionUpdate {
    const title = visibleText(message);
    if (this.#ground.showsNotices) return { sessionUpdate: "notice", severity: "info", title };
    return said("agent_thought_chunk", `${title}\n\n`);
  }

  #call(call: Call): SessionUpdate {
    const { callId: toolCallId, name, args: rawInput, description } = call;
    const title = visibleText(description || name);
    const shown = { toolCallId, status: STATUSES[call.status], title, rawInput };
    const kind = kindOf(this.#ground.toolOf(name));
    const isTerminal = this.#ground.showsTerminals && kind === "execute";
    const content = isTerminal ? terminalContent(call) : contentOf(call, this.#ground.root);
    const more = {
      ...(content.length > 0 ? { content } : {}),
      ...this.#locations(call),
      ...(isTerminal ? { _meta: this.#terminal(call) } : {}),
    };
    if (this.#known.has(toolCallId)) return { sessionUpdate: "tool_call_update", ...shown, ...more };
    this.#known.add(toolCallId);
    return { sessionUpdate: "tool_call", ...shown, ...more, kind };
  }

  /** An extension that editors have agreed on, for commands that an agent runs itself. */
  #terminal(call: Call): Record<string, unknown> {
    const { callId: terminal_id, args } = call;
    const text = outputOf(call);
    const data = text === null ? "" : visibleText(grownBy(this.#shown.get(terminal_id) ?? "", text));
    if (text !== null) this.#shown.set(terminal_id, text);
    if (isAnswered(call)) this.#shown.delete(terminal_id);
    const cwd = resolve(this.#ground.root, typeof args.directory === "string" ? args.directory : ".");
    const exit_code = call.status === "success" ? exitCodeIn(call.llmContent) : null;
    return {
      ...(this.#known.has(terminal_id) ? {} : { terminal_info: { terminal_id, cwd } }),
      ...(data === "" ? {} : { terminal_output: { terminal_id, data } }),
      ...(isAnswered(call) ? { terminal_exit: { terminal_id, exit_code, signal: null } } : {}),
    };
  }

  /** The subagent alone gets the answer; the editor sees only the call. */
  #subagentCall({ agent, call }: Extract<AgentEvent, { type: "subagent_call" }>): SessionUpdate {
    const { callId: toolCallId, status, name, description } = call;
    const title = visibleText(`${agent}: ${description || name}`);
    const shown = { toolCallId, title, status: STATUSES[status] };
    if (this.#known.has(toolCallId)) return { sessionUpdate: "tool_call_update", ...shown };
    this.#known.add(toolCallId);
    return { sessionUpdate: "tool_call", ...shown, kind: kindOf(this.#ground.toolOf(name)) };
  }

  /** So that the editor can follow; a call without a description has invalid arguments. */
  #locations({ name, args, description }: Call) {
    const tool = this.#ground.toolOf(name);
    if (description === "" || (tool?.kind !== "read" && tool?.kind !== "edit")) return {};
    const paths = tool.ruleSubjects?.(args) ?? [];
    return { locations: paths.map((path) => ({ path: resolve(this.#ground.root, path) })) };
  }
}

export function said(
  sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text } };
}

function kindOf(tool: Tool | undefined): ToolKind {
  return tool === undefined ? "other" : KINDS[kindOfTool(tool)];
}

function contentOf(call: Call, root: string): ToolCallContent[] {
  if (call.status === "awaiting_approval") {
    return call.confirmation.kind === "edit" ? diffContent(call.confirmation.diff, root) : [];
  }
  if (call.status === "executing") return displayContent(call.display ?? "", root);
  if (call.status === "validating") return [];
  if (call.status !== "success") return textContent(call.error.message);
  const media = [call.llmContent]
    .flat()
    .flatMap((part) => (typeof part === "string" ? [] : imageContent(part)));
  return [...displayContent(call.returnDisplay, root), ...media];
}

function terminalContent(call: Call): ToolCallContent[] {
  if (call.status === "validating" || call.status === "awaiting_approval") return [];
  const failure = call.status === "error" || call.status === "cancelled" ? call.error.message : "";
  return [{ type: "terminal", terminalId: call.callId }, ...textContent(failure)];
}

/** Returns null when there is no text to show. */
function outputOf(call: Call): string | null {
  const display = call.status === "executing" ? call.display : "";
  const shown = call.status === "success" ? call.returnDisplay : display;
  return typeof shown === "string" && shown !== "" ? shown : null;
}

/** What was added to a text of which only the end is shown. */
function grownBy(before: string, now: string): string {
  if (now.startsWith(before)) return now.slice(before.length);
  const seam = before.slice(-SEAM);
  const at = now.indexOf(seam);
  return at === -1 ? `\n[...]\n${now}` : now.slice(at + seam.length);
}

function displayContent(display: ToolDisplay, root: string): ToolCallContent[] {
  if (typeof display === "string") return textContent(display);
  if (display.kind === "file_diff") return diffContent(display, root);
  return display.kind === "progress" ? textContent(display.lines.join("\n")) : [];
}

export function textContent(text: string): ToolCallContent[] {
  return text === "" ? [] : [{ type: "content", content: { type: "text", text: visibleText(text) } }];
}

function imageContent({ inlineData: { data, mimeType } = {} }: Part): ToolCallContent[] {
  if (data === undefined || !mimeType?.startsWith("image/")) return [];
  return [{ type: "content", content: { type: "image", data, mimeType } }];
}

/** Of a file that is too large to show, the contents are only a part, which the editor would take for the whole. */
export function diffContent(diff: FileDiff, root: string): ToolCallContent[] {
  if (diff.firstLine !== undefined) return textContent(diff.fileDiff);
  const path = resolve(root, diff.fileName);
  return [{ type: "diff", path, oldText: diff.originalContent, newText: diff.newContent }];
}

function planOf(call: Call): SessionUpdate[] {
  if (call.status !== "success" || typeof call.returnDisplay === "string") return [];
  if (call.returnDisplay.kind !== "todo_list") return [];
  const { todos } = call.returnDisplay;
  const entries = todos.map(({ content, status }) => ({ content, status, priority: "medium" as const }));
  return [{ sessionUpdate: "plan", entries }];
}
