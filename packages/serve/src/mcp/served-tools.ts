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
import {
  chooseModel,
  type OnCall,
  resolveBurinHome,
  resolveToolKind,
  type Settings,
} from "@burin/core/internal";
import type {
  CallToolResult,
  Tool as McpTool,
  ReadResourceResult,
  ResourceLink,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { Approvals, type ClientAnswers, explainHowToAllow } from "./approvals.ts";
import { buildCallResult, buildTextBlock, OUTPUT_SCHEMAS } from "./call-result.ts";
import { LongOutputs } from "./long-outputs.ts";

/** The maximum number of readers at once. Readers are fast and harmless; each of the other calls may be a process. */
const MAX_READING = 32;
const MAX_OTHERS = 8;
/** No client waits for this: the list of tools is sent again when a server has connected. */
const MAX_START_MS = 120_000;

export interface ServedCallOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (message: string) => void;
  /** Called when the call is allowed and begins. */
  readonly onStart?: () => void;
  readonly canAsk: boolean;
  readonly answers: ClientAnswers;
}

/** The tools of one folder as clients of the protocol see them, through the toolbox's whole flow. */
export class ServedTools {
  readonly #toolbox: Toolbox;
  readonly #session: Session | null = null;
  readonly #approvals = new Approvals();
  readonly #outputs = new LongOutputs(resolveBurinHome(process.env));
  readonly #reading: CallSlots;
  readonly #others: CallSlots;
  /** Called when tools or resources have changed. */
  readonly #changed: (what: "tools" | "resources") => void;
  readonly #calls = new Set<Promise<unknown>>();

  constructor(
    options: SessionOptions,
    changed: (what: "tools" | "resources") => void,
    room: () => Promise<void>,
  ) {
    this.#changed = changed;
    this.#reading = new CallSlots(MAX_READING, room);
    this.#others = new CallSlots(MAX_OTHERS, room);
    const settings = selectSettings(options.settings as Settings);
    const { confirm } = this.#approvals;
    this.#toolbox = createToolbox({ ...options, settings, confirm, record: true });
    const { registry } = this.#toolbox;
    // Tools that are left out, because the client has its own plans and todo lists.
    for (const { name, kind } of registry.getAllTools()) if (kind === "plan") registry.unregisterTool(name);
    if (registry.getTool("task") === undefined) return;
    registry.unregisterTool("task");
    if (chooseModel(settings, process.env) === null) return;
    this.#session = createSession({ ...options, settings, record: true });
    const task = this.#session.registry.getTool("task");
    if (task !== undefined) registry.registerTool(new ServedTask(task));
  }

  /** Starts the tool sources; returns their failures. */
  async discoverAndListFailures(): Promise<readonly string[]> {
    const before = this.#names;
    const failures = await this.#toolbox.ready({ timeoutMs: MAX_START_MS });
    if (this.#names !== before) this.#changed("tools");
    return failures.map(({ source, message }) => `tools from ${source}: ${message}`);
  }

  get #names(): string {
    return this.tools.map(({ name }) => name).join();
  }

  get tools(): McpTool[] {
    return this.#toolbox.registry.getUsableTools().map(describeTool);
  }

  get resources(): readonly ResourceLink[] {
    return this.#outputs.list;
  }

  readResource(uri: string): ReadResourceResult {
    return this.#outputs.read(uri);
  }

  call(name: string, args: Record<string, unknown>, manner: ServedCallOptions) {
    const slots = this.#toolbox.registry.getTool(name)?.kind === "read" ? this.#reading : this.#others;
    const call = slots.run(() => this.#call(name, args, manner));
    this.#calls.add(call);
    const end = () => this.#calls.delete(call);
    call.then(end, end);
    return call;
  }

  async waitForAnswers(): Promise<void> {
    await Promise.allSettled(this.#calls);
  }

  async #call(name: string, args: Record<string, unknown>, manner: ServedCallOptions) {
    const { signal, canAsk, answers } = manner;
    const callId = randomUUID();
    const onCall: OnCall = (call) => {
      if (call.status !== "executing") return;
      manner.onStart?.();
      if (call.display === undefined) return;
      const message = readLastLine(call.display);
      if (message !== "") manner.onProgress(message);
    };
    const runCall = () => this.#toolbox.run(name, args, { signal, onCall, callId });
    const [answer, question] = await this.#approvals.runWithAnswers(callId, answers, runCall);
    if (question === undefined || !needsApproval(answer)) return this.#buildResult(answer);
    if (canAsk) return this.#approvals.createQuestionResponse(question);
    // Join them into one text: some clients concatenate two texts without a line break.
    const text = [answer.llmContent, explainHowToAllow(question)].join("\n\n");
    return { content: [buildTextBlock(text)], isError: true };
  }

  #buildResult(answer: AnsweredCall): CallToolResult {
    const kind = this.#toolbox.registry.getTool(answer.name)?.kind;
    const result = buildCallResult(answer, kind);
    const texts = result.content.flatMap((one) => (one.type === "text" ? [one.text] : []));
    const links = kind === "execute" ? texts.flatMap((text) => this.#outputs.findLinks(text)) : [];
    if (links.length === 0) return result;
    this.#changed("resources");
    return { ...result, content: [...result.content, ...links] };
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#toolbox.close(), this.#session?.close()]);
  }
}

type Params = Readonly<Record<string, unknown>>;

/**
 * Wraps the task tool: subagents belong to a session. It starts no background tasks, because the client could not be
 * told when they end.
 */
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

  constructor(max: number, room: () => Promise<void>) {
    this.#free = max;
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
function selectSettings(settings: Settings): Settings {
  const server = settings.web.search?.provider === "mcp" ? settings.web.search.server : undefined;
  const kept = Object.entries(settings.mcpServers).filter(([alias]) => alias === server);
  return { ...settings, mcpServers: Object.fromEntries(kept) };
}

function needsApproval(answer: AnsweredCall): boolean {
  return answer.status === "error" && answer.error.type === "needs_approval";
}

function describeTool(tool: Tool): McpTool {
  const { name, displayName, description, parameterSchema } = tool;
  const kind = resolveToolKind(tool);
  const outputSchema = kind === "edit" || kind === "execute" ? { outputSchema: OUTPUT_SCHEMAS[kind] } : {};
  const inputSchema = { ...parameterSchema, type: "object" };
  const shown = { name, title: displayName, description };
  return { ...shown, inputSchema, ...outputSchema, annotations: buildAnnotations(kind) } as McpTool;
}

/** Hints that are true for a tool with any arguments. */
function buildAnnotations(kind: ToolKind): ToolAnnotations {
  if (kind === "read" || kind === "fetch") return { readOnlyHint: true, openWorldHint: kind === "fetch" };
  const openWorldHint = kind !== "edit";
  return { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint };
}

function readLastLine(display: ToolDisplay): string {
  const text =
    typeof display === "string" ? display : display.kind === "progress" ? display.lines.join("\n") : "";
  return text.trimEnd().split("\n").at(-1) ?? "";
}
