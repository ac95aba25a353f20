import type { AgentEvent } from "./agent/agent-event.ts";
import { editCorrector } from "./agent/edit-corrector.ts";
import type { ApprovalMode, ApprovalRequest, Verdict } from "./approval/approval-policy.ts";
import { type AgentOptions, agentOf } from "./assembly/join-agent.ts";
import { recordingOf } from "./assembly/join-recording.ts";
import { joinParts } from "./assembly/join-tools.ts";
import type { ToolboxOptions } from "./assembly/toolbox-options.ts";
import type { Message } from "./messages/message.ts";
import type { ChatModel } from "./models/chat-model.ts";
import { configuredModel } from "./models/configured-model.ts";
import type { OnCall } from "./scheduler/scheduler.ts";
import { type AnsweredCall, isAnswered } from "./scheduler/tool-call.ts";
import type { ResumedSession } from "./session/resume.ts";
import { newSessionId } from "./session/session-id.ts";
import { SessionRun } from "./session/session-run.ts";
import { mergeSettings, type Settings } from "./settings/settings.ts";
import type { ToolRegistry } from "./tools/tool-registry.ts";
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
  /** Ends every command that still runs, in the background too. To be called when the toolbox is done with. */
  close(): Promise<void>;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  readonly onCall?: OnCall;
}

export interface SessionOptions extends Omit<ToolboxOptions, "root">, AgentOptions {
  /** The folder that all work stays in. It must exist. */
  readonly cwd: string;
  /** Instead of the one that settings and environment name. */
  readonly model?: ChatModel;
  /** Keeps the session under BURIN_HOME, so that it can be taken up again. */
  readonly record?: boolean;
  /** A session to take up again, from `resumeSession`; it is recorded on. */
  readonly resume?: ResumedSession;
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
  /** Goes on where a session that is taken up again stopped: with its calls that had not begun. */
  goOn(signal?: AbortSignal): AsyncGenerator<AgentEvent>;
  /** What the person says while a run works: it goes with the run's next request, behind the answers so far. */
  steer(text: string): void;
  /** The same, for when the model has ended its turn: the run then goes on with it. */
  queue(text: string): void;
  /** Takes back what was said and has not been sent yet; else it goes before the next prompt. */
  takeWaiting(): string[];
  /** Ends every command that still runs, in the background too. To be called when the session is done with. */
  close(): Promise<void>;
}

export function createToolbox(options: ToolboxOptions): Toolbox {
  const { registry, scheduler, approval, root, close } = joinParts(options);
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
  const environment = options.environment ?? process.env;
  const model = options.model ?? modelOf(settings, environment);
  const { resume: resumed } = options;
  const id = resumed?.id ?? newSessionId();
  const { registry, scheduler, workspace, root, close, current, spoken } = joinParts(
    { ...options, root: options.cwd },
    {
      ...(settings.tools.editCorrection ? { correctEdit: editCorrector(model) } : {}),
      recorded: async () => recording?.recorded(),
    },
  );
  const isRecorded = options.record || resumed !== undefined;
  const recording = isRecorded ? recordingOf({ id, root, environment, settings, resumed }) : null;
  const kindOf = (tool: string) => registry.getTool(tool)?.kind;
  const agent = agentOf(options, {
    model,
    settings,
    registry,
    scheduler,
    workspace,
    ...(recording ? { onEvent: (event) => recording.note(event) } : {}),
    ...(resumed ? { past: resumed.session.events(kindOf) } : {}),
  });
  const work = new SessionRun({
    agent,
    announcement: {
      type: "session",
      sessionId: id,
      model: model.name,
      root,
      ...(resumed?.forkOf === undefined ? {} : { forkOf: resumed.forkOf }),
    },
    recording,
    past: resumed?.session ?? null,
    kindOf,
  });
  const run = (prompt: string | null, signal = new AbortController().signal) => {
    spoken.inputs += 1;
    return work.run(prompt, signal);
  };
  const hear = (enter: (text: string) => void) => (text: string) => {
    spoken.inputs += 1;
    enter(text);
  };
  return {
    id,
    registry,
    steer: hear((text) => agent.words.steer(text)),
    queue: hear((text) => agent.words.queue(text)),
    takeWaiting: () => agent.words.takeAll(),
    close: async () => {
      await Promise.allSettled([close(), recording?.close()]);
    },
    get history() {
      return agent.history;
    },
    get approvalMode() {
      return current.mode;
    },
    set approvalMode(mode) {
      current.enter(mode);
    },
    run,
    goOn: (signal) => run(null, signal),
  };
}

function modelOf(settings: Settings, environment: NodeJS.ProcessEnv): ChatModel {
  const model = configuredModel(settings.model, environment);
  if (model) return model;
  throw new Error("No model is configured: name one in settings.model, in OPENAI_MODEL, or pass `model`.");
}
