import { once } from "@burin/contract/async/once";
import type { FunctionCall } from "@burin/contract/messages/message";
import { type AnsweredCall, isAnswered, type ToolCall } from "@burin/contract/tool-call";
import type { OnUpdate } from "@burin/contract/tools";
import type { CallIds } from "../scheduler/call-ids.ts";
import type { OnCall, RunCalls } from "../scheduler/scheduler.ts";

/** What a single call may have beside its name and its parameters. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Gets the live output of the call; each update replaces the previous one. */
  readonly onUpdate?: OnUpdate;
  /** Gets each new state of the call. */
  readonly onCall?: OnCall;
  /** The id that the model gave the call; default: numbered by the toolbox. */
  readonly callId?: string;
}

/** What several calls share. */
export interface CallAllOptions extends Pick<CallOptions, "signal" | "onCall"> {
  /** Gets the live output of each call, with its id. */
  readonly onUpdate?: (display: Parameters<OnUpdate>[0], callId: string) => void;
}

/** One of several calls; its id is what the model gave it, otherwise numbered by the toolbox. */
export interface CallRequest
  extends Pick<FunctionCall, "name" | "args">,
    Partial<Pick<FunctionCall, "id" | "argsError">> {}

interface Flow {
  readonly runCalls: RunCalls;
  readonly callIds: CallIds;
}

const soundTools = once(() => import("../scheduler/sound-tool.ts"));

/** Calls of the user, outside any history: each gets one answer, in the order of the calls. */
export async function callAll(
  { runCalls, callIds }: Flow,
  requests: readonly CallRequest[],
  { signal, onCall, onUpdate }: CallAllOptions = {},
): Promise<AnsweredCall[]> {
  const calls = requests.map(({ id = callIds.next(), ...call }) => ({ id, ...call }));
  const update = (state: ToolCall) =>
    state.status === "executing" && state.display !== undefined && onUpdate?.(state.display, state.callId);
  const isHeard = onCall !== undefined || onUpdate !== undefined;
  const wrap = isHeard ? (await soundTools()).soundListener : null;
  // Each failure of a listener is its own, one that comes late too.
  const listeners = wrap ? [wrap((state: ToolCall) => onCall?.(state)), wrap(update)] : [];
  const tell = (state: ToolCall) => {
    for (const listen of listeners) listen(state);
  };
  const answers = await runCalls(calls, { signal: signal ?? new AbortController().signal, onCall: tell });
  if (answers.length !== calls.length || !answers.every(isAnswered))
    throw new Error("The scheduler left a call unanswered.");
  return answers;
}

/** The same for one call. In earlier versions the signal was given alone. */
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
