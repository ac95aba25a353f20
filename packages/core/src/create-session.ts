import { Agent } from "./agent/agent.ts";
import type { AgentEvent } from "./agent/agent-event.ts";
import { editCorrector } from "./agent/edit-corrector.ts";
import { systemPrompt } from "./agent/system-prompt.ts";
import type { ApprovalMode, ApprovalRequest, Verdict } from "./approval/approval-policy.ts";
import { joinParts } from "./assembly/join-tools.ts";
import type { ToolboxOptions } from "./assembly/toolbox-options.ts";
import type { Message } from "./messages/message.ts";
import type { ChatModel } from "./models/chat-model.ts";
import { configuredModel } from "./models/configured-model.ts";
import type { OnCall } from "./scheduler/scheduler.ts";
import { type AnsweredCall, isAnswered } from "./scheduler/tool-call.ts";
import { mergeSettings, type Settings } from "./settings/settings.ts";
import type { DiscoveryFailure, ToolRegistry } from "./tools/tool-registry.ts";
import type { ToolResult } from "./tools/tools.ts";

export type { ToolboxOptions };

/** The tools behind the whole flow, with no model. */
export interface Toolbox {
  readonly registry: ToolRegistry;
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
  /** Ends every command that still runs, in the background too. To be called when the toolbox is done with. */
  close(): Promise<void>;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  readonly onCall?: OnCall;
}

export interface SessionOptions extends Omit<ToolboxOptions, "root"> {
  /** The folder that all work stays in. It must exist. */
  readonly cwd: string;
  /** Instead of the one that settings and environment name. */
  readonly model?: ChatModel;
  /** Most replies of the model to one prompt. */
  readonly maxTurns?: number;
}

export interface Session {
  readonly id: string;
  readonly registry: ToolRegistry;
  /** What the model has been sent and has said so far. */
  readonly history: readonly Message[];
  /** How much runs unasked; it can be set while the session lives. */
  approvalMode: ApprovalMode;
  /** Works on one prompt; the events end with one `done`. A reader that stops early stops the work. */
  run(text: string, signal?: AbortSignal): AsyncGenerator<AgentEvent>;
  /** Resolves when every source of more tools has answered, with what went wrong. They start by themselves. */
  ready(): Promise<readonly DiscoveryFailure[]>;
  /** Asks the sources again. */
  refreshTools(): Promise<readonly DiscoveryFailure[]>;
  /** Ends every command that still runs, in the background too. To be called when the session is done with. */
  close(): Promise<void>;
}

const DEFAULT_MAX_TURNS = 200;

export function createToolbox(options: ToolboxOptions): Toolbox {
  const { registry, scheduler, discovery, approval, root, close } = joinParts(options);
  const run: Toolbox["run"] = async (name, args, { signal, onCall } = {}) => {
    const call = { id: "call_1", name, args };
    const answers = await scheduler.run([call], signal ?? new AbortController().signal, onCall ?? (() => {}));
    const answer = answers[0];
    if (answer === undefined || !isAnswered(answer)) throw new Error("The scheduler left a call unanswered.");
    return answer;
  };
  return {
    registry,
    run,
    close,
    ready: () => discovery.ready(),
    refreshTools: () => discovery.refresh(),
    get discoveryFailures() {
      return discovery.failures;
    },
    explain: (command) => approval(commandRequest(command, root)),
    call: async (name, args, signal) => resultOf(await run(name, args, signal ? { signal } : {})),
  };
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

export function createSession(options: SessionOptions): Session {
  const settings = mergeSettings([options.settings ?? {}]);
  const model = options.model ?? modelOf(settings, options.environment ?? process.env);
  const parts = { ...options, root: options.cwd };
  const { registry, scheduler, discovery, root, close, current, spoken } = settings.tools.editCorrection
    ? joinParts(parts, editCorrector(model))
    : joinParts(parts);
  const agent = new Agent({
    model,
    registry,
    scheduler,
    systemPrompt: systemPrompt(root),
    maxTurns: options.maxTurns ?? DEFAULT_MAX_TURNS,
  });
  const id = newSessionId();
  const notices: AgentEvent[] = [];
  discovery.onFailure = ({ source, message }) => {
    notices.push({ type: "notice", message: `Tools from ${source}: ${message}` });
  };
  // In the background, so that whoever opens a session can draw its first screen before anything else.
  setImmediate(() => void discovery.start());
  let isAnnounced = false;
  return {
    id,
    registry,
    close,
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
    async *run(text, signal) {
      if (!isAnnounced) yield { type: "session", sessionId: id, model: model.name, root };
      isAnnounced = true;
      spoken.inputs += 1;
      const stop = signal ?? new AbortController().signal;
      await discovery.beforePrompt(stop);
      for await (const event of agent.run(text, stop)) {
        yield* notices.splice(0);
        yield event;
      }
    },
  };
}

function modelOf(settings: Settings, environment: NodeJS.ProcessEnv): ChatModel {
  const model = configuredModel(settings.model, environment);
  if (model) return model;
  throw new Error("No model is configured: name one in settings.model, in OPENAI_MODEL, or pass `model`.");
}

/** Sorts by time; the random part keeps two sessions of one moment apart. */
function newSessionId(): string {
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, "");
  return `${time}-${Math.floor(Math.random() * 0x1000000)
    .toString(16)
    .padStart(6, "0")}`;
}
