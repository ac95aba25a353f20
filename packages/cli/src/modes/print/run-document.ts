import type { AgentEvent } from "@burin/core";
import { type CacheMiss, isAnswered, type Usage } from "@burin/core/sessions";

/** Everything that a script needs to know about a run: its result, and what led to it. */
export interface RunDocument extends Omit<Extract<AgentEvent, { type: "done" }>, "type"> {
  /** null if no session was opened. */
  readonly sessionId: string | null;
  readonly toolCalls: { name: string; status: string }[];
  /** `cost` is in the currency of the prices. It is absent if a price is not known. */
  readonly usage: {
    inputTokens: number;
    outputTokens: number;
    cachedTokens: number;
    /** Input that was in the cache before, but was charged in full again, if the reason is known. */
    cacheMisses?: CacheMiss[];
    cost?: number;
  };
  durationMs: number;
}

/** Creates the document for a run that has no events yet. */
export function createDocument(sessionId: string | null): RunDocument {
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  return { sessionId, status: "error", result: "", turns: 0, toolCalls: [], usage, durationMs: 0 };
}

export function addEvent(document: RunDocument, event: AgentEvent): void {
  if (event.type === "usage") {
    addUsage(document, event.usage);
    const { cacheMisses = [] } = document.usage;
    if (event.cacheMiss) document.usage.cacheMisses = [...cacheMisses, event.cacheMiss];
  }
  if (event.type === "done") {
    const { type: _, ...end } = event;
    Object.assign(document, end);
  }
  if (event.type === "tool_call" && isAnswered(event.call)) {
    const { name, status } = event.call;
    document.toolCalls.push({ name, status });
  }
}

function addUsage(document: RunDocument, { inputTokens, outputTokens, cachedTokens, cost }: Usage): void {
  const { usage } = document;
  const isFirst = usage.inputTokens + usage.outputTokens === 0;
  const known = isFirst ? 0 : usage.cost;
  usage.inputTokens += inputTokens;
  usage.outputTokens += outputTokens;
  usage.cachedTokens += cachedTokens;
  if (known !== undefined && cost !== undefined) usage.cost = known + cost;
  else delete usage.cost;
}
