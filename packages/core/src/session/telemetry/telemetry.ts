import { randomBytes } from "node:crypto";
import type { AgentEvent, RunEnd } from "@burin/contract/agent-event";
import type { Settings } from "@burin/contract/settings/settings";
import { isAnswered, type ToolCall } from "@burin/contract/tool-call";
import { Redactor } from "../log/redactor.ts";
import { type Attributes, Otlp, type Span } from "./otlp.ts";

interface TelemetryNeeds {
  readonly id: string;
  readonly settings: Settings;
  readonly environment: NodeJS.ProcessEnv;
  readonly secretNames: readonly string[];
  /** Called with the reason when nothing could be sent. */
  readonly tell: (message: string) => void;
}

/** The names of services in the conventions; others keep their name in the settings. */
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

const TOOL = "gen_ai.tool.name";
/** Per content; services refuse large ones. */
const MOST_CHARACTERS = 60_000;

/** Other events, e.g. a notice, do not start a run. */
const OF_A_RUN = new Set<AgentEvent["type"]>(["text", "thought", "tool_call", "question"]);

/** Events between what the model answers to and the request. */
const BEFORE_REQUEST = new Set<AgentEvent["type"]>(["context", "context_fill", "compaction"]);

interface OpenSpan {
  readonly spanId: string;
  readonly start: number;
  readonly parent: string | undefined;
  attributes: Attributes;
  /** When the work itself started, after any question. */
  working?: number;
}

/** By OpenTelemetry's conventions: a run is `invoke_agent`, a request `chat`, a call `execute_tool`. */
export class Telemetry {
  readonly #needs: TelemetryNeeds;
  readonly #otlp: Otlp;
  readonly #redactor: Redactor;
  readonly #hasContents: boolean;
  readonly #calls = new Map<string, OpenSpan>();
  readonly #questions = new Map<string, OpenSpan>();
  #model = "";
  #traceId = "";
  #run: OpenSpan | null = null;
  #chat: OpenSpan | null = null;
  /** The time when the model has everything that it answers to. */
  #asked: number | null = null;
  #prompts: string[] = [];
  #said = "";
  #tokens = { input: 0, output: 0 };

  constructor(needs: TelemetryNeeds) {
    const { settings, environment, secretNames, tell } = needs;
    this.#needs = needs;
    this.#otlp = new Otlp(environment, settings.telemetry.endpoint, tell);
    this.#redactor = new Redactor(environment, secretNames);
    this.#hasContents = settings.telemetry.contents;
  }

  /** Resolves when everything that has ended is sent, or has failed to be. */
  send(): Promise<void> {
    return this.#otlp.send();
  }

  note(event: AgentEvent, at: number): void {
    // A resumed session continues without a prompt.
    if (this.#run === null && OF_A_RUN.has(event.type)) this.#begin(at);
    if (event.type === "session" || event.type === "model") this.#model = event.model;
    else if (event.type === "text" && event.role === "user") this.#prompted(event.text, at);
    else if (event.type === "text") this.#heard(event.text, at);
    else if (event.type === "thought") this.#heard("", at);
    else if (event.type === "usage") this.#spent(event, at);
    else if (event.type === "tool_call") this.#called(event.call, at);
    else if (event.type === "subagent_call") this.#calledBySubagent(event, at);
    else if (event.type === "question") this.#questioned(event, at);
    else if (event.type === "question_answered")
      this.#answered(event.id, event.decision?.outcome ?? "none", at);
    else if (event.type === "done") this.#ended(event, at);
    else if (this.#asked !== null && BEFORE_REQUEST.has(event.type)) this.#asked = at;
  }

  #questioned({ id, callId, confirmation }: Extract<AgentEvent, { type: "question" }>, at: number): void {
    const parent = this.#calls.get(callId ?? "")?.spanId;
    this.#questions.set(id, this.#open(at, parent, { "burin.question.kind": confirmation.kind }));
  }

  #begin(at: number): void {
    // Burin may have been started inside a trace.
    const { TRACEPARENT = "" } = this.#needs.environment;
    const [, trace, outer] = /^00-([\da-f]{32})-([\da-f]{16})-/.exec(TRACEPARENT) ?? [];
    this.#traceId = trace ?? randomBytes(16).toString("hex");
    this.#run = this.#open(at, outer, {});
    this.#tokens = { input: 0, output: 0 };
    this.#prompts = [];
    this.#asked = at;
  }

