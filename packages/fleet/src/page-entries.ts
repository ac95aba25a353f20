import type { AgentEvent, FileDiff } from "@burin/core";
import { type FilePatch, readDiff } from "@burin/core/internal";
import { isAnswered, type ToolCall } from "@burin/core/sessions";
import { parseRecords, type Step } from "./steps.ts";

/** The longest text in a transcript; longer ones are cut. */
const MAX_CHARACTERS = 20_000;

/** A piece of a transcript, as the page shows it. A call that has changed is sent again with the same `id`. */
export interface PageEntry {
  readonly kind: "worker" | "said" | "thought" | "call" | "note" | "end";
  readonly text: string;
  readonly role?: "user" | "model";
  readonly id?: string;
  readonly name?: string;
  readonly args?: string;
  readonly status?: string;
  readonly diff?: readonly FilePatch[];
}

/** Returns what happened in a step. Leaves out what nobody reads, and cuts texts that are too long to show. */
export function listPageEntries({ worker, aside, lines }: Step): PageEntry[] {
  return [
    ...(worker ? [{ kind: "worker" as const, text: worker }] : []),
    ...(aside ? [{ kind: "note" as const, text: aside }] : []),
    ...parseRecords(lines ?? "").flatMap(({ event }) => toEntries(event)),
  ];
}

function toEntries(event: AgentEvent): PageEntry[] {
  switch (event.type) {
    case "text":
      return [{ kind: "said", role: event.role, text: truncateText(event.text) }];
    case "thought":
      return event.text.trim() === "" ? [] : [{ kind: "thought", text: truncateText(event.text) }];
    case "tool_call":
      return [toCallEntry(event.call)];
    case "subagent_call": {
      const { callId, name, description, status, error } = event.call;
      const text = truncateText(error?.message ?? "");
      return [
        {
          kind: "call",
          id: callId,
          name: `${event.agent}: ${name}`,
          args: truncateText(description),
          status,
          text,
        },
      ];
    }
    case "notice":
    case "input_error":
      return [{ kind: "note", text: truncateText(event.message) }];
    case "context":
    case "compaction":
      return [{ kind: "note", text: truncateText(event.text) }];
    case "model":
      return [{ kind: "note", text: `From here on ${event.model} answers.` }];
    case "mode":
      return [{ kind: "note", text: `Approval mode: ${event.mode}` }];
    case "question_answered":
      return [{ kind: "note", text: formatAnswer(event.decision) }];
    case "done":
      return [{ kind: "end", status: event.status, text: truncateText(event.error?.message ?? "") }];
    default:
      return [];
  }
}

function formatAnswer(decision: Extract<AgentEvent, { type: "question_answered" }>["decision"]): string {
  if (decision === null) return "The question was not answered.";
  if (decision.outcome !== "cancel") return "The question was answered with yes.";
  return `The question was answered with no${decision.reason ? `: ${decision.reason}` : "."}`;
}

function toCallEntry(call: ToolCall): PageEntry {
  const { callId: id, name, args, description, status } = call;
  const shown = {
    kind: "call" as const,
    id,
    name,
    args: truncateText(description || JSON.stringify(args)),
    status,
  };
  if (status === "awaiting_approval") return { ...shown, text: truncateText(call.reason) };
  if (!isAnswered(call)) return { ...shown, text: "" };
  const { returnDisplay: display, llmContent } = call;
  if (typeof display === "string") return { ...shown, text: truncateText(display) };
  if (display.kind === "file_diff") return { ...shown, text: "", diff: [readChange(display)] };
  if (display.kind === "todo_list") {
    const marks = { pending: "○", in_progress: "◐", completed: "●" };
    const lines = display.todos.map((todo) => `${marks[todo.status]} ${todo.content}`);
    return { ...shown, text: truncateText(lines.join("\n")) };
  }
  return {
    ...shown,
    text: truncateText(typeof llmContent === "string" ? llmContent : JSON.stringify(llmContent)),
  };
}

/** Returns a change as rows, numbered and marked as on the screen of the app. */
export function readChange({ fileName, fileDiff }: FileDiff): FilePatch {
  return { name: fileName, hunks: readDiff(truncateText(fileDiff)) };
}

function truncateText(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  const left = text.length - MAX_CHARACTERS;
  return `${text.slice(0, MAX_CHARACTERS)}\n… ${left} more characters; burin fleet logs shows all of it.`;
}
