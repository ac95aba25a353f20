import { randomBytes } from "node:crypto";
import type { AgentEvent, RunEnd } from "@burin/contract/agent-event";
import type { Settings } from "@burin/contract/settings/settings";
import { isAnswered, type ToolCall } from "@burin/contract/tool-call";
import type { ToolError } from "@burin/contract/tools";
import { Redactor, type Secrets } from "../log/redactor.ts";
import { type Attributes, Otlp, type Span } from "./otlp.ts";

interface TelemetryOptions {
  readonly id: string;
  readonly settings: Settings;
  readonly secrets: Secrets;
  /** Called with the reason if data cannot be sent. */
  readonly tell: (message: string) => void;
}

/** OpenTelemetry's names of services. Other services keep the name that they have in settings. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "openai-responses": "openai",
  gemini: "gcp.gemini",
  azure: "azure.ai.openai",
  vertex: "gcp.vertex_ai",
  bedrock: "aws.bedrock",
  mistral: "mistral_ai",
  xai: "x_ai",
  moonshot: "moonshot_ai",
};

/** The maximum number of characters of one content, because services reject large ones. */
const MAX_CHARACTERS = 60_000;

/** Events that start a run. Others, e.g. a notice, do not. */
const OF_A_RUN = new Set<AgentEvent["type"]>(["text", "thought", "tool_call", "question"]);

/** Events that can occur between a prompt or answer and the request that sends it. */
const BEFORE_REQUEST = new Set<AgentEvent["type"]>(["context", "context_fill", "compaction"]);

interface OpenSpan extends Omit<Span, "end"> {
  /** When the work itself started, after the user had answered any question. */
  working?: number;
}

type Called = Pick<ToolCall, "callId" | "name" | "args" | "status"> & {
  readonly error?: ToolError | undefined;
};

/** Exports events by OpenTelemetry's conventions: a run is `invoke_agent`, a request `chat`, a call `execute_tool`. */
export class Telemetry {
  readonly #needs: TelemetryOptions;
  readonly #otlp: Otlp;
  readonly #redactor: Redactor;
  readonly #hasContents: boolean;
  readonly #calls = new Map<string, OpenSpan>();
  readonly #questions = new Map<string, OpenSpan>();
  #model = "";
  #run: OpenSpan | null = null;
  #chat: OpenSpan | null = null;
  /** The time since which the model's next request could be sent. null while no request is due. */
  #asked: number | null = null;
  #prompts: string[] = [];
  #said = "";
  #tokens = { input: 0, output: 0 };

  constructor(needs: TelemetryOptions) {
    const { settings, secrets, tell } = needs;
    this.#needs = needs;
    this.#otlp = new Otlp(secrets.environment, settings.telemetry.endpoint, tell);
    this.#redactor = new Redactor(secrets);
    this.#hasContents = settings.telemetry.contents;
  }

  /** Resolves when everything that has ended was sent, or could not be sent. */
  send(): Promise<void> {
    return this.#otlp.sendPending();
  }

  note(event: AgentEvent, at: number): void {
    // Begin a run here too, because a resumed session may continue without a prompt.
    if (this.#run === null && OF_A_RUN.has(event.type)) this.#beginRun(at);
    if (event.type === "session" || event.type === "model") this.#model = event.model;
    else if (event.type === "text" && event.role === "user") {
      this.#prompts.push(event.text);
      this.#asked = at;
    } else if (event.type === "text") this.#noteReply(event.text, at);
    else if (event.type === "thought") this.#noteReply("", at);
    else if (event.type === "usage") this.#noteUsage(event, at);
    else if (event.type === "tool_call") this.#noteCall(event.call, at);
    else if (event.type === "subagent_call") this.#followCall(event.call, at, event);
    else if (event.type === "question") {
      const kind = { "burin.question.kind": event.confirmation.kind };
      const parent = this.#calls.get(event.callId ?? "");
      this.#questions.set(event.id, this.#open("question", at, { parent, attributes: kind }));
    } else if (event.type === "question_answered")
      this.#closeQuestion(event.id, event.decision?.outcome ?? "none", at);
    else if (event.type === "done") this.#closeRun(event, at);
    else if (this.#asked !== null && BEFORE_REQUEST.has(event.type)) this.#asked = at;
  }

  #beginRun(start: number): void {
    // Burin may have been started as part of a trace.
    const { TRACEPARENT = "" } = this.#needs.secrets.environment;
    const [, trace, outer] = /^00-([\da-f]{32})-([\da-f]{16})-/.exec(TRACEPARENT) ?? [];
    const traceId = trace ?? randomBytes(16).toString("hex");
    const name = "invoke_agent burin";
    this.#run = { traceId, spanId: createSpanId(), parentSpanId: outer, name, start, attributes: {} };
    this.#tokens = { input: 0, output: 0 };
    this.#prompts = [];
    this.#asked = start;
  }

  #open(
    name: string,
    start: number,
    { parent, attributes = {} }: { parent?: OpenSpan | undefined; attributes?: Attributes } = {},
  ): OpenSpan {
    const { traceId = "", spanId: parentSpanId } = parent ?? this.#run ?? {};
    return { traceId, spanId: createSpanId(), parentSpanId, name, start, attributes };
  }

