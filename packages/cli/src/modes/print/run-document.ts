import {
  type AgentEvent,
  type CacheMiss,
  type Confirmation,
  isAnswered,
  type RunStatus,
  type Usage,
} from "@burin/core";

type Done = Extract<AgentEvent, { type: "done" }>;

/** Everything about a run that a script needs, in one document. */
export interface RunDocument {
  /** null when no session was opened. */
  sessionId: string | null;
  status: RunStatus;
  result: string;
  /** The model's output limit cut the result off. */
  cut?: true;
  /** The value of the result, with --json-schema. */
  structured?: unknown;
  /** The result of --check. */
  check?: NonNullable<Done["check"]>;
  /** When files were changed: the tests and builds that ran after the last change, or only before. */
  proof?: NonNullable<Done["proof"]>;
  error?: { type: string; message: string };
  /** The question that the run was parked with. */
  confirmation?: Confirmation;
  turns: number;
  toolCalls: { name: string; status: string }[];
  /** `cost` in the currency of the prices; absent if a price is not known. */
  usage: {
    inputTokens: number;
    outputTokens: number;
    cachedTokens: number;
    /** Input that was cached and then paid in full again, if the reason is known. */
    cacheMisses?: CacheMiss[];
    cost?: number;
  };
  durationMs: number;
}

/** The document of a run before its first event. */
export function newDocument(sessionId: string | null): RunDocument {
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
