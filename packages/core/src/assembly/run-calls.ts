import { once } from "@burin/contract/async/once";
import type { FunctionCall } from "@burin/contract/messages/message";
import { type AnsweredCall, isAnswered, type ToolCall } from "@burin/contract/tool-call";
import type { OnUpdate } from "@burin/contract/tools";
import type { CallIds } from "../scheduler/call-ids.ts";
import type { OnCall, RunCalls } from "../scheduler/scheduler.ts";

/** Options of a single call. */
export interface CallOptions {
  /** Cancels the call when it is aborted. */
  readonly signal?: AbortSignal;
  /** Gets the live output of the call; each update replaces the previous one. */
  readonly onUpdate?: OnUpdate;
  /** Called with each new state of the call. */
  readonly onCall?: OnCall;
  /** The id that the model gave the call. Default: the toolbox numbers it. */
  readonly callId?: string;
}

/** Options that several calls share. */
export interface CallAllOptions extends Pick<CallOptions, "signal" | "onCall"> {
  /** Called with the live output of each call, and the call's id. */
  readonly onUpdate?: (display: Parameters<OnUpdate>[0], callId: string) => void;
}

/** One of several calls. Its id is the one that the model gave it. Default: the toolbox numbers it. */
export interface CallRequest
  extends Pick<FunctionCall, "name" | "args">,
    Partial<Pick<FunctionCall, "id" | "argsError">> {}

interface Flow {
  readonly runCalls: RunCalls;
  readonly callIds: CallIds;
}

const loadToolWrapper = once(() => import("../scheduler/checked-tool.ts"));

/** Runs calls outside any history. Each gets one answer, in the order of the calls. */
export async function callAll(
  { runCalls, callIds }: Flow,
  requests: readonly CallRequest[],
  { signal, onCall, onUpdate }: CallAllOptions = {},
): Promise<AnsweredCall[]> {
  const calls = requests.map(({ id = callIds.createId(), ...call }) => ({ id, ...call }));
  const reportLiveOutput = (state: ToolCall) =>
    state.status === "executing" && state.display !== undefined && onUpdate?.(state.display, state.callId);
  const isHeard = onCall !== undefined || onUpdate !== undefined;
  const wrap = isHeard ? (await loadToolWrapper()).wrapListener : null;
  // Wrap each listener separately, so that neither its errors nor its rejections affect the other or the call.
  const listeners = wrap ? [wrap((state: ToolCall) => onCall?.(state)), wrap(reportLiveOutput)] : [];
  const notifyListeners = (state: ToolCall) => {
    for (const listen of listeners) listen(state);
  };
  const answers = await runCalls(calls, {
    signal: signal ?? new AbortController().signal,
    onCall: notifyListeners,
  });
  if (answers.length !== calls.length || !answers.every(isAnswered))
    throw new Error("The scheduler left a call unanswered.");
  return answers;
}

/** Runs one call. Earlier versions passed the signal alone as the last argument. */
export async function callOne(
  flow: Flow,
  { name, args }: Pick<FunctionCall, "name" | "args">,
  given: CallOptions | AbortSignal = {},
): Promise<AnsweredCall> {
  const { callId, ...options } = given instanceof AbortSignal ? { signal: given } : given;
  const [answer] = await callAll(
    flow,
    [{ name, args, ...(callId === undefined ? {} : { id: callId }) }],
    options,
  );
  if (answer === undefined) throw new Error("The scheduler left a call unanswered.");
  return answer;
}