  #close({ working: _, ...span }: OpenSpan, end: number, more: Attributes): void {
    this.#otlp.addSpan({ ...span, end, attributes: { ...span.attributes, ...more } });
  }

  #noteReply(text: string, at: number): void {
    this.#chat ??= this.#open(`chat ${this.#model}`, this.#asked ?? at);
    this.#asked = null;
    this.#said += text;
  }

  #noteUsage({ usage, purpose }: Extract<AgentEvent, { type: "usage" }>, at: number): void {
    const { inputTokens, outputTokens, cachedTokens, cost } = usage;
    this.#tokens.input += inputTokens;
    this.#tokens.output += outputTokens;
    const measured = { ...this.#buildAttributes("chat"), "burin.purpose": purpose };
    const tokens = { input: inputTokens, output: outputTokens };
    for (const [type, value] of Object.entries(tokens))
      this.#otlp.recordMeasurement("gen_ai.client.token.usage", value, {
        ...measured,
        "gen_ai.token.type": type,
      });
    if (purpose !== undefined) return;
    this.#noteReply("", at);
    this.#endChat(at, {
      "gen_ai.usage.input_tokens": inputTokens,
      "gen_ai.usage.output_tokens": outputTokens,
      "gen_ai.usage.cache_read.input_tokens": cachedTokens,
      "burin.cost": cost,
      ...this.#buildContent("gen_ai.output.messages", [buildMessage("assistant", this.#said)]),
    });
  }

  #endChat(at: number, more: Attributes): void {
    const chat = this.#chat;
    if (chat === null) return;
    const asking = this.#buildAttributes("chat");
    const measured = { ...asking, "error.type": more["error.type"] };
    this.#otlp.recordMeasurement("gen_ai.client.operation.duration", (at - chat.start) / 1000, measured);
    this.#close(chat, at, { ...asking, "gen_ai.conversation.id": this.#needs.id, ...more });
    this.#chat = null;
    this.#said = "";
  }

  #noteCall(call: ToolCall, at: number): void {
    // If the service reports no token count, this call shows that the reply has ended.
    this.#endChat(at, {});
    this.#followCall(call, at);
    if (isAnswered(call)) this.#asked = at;
  }

  #followCall(
    call: Called & { readonly llmContent?: unknown },
    at: number,
    by?: { readonly agent: string; readonly parentCallId?: string },
  ): void {
    const { callId, name, args, status, error, llmContent } = call;
    const parent = this.#calls.get(by?.parentCallId ?? "");
    const attributes = { "gen_ai.tool.name": name };
    const span = this.#calls.get(callId) ?? this.#open(`execute_tool ${name}`, at, { parent, attributes });
    this.#calls.set(callId, span);
    if (status === "executing") span.working ??= at;
    if (status !== "success" && status !== "error" && status !== "cancelled") return;
    this.#endCall(callId, at, {
      "error.type": status === "success" ? undefined : (error?.type ?? status),
      "gen_ai.agent.name": by?.agent,
      ...this.#buildContent("gen_ai.tool.call.arguments", args),
      ...(by ? {} : this.#buildContent("gen_ai.tool.call.result", llmContent)),
    });
  }

  #endCall(callId: string, at: number, more: Attributes): void {
    const span = this.#calls.get(callId);
    if (span === undefined) return;
    this.#calls.delete(callId);
    const done = { "gen_ai.operation.name": "execute_tool", ...span.attributes };
    if (span.working !== undefined) {
      const measured = { ...done, "error.type": more["error.type"] };
      this.#otlp.recordMeasurement("gen_ai.execute_tool.duration", (at - span.working) / 1000, measured);
    }
    const call = { "gen_ai.tool.type": "function", "gen_ai.tool.call.id": callId };
    this.#close(span, at, { ...done, ...call, ...more });
  }

  #closeQuestion(id: string, outcome: string, at: number): void {
    const span = this.#questions.get(id);
    this.#questions.delete(id);
    if (span !== undefined) this.#close(span, at, { "burin.question.outcome": outcome });
  }

  #closeRun({ status, result, error, turns }: RunEnd, at: number): void {
    const type = error?.type ?? (status === "success" ? undefined : status);
    // The request was sent, but no reply came.
    if (this.#chat === null && this.#asked !== null && status === "error") this.#noteReply("", this.#asked);
    this.#endChat(at, { "error.type": type });
    for (const id of [...this.#questions.keys()]) this.#closeQuestion(id, "none", at);
    for (const id of [...this.#calls.keys()]) this.#endCall(id, at, { "error.type": type ?? "cancelled" });
    const run = this.#run;
    this.#run = null;
    this.#asked = null;
    if (run === null) return;
    const prompts = this.#prompts.map((text) => buildMessage("user", text));
    this.#close(run, at, {
      ...this.#buildAttributes("invoke_agent"),
      "gen_ai.agent.name": "burin",
      "gen_ai.conversation.id": this.#needs.id,
      "gen_ai.usage.input_tokens": this.#tokens.input,
      "gen_ai.usage.output_tokens": this.#tokens.output,
      "burin.status": status,
      "burin.turns": turns,
      "error.type": type,
      ...this.#buildContent("gen_ai.input.messages", prompts),
      ...this.#buildContent("gen_ai.output.messages", [buildMessage("assistant", result)]),
    });
  }

  #buildAttributes(operation: string): Attributes {
    const { provider = guessProvider(this.#model) } = this.#needs.settings.model;
    return {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": PROVIDERS[provider] ?? provider,
      "gen_ai.request.model": this.#model,
    };
  }

  /** Returns the content as an attribute, without secrets, if the settings allow it. */
  #buildContent(name: string, value: unknown): Attributes {
    if (!this.#hasContents) return {};
    return { [name]: this.#redactor.redactJson(value).slice(0, MAX_CHARACTERS) };
  }
}

function createSpanId(): string {
  return randomBytes(8).toString("hex");
}

function buildMessage(role: string, content: string): object {
  return { role, parts: [{ type: "text", content }] };
}

function guessProvider(model: string): string {
  if (/claude/i.test(model)) return "anthropic";
  return /gemini/i.test(model) ? "gcp.gemini" : "openai";
}
