import type { AgentEvent, ContextFill, FaceEvent } from "@burin/contract/agent-event";
import type { ChatModel } from "@burin/contract/chat-model";
import type { FunctionCall } from "@burin/contract/messages/function-call";
import type { Message } from "@burin/contract/messages/message";
import { type AnsweredCall, isAnswered } from "@burin/contract/tool-call";
import type { Decision, Question, ToolResult } from "@burin/contract/tools";
import type { CommandList } from "@burin/machine/processes/command-list";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { TaskList } from "./agent/background-tasks.ts";
import type { CustomCommand } from "./agent/custom-commands.ts";
import { notice } from "./agent/plain-events.ts";
import type { ApprovalMode, ApprovalRequest, Verdict } from "./approval/approval-policy.ts";
import { type JoinedSession, joinSession } from "./assembly/join-session.ts";
import { joinParts } from "./assembly/join-tools.ts";
import { lazyMcp } from "./assembly/lazy-mcp.ts";
import type { SessionOptions } from "./assembly/session-options.ts";
import type { ToolboxOptions } from "./assembly/toolbox-options.ts";
import type { OnCall, RunCalls } from "./scheduler/scheduler.ts";
import type { LogRecord } from "./session/record-line.ts";
import type { Recording } from "./session/recording.ts";
import { RunLine } from "./session/run-line.ts";
import { newSessionId } from "./session/session-id.ts";
import type { DiscoveryFailure, ToolRegistry } from "./tools/tool-registry.ts";

export type { SessionOptions, ToolboxOptions };