  #prompted(text: string, at: number): void {
    this.#prompts.push(text);
    this.#asked = at;
  }

  #heard(text: string, at: number): void {
    this.#chat ??= this.#open(this.#asked ?? at, undefined, {});
    this.#asked = null;
    this.#said += text;
  }

  #spent({ usage, purpose }: Extract<AgentEvent, { type: "usage" }>, at: number): void {
    const { inputTokens, outputTokens, cachedTokens, cost } = usage;
    this.#tokens.input += inputTokens;
    this.#tokens.output += outputTokens;
    const attributes = this.#asking("chat");
    const measured = { ...attributes, "burin.purpose": purpose };
    const tokens = { input: inputTokens, output: outputTokens };
    for (const [type, value] of Object.entries(tokens))
      this.#otlp.measure("gen_ai.client.token.usage", value, { ...measured, "gen_ai.token.type": type });
    if (purpose !== undefined) return;
    this.#heard("", at);
    this.#endChat(at, {
      "gen_ai.usage.input_tokens": inputTokens,
      "gen_ai.usage.output_tokens": outputTokens,
      "gen_ai.usage.cache_read.input_tokens": cachedTokens,
      "burin.cost": cost,
      ...this.#contents("gen_ai.output.messages", [message("assistant", this.#said)]),
    });
  }

  #endChat(at: number, more: Attributes): void {
    const chat = this.#chat;
    if (chat === null) return;
    const attributes = this.#asking("chat");
    this.#otlp.measure("gen_ai.client.operation.duration", (at - chat.start) / 1000, {
      ...attributes,
      "error.type": more["error.type"],
    });
    chat.attributes = { ...attributes, "gen_ai.conversation.id": this.#needs.id, ...more };
    this.#close(chat, `chat ${this.#model}`, at);
    this.#chat = null;
    this.#said = "";
  }

  #called(call: ToolCall, at: number): void {
    // Without a token count from the service, this call shows that the reply has ended.
    this.#endChat(at, {});
    const span = this.#calls.get(call.callId) ?? this.#open(at, undefined, { [TOOL]: call.name });
    this.#calls.set(call.callId, span);
    if (call.status === "executing") span.working ??= at;
    if (!isAnswered(call)) return;
    const { callId, args, llmContent } = call;
    this.#endCall(callId, call.status === "success" ? undefined : call.error.type, {
      at,
      ...this.#contents("gen_ai.tool.call.arguments", args),
      ...this.#contents("gen_ai.tool.call.result", llmContent),
    });
    this.#asked = at;
  }

  #calledBySubagent(
    { agent, parentCallId, call }: Extract<AgentEvent, { type: "subagent_call" }>,
    at: number,
  ): void {
    const { callId, name, status, args, error } = call;
    if (status === "executing") {
      const parent = this.#calls.get(parentCallId ?? "")?.spanId;
      this.#calls.set(callId, { ...this.#open(at, parent, { [TOOL]: name }), working: at });
    } else {
      this.#endCall(callId, status === "success" ? undefined : (error?.type ?? status), {
        at,
        "gen_ai.agent.name": agent,
        ...this.#contents("gen_ai.tool.call.arguments", args),
      });
    }
  }

  #endCall(
    callId: string,
    error: string | undefined,
    { at, ...more }: Attributes & { readonly at: number },
  ): void {
    const span = this.#calls.get(callId);
    if (span === undefined) return;
    this.#calls.delete(callId);
    const name = span.attributes[TOOL];
    const attributes = { "gen_ai.operation.name": "execute_tool", [TOOL]: name, "error.type": error };
    if (span.working !== undefined)
      this.#otlp.measure("gen_ai.execute_tool.duration", (at - span.working) / 1000, attributes);
    const call = { "gen_ai.tool.type": "function", "gen_ai.tool.call.id": callId };
    span.attributes = { ...attributes, ...call, ...more };
    this.#close(span, `execute_tool ${name}`, at);
  }

  #answered(id: string, outcome: string, at: number): void {
    const span = this.#questions.get(id);
    if (span === undefined) return;
    this.#questions.delete(id);
    span.attributes = { ...span.attributes, "burin.question.outcome": outcome };
    this.#close(span, "question", at);
  }

  #ended({ status, result, error, turns }: RunEnd, at: number): void {
    const type = error?.type ?? (status === "success" ? undefined : status);
    // The request was sent, but no reply came.
    if (this.#chat === null && this.#asked !== null && status === "error") this.#heard("", this.#asked);
    this.#endChat(at, { "error.type": type });
    for (const id of [...this.#questions.keys()]) this.#answered(id, "none", at);
    for (const id of [...this.#calls.keys()]) this.#endCall(id, type ?? "cancelled", { at });
    const run = this.#run;
    this.#run = null;
    this.#asked = null;
    if (run === null) return;
    run.attributes = {
      ...this.#asking("invoke_agent"),
      "gen_ai.agent.name": "burin",
      "gen_ai.conversation.id": this.#needs.id,
      "gen_ai.usage.input_tokens": this.#tokens.input,
      "gen_ai.usage.output_tokens": this.#tokens.output,
      "burin.status": status,
      "burin.turns": turns,
      "error.type": type,
      ...this.#contents(
        "gen_ai.input.messages",
        this.#prompts.map((text) => message("user", text)),
      ),
      ...this.#contents("gen_ai.output.messages", [message("assistant", result)]),
    };
    this.#close(run, "invoke_agent burin", at);
  }

  #asking(operation: string): Attributes {
    const { provider = providerOf(this.#model) } = this.#needs.settings.model;
    return {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": PROVIDERS[provider] ?? provider,
      "gen_ai.request.model": this.#model,
    };
  }

  /** Only if the settings allow it, and without secrets. */
  #contents(name: string, value: unknown): Attributes {
    if (!this.#hasContents) return {};
    return { [name]: this.#redactor.json(value).slice(0, MOST_CHARACTERS) };
  }

  #open(start: number, parent: string | undefined, attributes: Attributes): OpenSpan {
    return {
      spanId: randomBytes(8).toString("hex"),
      start,
      parent: parent ?? this.#run?.spanId,
      attributes,
    };
  }

  #close({ spanId, start, parent, attributes }: OpenSpan, name: string, end: number): void {
    const span: Span = { traceId: this.#traceId, spanId, name, start, end, attributes };
    const isClient = name.startsWith("chat ");
    const isError = attributes["error.type"] !== undefined;
    this.#otlp.addSpan({ ...span, isClient, isError, ...(parent !== undefined && { parentSpanId: parent }) });
  }
}

function message(role: string, content: string): object {
  return { role, parts: [{ type: "text", content }] };
}

function providerOf(model: string): string {
  if (/claude/i.test(model)) return "anthropic";
  return /gemini/i.test(model) ? "gcp.gemini" : "openai";
}
