import { randomUUID } from "node:crypto";
import {
  type AnsweredCall,
  BaseTool,
  type CallContext,
  createSession,
  createToolbox,
  type OnUpdate,
  type Session,
  type SessionOptions,
  type Tool,
  type Toolbox,
  type ToolDisplay,
  type ToolKind,
} from "@burin/core";
import { burinHome, chooseModel, kindOf, type OnCall, type Settings } from "@burin/core/internal";
import type {
  CallToolResult,
  Tool as McpTool,
  ReadResourceResult,
  ResourceLink,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { type Answers, Approvals, howToAllow } from "./approvals.ts";
import { callResult, OUTPUT_SCHEMAS, textBlock } from "./call-result.ts";
import { LongOutputs } from "./long-outputs.ts";

/** Readers are fast and harmless; each of the others may be a process. */
const MOST_READING = 32;
const MOST_OTHERS = 8;
/** No client waits for it: the list of tools is sent again when a server has come. */
const MOST_START_MS = 120_000;

export interface CallManner {
  readonly signal: AbortSignal;
  readonly onProgress: (message: string) => void;
  /** The call is allowed, and begins. */
  readonly onStart?: () => void;
  readonly canAsk: boolean;
  readonly answers: Answers;
}

/** The tools of one folder as clients of the protocol see them, through the toolbox's whole flow. */
export class ServedTools {
  readonly #toolbox: Toolbox;
  readonly #session: Session | null = null;
  readonly #approvals = new Approvals();
  readonly #outputs = new LongOutputs(burinHome(process.env));
  readonly #reading: CallSlots;
  readonly #others: CallSlots;
  /** Hears that tools or resources have changed. */
  readonly #changed: (what: "tools" | "resources") => void;
  readonly #calls = new Set<Promise<unknown>>();

  constructor(
    options: SessionOptions,
    changed: (what: "tools" | "resources") => void,
    room: () => Promise<void>,
  ) {
    this.#changed = changed;
    this.#reading = new CallSlots(MOST_READING, room);
    this.#others = new CallSlots(MOST_OTHERS, room);
    const settings = ownSettings(options.settings as Settings);
    const { confirm } = this.#approvals;
    this.#toolbox = createToolbox({ ...options, settings, confirm, record: true });
    const { registry } = this.#toolbox;
    // Plans and todo lists are the client's own.
    for (const { name, kind } of registry.getAllTools()) if (kind === "plan") registry.unregisterTool(name);
    if (registry.getTool("task") === undefined) return;
    registry.unregisterTool("task");
    if (chooseModel(settings, process.env) === null) return;
    this.#session = createSession({ ...options, settings, record: true });
    const task = this.#session.registry.getTool("task");
    if (task !== undefined) registry.registerTool(new ServedTask(task));
  }

  /** Starts the tool sources; returns their failures. */
  async discover(): Promise<readonly string[]> {
    const before = this.#names;
    const failures = await this.#toolbox.ready({ timeoutMs: MOST_START_MS });
    if (this.#names !== before) this.#changed("tools");
    return failures.map(({ source, message }) => `tools from ${source}: ${message}`);
  }

  get #names(): string {
    return this.tools.map(({ name }) => name).join();
  }

  get tools(): McpTool[] {
    return this.#toolbox.registry.getUsableTools().map(declared);
  }

  get resources(): readonly ResourceLink[] {
    return this.#outputs.list;
  }

  readResource(uri: string): ReadResourceResult {
    return this.#outputs.read(uri);
  }

  call(name: string, args: Record<string, unknown>, manner: CallManner) {
    const slots = this.#toolbox.registry.getTool(name)?.kind === "read" ? this.#reading : this.#others;
    const call = slots.run(() => this.#call(name, args, manner));
    this.#calls.add(call);
    const end = () => this.#calls.delete(call);
    call.then(end, end);
    return call;
  }

  async answered(): Promise<void> {
    await Promise.allSettled(this.#calls);
  }

  async #call(name: string, args: Record<string, unknown>, manner: CallManner) {
    const { signal, canAsk, answers } = manner;
    const callId = randomUUID();
    const onCall: OnCall = (call) => {
      if (call.status !== "executing") return;
      manner.onStart?.();
      if (call.display === undefined) return;
      const message = lastWords(call.display);
      if (message !== "") manner.onProgress(message);
    };
    const work = () => this.#toolbox.run(name, args, { signal, onCall, callId });
    const [answer, question] = await this.#approvals.during(callId, answers, work);
    if (question === undefined || !isUnanswered(answer)) return this.#result(answer);
    if (canAsk) return this.#approvals.ask(question);
    // In one text: some clients put two together without a line break.
    const text = [answer.llmContent, howToAllow(question)].join("\n\n");
    return { content: [textBlock(text)], isError: true };
  }

  #result(answer: AnsweredCall): CallToolResult {
    const kind = this.#toolbox.registry.getTool(answer.name)?.kind;
    const result = callResult(answer, kind);
    const texts = result.content.flatMap((one) => (one.type === "text" ? [one.text] : []));
    const links = kind === "execute" ? texts.flatMap((text) => this.#outputs.linksIn(text)) : [];
    if (links.length === 0) return result;
    this.#changed("resources");
    return { ...result, content: [...result.content, ...links] };
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#toolbox.close(), this.#session?.close()]);
  }
}

type Params = Readonly<Record<string, unknown>>;

/** Subagents belong to a session. No background tasks: the client could not be informed of their end. */
class ServedTask extends BaseTool<Params> {
  readonly name: string;
  readonly displayName: string;
  readonly kind = "delegate";
  readonly #task: Tool;

  constructor(task: Tool) {
    super();
    this.name = task.name;
    this.displayName = task.displayName;
    this.#task = task;
  }

  get description(): string {
    return this.#task.description;
  }

  get parameterSchema() {
    const { is_background: _, ...properties } = this.#task.parameterSchema.properties ?? {};
    return { ...this.#task.parameterSchema, properties };
  }

  getDescription(params: Params): string {
    return this.#task.getDescription(params);
  }

  override checkParams(params: Params): string | null {
    return this.#task.validateToolParams(params);
  }

  execute(params: Params, signal: AbortSignal, ...rest: [onUpdate?: OnUpdate, context?: CallContext]) {
    return this.#task.execute(params, signal, ...rest);
  }
}

/** Limits how many calls work at once; the others wait for their turn. */
class CallSlots {
  #free: number;
  readonly #room: () => Promise<void>;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number, room: () => Promise<void>) {
    this.#free = most;
    this.#room = room;
  }

  /** Starts the work once there is room; work that is cancelled earlier still gets its turn, and sees its signal. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await this.#room();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/** A client has its own MCP servers; of the user's, only one for web searches is needed. */
function ownSettings(settings: Settings): Settings {
  const server = settings.web.search?.provider === "mcp" ? settings.web.search.server : undefined;
  const kept = Object.entries(settings.mcpServers).filter(([alias]) => alias === server);
  return { ...settings, mcpServers: Object.fromEntries(kept) };
}

function isUnanswered(answer: AnsweredCall): boolean {
  return answer.status === "error" && answer.error.type === "needs_approval";
}

function declared(tool: Tool): McpTool {
  const { name, displayName, description, parameterSchema } = tool;
  const kind = kindOf(tool);
  const outputSchema = kind === "edit" || kind === "execute" ? { outputSchema: OUTPUT_SCHEMAS[kind] } : {};
  const inputSchema = { ...parameterSchema, type: "object" };
  const shown = { name, title: displayName, description };
  return { ...shown, inputSchema, ...outputSchema, annotations: annotationsOf(kind) } as McpTool;
}

/** Hints that are true for a tool with any arguments. */
function annotationsOf(kind: ToolKind): ToolAnnotations {
  if (kind === "read" || kind === "fetch") return { readOnlyHint: true, openWorldHint: kind === "fetch" };
  const openWorldHint = kind !== "edit";
  return { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint };
}

function lastWords(display: ToolDisplay): string {
  const text =
    typeof display === "string" ? display : display.kind === "progress" ? display.lines.join("\n") : "";
  return text.trimEnd().split("\n").at(-1) ?? "";
}