/** The tools behind the whole flow, with no model. */
export interface Toolbox {
  readonly registry: ToolRegistry;
  /** What MCP servers offer beside tools, and logins to them. */
  readonly mcp: McpDoor;
  /** One call through lookup, validation, approval and execution. Never rejects: a failure is a result. */
  call(name: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<ToolResult>;
  /** What would be decided about a shell command, and why; runs nothing. */
  explain(command: string): Promise<Verdict>;
  /** The same, told as the call's states; resolves to the last one. */
  run(name: string, args: Readonly<Record<string, unknown>>, options?: RunOptions): Promise<AnsweredCall>;
  /** Starts the sources of more tools and resolves when each has answered, with what went wrong. Never rejects. */
  ready(): Promise<readonly DiscoveryFailure[]>;
  /** Asks the sources again. */
  refreshTools(): Promise<readonly DiscoveryFailure[]>;
  /** What went wrong with the sources so far. */
  readonly discoveryFailures: readonly DiscoveryFailure[];
  /** What runs, for the person. */
  readonly commands: CommandList;
  /** Ends every command that still runs, in the background too. To be called when the toolbox is done with. */
  close(): Promise<void>;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  readonly onCall?: OnCall;
}

export interface Session {
  readonly id: string;
  readonly registry: ToolRegistry;
  /** What MCP servers offer beside tools, and logins to them. */
  readonly mcp: McpDoor;
  /** What the model has been sent and has said so far. */
  readonly history: readonly Message[];
  /** How much runs unasked; it can be set while the session lives. */
  approvalMode: ApprovalMode;
  /** One call of the person's own, through the same flow; the model is not told of it. Never rejects. */
  call(name: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<ToolResult>;
  /**
   * Works on one prompt; the events end with one `done`. A reader that stops early stops the work. Prompts that
   * come meanwhile wait for their turn; words for the work in hand are what `steer` is for.
   */
  run(text: string, signal?: AbortSignal): AsyncGenerator<AgentEvent>;
  /**
   * All that happens from the record `from` on (1 is the first; without it from now on), during runs and beside them,
   * until the session is closed; each event in the envelope of the log. A face that lost its connection drops what it has of the last
   * number it heard and reads on from there: pieces of a text that grows bear one number, and live output the number
   * of the record before it. A session that is not recorded keeps its last 1000 records.
   */
  events(from?: number): AsyncGenerator<LogRecord>;
  /** The questions that wait for an answer. */
  readonly questions: readonly Question[];
  /**
   * Answers a question by its id, from wherever; null as the decision when nobody will. Gives null when the answer
   * was taken, else what is wrong with it.
   */
  answer(questionId: string, decision: Decision | null): string | null;
  /** How full the model's window is, as estimated of the next request. */
  readonly contextFill: ContextFill;
  /** Replaces the history by a summary of it, once the runs before have ended. */
  compact(signal?: AbortSignal): Promise<ContextFill>;
  /** From the next request on another model answers: one of the configured service by its name, or any. */
  useModel(model: string | ChatModel): void;
  /** Has those who follow, and the log, hear of what the face has to say. */
  note(event: FaceEvent): void;
  /** Resolves when every source of more tools has answered, with what went wrong. They start by themselves. */
  ready(): Promise<readonly DiscoveryFailure[]>;
  /** Asks the sources again. */
  refreshTools(): Promise<readonly DiscoveryFailure[]>;
  /** Goes on where a session that is taken up again stopped: with its calls that had not begun. */
  goOn(signal?: AbortSignal): AsyncGenerator<AgentEvent>;
  /** The prompts that files define; a prompt that begins with the `/name` of one stands for it. */
  customCommands(): Promise<readonly CustomCommand[]>;
  /** What the person says while a run works: it goes with the run's next request, behind the answers so far. */
  steer(text: string): void;
  /** The same, for when the model has ended its turn: the run then goes on with it. */
  queue(text: string): void;
  /** Takes back what was said and has not been sent yet; else it goes before the next prompt. */
  takeWaiting(): string[];
  /** What runs, for the person. */
  readonly commands: CommandList;
  /** Subagents that work in the background. */
  readonly tasks: TaskList;
  /** Ends every command that still runs, and every task, in the background too. To be called when the session is done with. */
  close(): Promise<void>;
}

export function createToolbox(options: ToolboxOptions): Toolbox {
  const { registry, runCalls, callIds, discovery, approval, root, commands, close } = joinParts(
    options,
    options.record ? { undoWriter: `call-${newSessionId()}` } : {},
  );
  const run: Toolbox["run"] = (name, args, options) =>
    answerOf(runCalls, { id: callIds.next(), name, args }, options);
  return {
    registry,
    run,
    close,
    commands,
    mcp: lazyMcp(discovery),
    ready: () => discovery.ready(),
    refreshTools: () => discovery.refresh(),
    get discoveryFailures() {
      return discovery.failures;
    },
    explain: (command) => approval(commandRequest(command, root)),
    call: async (name, args, signal) => resultOf(await run(name, args, signal ? { signal } : {})),
  };
}

/** One call outside any history. */
async function answerOf(
  runCalls: RunCalls,
  call: FunctionCall,
  { signal, onCall }: RunOptions = {},
): Promise<AnsweredCall> {
  const tell = onCall ? (await import("./scheduler/sound-tool.ts")).soundListener(onCall) : () => {};
  const answers = await runCalls([call], signal ?? new AbortController().signal, tell);
  const answer = answers[0];
  if (answer === undefined || !isAnswered(answer)) throw new Error("The scheduler left a call unanswered.");
  return answer;
}

/** A command as the shell tool would ask about it. */
function commandRequest(command: string, directory: string): ApprovalRequest {
  const title = "";
  const confirmation = { kind: "exec" as const, title, command, parts: [command], directory, grants: [] };
  return { tool: "run_shell_command", kind: "execute", confirmation, subjects: [command] };
}

function resultOf(answer: AnsweredCall): ToolResult {
  const { llmContent, returnDisplay } = answer;
  return answer.status === "success"
    ? { llmContent, returnDisplay }
    : { llmContent, returnDisplay, error: answer.error };
}

/** As `createSession`, which adds how settings and environment name models: `openModel` does. */
export function openSession(options: SessionOptions): Session {
  return new LiveSession(joinSession(options));
}

class LiveSession implements Session {
  readonly id: string;
  readonly registry: ToolRegistry;
  readonly mcp: McpDoor;
  readonly commands: CommandList;
  readonly tasks: TaskList;
  readonly #parts: JoinedSession;
  readonly #line = new RunLine();
  #isFirst = true;

  constructor(parts: JoinedSession) {
    const { joined } = parts;
    const { discovery, notes } = joined;
    this.#parts = parts;
    this.id = parts.id;
    this.registry = joined.registry;
    this.commands = joined.commands;
    this.tasks = parts.background;
    this.mcp = lazyMcp(discovery);
    discovery.onFailure = ({ source, message }) => {
      notes.push(`Tools from ${source}: ${message}`);
    };
    // In the background, so that whoever opens a session can draw its first screen before anything else.
    setImmediate(() => void discovery.start());
  }

  get history(): readonly Message[] {
    return this.#parts.agent.history;
  }

