import type { AgentEvent, Confirmation, RunStatus } from "@burin/core";

/** Everything a script wants to know of a run, in one document. */
export interface RunDocument {
  /** null when it came to no session. */
  sessionId: string | null;
  status: RunStatus;
  result: string;
  /** The model's output limit has cut the result. */
  cut?: true;
  /** The value of the result, with --json-schema. */
  structured?: unknown;
  error?: { type: string; message: string };
  /** The question that the run was parked with. */
  confirmation?: Confirmation;
  turns: number;
  toolCalls: { name: string; status: string }[];
  usage: { inputTokens: number; outputTokens: number; cachedTokens: number };
  durationMs: number;
}

/** The document of a run in which nothing has happened yet. */
export function newDocument(sessionId: string | null): RunDocument {
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  return { sessionId, status: "error", result: "", turns: 0, toolCalls: [], usage, durationMs: 0 };
}

/** Takes what an event says into the document. */
export function addEvent(document: RunDocument, event: AgentEvent): void {
  if (event.type === "usage") {
    document.usage.inputTokens += event.usage.inputTokens;
    document.usage.outputTokens += event.usage.outputTokens;
    document.usage.cachedTokens += event.usage.cachedTokens;
  }
  if (event.type === "tool_call") {
    const { name, status } = event.call;
    if (status === "success" || status === "error" || status === "cancelled") {
      document.toolCalls.push({ name, status });
    }
  }
  if (event.type === "done") {
    document.status = event.status;
    document.result = event.result;
    document.turns = event.turns;
    if (event.cut) document.cut = true;
    if (event.error) document.error = event.error;
    if (event.confirmation) document.confirmation = event.confirmation;
    if (event.structured !== undefined) document.structured = event.structured;
  }
}
