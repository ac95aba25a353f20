import type { AgentEvent } from "@burin/contract/agent-event";
import type { FunctionCall } from "@burin/contract/messages/function-call";
import type { Message } from "@burin/contract/messages/message";
import { type AnsweredCall, isAnswered } from "@burin/contract/tool-call";
import type { ToolResult } from "@burin/contract/tools";
import type { CommandList } from "@burin/machine/processes/command-list";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { TaskList } from "./agent/background-tasks.ts";
import type { CustomCommand } from "./agent/custom-commands.ts";
import { notice } from "./agent/plain-events.ts";
import type { ApprovalMode, ApprovalRequest, Verdict } from "./approval/approval-policy.ts";
import { joinSession } from "./assembly/join-session.ts";
import { joinParts } from "./assembly/join-tools.ts";
import { lazyMcp } from "./assembly/lazy-mcp.ts";
import type { SessionOptions } from "./assembly/session-options.ts";
import type { ToolboxOptions } from "./assembly/toolbox-options.ts";
import type { OnCall, Scheduler } from "./scheduler/scheduler.ts";
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
  const { registry, scheduler, discovery, approval, root, commands, close } = joinParts(
    options,
    options.record ? { undoWriter: `call-${newSessionId()}` } : {},
  );
  const run: Toolbox["run"] = (name, args, options) => answerOf(scheduler, { name, args }, options);
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
  scheduler: Scheduler,
  { name, args }: Pick<FunctionCall, "name" | "args">,
  { signal, onCall }: RunOptions = {},
): Promise<AnsweredCall> {
  const call = { id: "call_1", name, args };
  const tell = onCall ? (await import("./scheduler/sound-tool.ts")).soundListener(onCall) : () => {};
  const answers = await scheduler.run([call], signal ?? new AbortController().signal, tell);
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
  const { id, joined, subagents, definitions, agent, background, work, recording } = joinSession(options);
  const { registry, scheduler, discovery, commands, close, current, spoken, hooks, notes } = joined;
  discovery.onFailure = ({ source, message }) => {
    notes.push(`Tools from ${source}: ${message}`);
  };
  const mcp = lazyMcp(discovery);
  let isFirst = true;
  const hear = (enter: (text: string) => void) => (text: string) => {
    spoken.inputs += 1;
    enter(text);
  };
  // In the background, so that whoever opens a session can draw its first screen before anything else.
  setImmediate(() => void discovery.start());
  const line = new RunLine();
  const inTurn = (prompt: string | null, signal = new AbortController().signal) =>
    line.inTurn(() => toldToTheEnd(run(prompt, signal), recording), signal);
  async function* run(prompt: string | null, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    spoken.inputs += 1;
    await discovery.beforePrompt(signal);
    const known = await definitions();
    if (isFirst) notes.push(...(await subagents.load()), ...known.problems);
    isFirst = false;
    const text = prompt?.startsWith("/") ? await expanded(prompt, known.commands) : prompt;
    const said = text === null ? null : await mcp.resolved(text, signal);
    for await (const event of work.run(said, signal)) {
      if (event.type !== "session") yield* notes.splice(0).map(notice);
      yield event;
    }
  }
  return {
    id,
    registry,
    commands,
    tasks: background,
    steer: hear((text) => agent.words.steer(text)),
    queue: hear((text) => agent.words.queue(text)),
    takeWaiting: () => agent.words.takeAll(),
    close: async () => {
      await background.stopAll();
      if (!isFirst) await hooks?.at("session_end", new AbortController().signal);
      await Promise.allSettled([close(), recording?.close()]);
    },
    call: async (name, args, signal) =>
      resultOf(await answerOf(scheduler, { name, args }, signal ? { signal } : {})),
    customCommands: async () => (await definitions()).commands,
    mcp,
    ready: () => discovery.ready(),
    refreshTools: () => discovery.refresh(),
    get history() {
      return agent.history;
    },
    get approvalMode() {
      return current.mode;
    },
    set approvalMode(mode) {
      current.enter(mode);
    },
    run: (text, signal) => {
      if (typeof text !== "string") throw new TypeError("The prompt must be a string.");
      return inTurn(text, signal);
    },
    goOn: (signal) => inTurn(null, signal),
  };
}

/** A run that fails where nothing should is told as any other that failed. */
async function* toldToTheEnd(events: AsyncGenerator<AgentEvent>, recording: Recording | null) {
  try {
    yield* events;
  } catch (error) {
    const event = (await import("./session/failed-run.ts")).failedRun(error);
    recording?.note(event);
    yield event;
  }
}

async function expanded(prompt: string, commands: readonly CustomCommand[]): Promise<string> {
  if (commands.length === 0) return prompt;
  const { expandedCommand } = await import("./agent/custom-commands.ts");
  return expandedCommand(prompt, commands) ?? prompt;
}