  get contextFill(): ContextFill {
    return this.#parts.agent.contextFill;
  }

  get approvalMode(): ApprovalMode {
    return this.#parts.joined.current.mode;
  }

  set approvalMode(mode) {
    this.#parts.joined.current.enter(mode);
  }

  run(text: string, signal?: AbortSignal): AsyncGenerator<AgentEvent> {
    if (typeof text !== "string") throw new TypeError("The prompt must be a string.");
    return this.#inTurn(text, signal);
  }

  goOn(signal?: AbortSignal): AsyncGenerator<AgentEvent> {
    return this.#inTurn(null, signal);
  }

  #inTurn(prompt: string | null, signal = new AbortController().signal): AsyncGenerator<AgentEvent> {
    return this.#line.inTurn(() => toldToTheEnd(this.#run(prompt, signal), this.#parts.recording), signal);
  }

  async *#run(prompt: string | null, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const { joined, definitions, subagents, work, recording } = this.#parts;
    joined.spoken.inputs += 1;
    await joined.discovery.beforePrompt(signal);
    const known = await definitions();
    if (this.#isFirst) joined.notes.push(...(await subagents.load()), ...known.problems);
    this.#isFirst = false;
    const text = prompt?.startsWith("/") ? await expanded(prompt, known.commands) : prompt;
    const said = text === null ? null : await this.mcp.resolved(text, signal);
    for await (const event of work.run(said, signal)) {
      const told = event.type === "session" ? [] : joined.notes.splice(0).map(notice);
      for (const one of told) recording.note(one);
      yield* told;
      yield event;
    }
  }

  events(from?: number): AsyncGenerator<LogRecord> {
    return this.#parts.recording.follow(from);
  }

  note(event: FaceEvent): void {
    this.#parts.recording.note(event);
  }

  get questions(): readonly Question[] {
    const { parking, joined } = this.#parts;
    return [...(parking.open ? [parking.open] : []), ...joined.questions.open];
  }

  answer(questionId: string, decision: Decision | null): string | null {
    const { parking, joined } = this.#parts;
    const parked = parking.open;
    return parked?.id === questionId
      ? parking.answer(parked, decision)
      : joined.questions.answer(questionId, decision);
  }

  compact(signal = new AbortController().signal): Promise<ContextFill> {
    return this.#line.take(() => this.#parts.agent.compact(signal), signal);
  }

  useModel(model: string | ChatModel): void {
    const { models, agent } = this.#parts;
    models.use(model);
    agent.useModel(models.model, models.window);
  }

  steer(text: string): void {
    this.#parts.joined.spoken.inputs += 1;
    this.#parts.agent.words.steer(text);
  }

  queue(text: string): void {
    this.#parts.joined.spoken.inputs += 1;
    this.#parts.agent.words.queue(text);
  }

  takeWaiting(): string[] {
    return this.#parts.agent.words.takeAll();
  }

  async call(name: string, args: FunctionCall["args"], signal?: AbortSignal): Promise<ToolResult> {
    const { runCalls, callIds } = this.#parts.joined;
    const call = { id: callIds.next(), name, args };
    return resultOf(await answerOf(runCalls, call, signal ? { signal } : {}));
  }

  ready(): Promise<readonly DiscoveryFailure[]> {
    return this.#parts.joined.discovery.ready();
  }

  refreshTools(): Promise<readonly DiscoveryFailure[]> {
    return this.#parts.joined.discovery.refresh();
  }

  async customCommands(): Promise<readonly CustomCommand[]> {
    return (await this.#parts.definitions()).commands;
  }

  async close(): Promise<void> {
    const { background, joined, recording } = this.#parts;
    await background.stopAll();
    if (!this.#isFirst) await joined.hooks?.at("session_end", new AbortController().signal);
    await Promise.allSettled([joined.close(), recording.close()]);
  }
}

/** A run that fails where nothing should is told as any other that failed. */
async function* toldToTheEnd(events: AsyncGenerator<AgentEvent>, recording: Recording) {
  try {
    yield* events;
  } catch (error) {
    const event = (await import("./session/failed-run.ts")).failedRun(error);
    recording.note(event);
    yield event;
  }
}

async function expanded(prompt: string, commands: readonly CustomCommand[]): Promise<string> {
  if (commands.length === 0) return prompt;
  const { expandedCommand } = await import("./agent/custom-commands.ts");
  return expandedCommand(prompt, commands) ?? prompt;
}
