import type { FunctionCall } from "@burin/contract/messages/message";
import type { AnsweredCall, ToolCall } from "@burin/contract/tool-call";
import type { RunCalls } from "../scheduler/scheduler.ts";
import type { Budget } from "./budget.ts";
import { computeAnswerRoom } from "./context-size.ts";
import type { Conversation } from "./conversation.ts";
import type { Run } from "./run.ts";

interface RoundOptions {
  readonly runCalls: RunCalls;
  readonly budget: Budget | undefined;
  /** The model's window in tokens. */
  readonly window: number;
  readonly conversation: Conversation;
}

/** Runs the calls that the budget allows, and corrects a model that repeats itself. */
export function runAffordableCalls(
  calls: readonly FunctionCall[],
  { runCalls, budget, window, conversation: { note, told } }: RoundOptions,
  { signal, guard }: Run,
): Promise<AnsweredCall[]> {
  const logCall = (call: ToolCall): void =>
    told.push(note({ type: "tool_call", call: guard?.correctRepetition(call) ?? call }));
  guard?.beginReply();
  const affordable = calls.slice(0, budget?.callsLeft);
  budget?.spendCalls(affordable.length);
  const refused = calls.slice(affordable.length);
  if (affordable.length === 0) refuseAll(refused, logCall);
  let announced = 0;
  const onCall = (call: ToolCall): void => {
    logCall(call);
    announced += 1;
    // The scheduler has now announced all its calls and answered none: the rest of the same reply follows.
    if (announced === affordable.length) refuseAll(refused, logCall);
  };
  return runCalls(affordable, { signal, onCall, room: computeAnswerRoom(window) });
}

/** Answers the calls beyond the budget with an error. As for other calls, all are announced before one is answered. */
function refuseAll(calls: readonly FunctionCall[], hear: (call: ToolCall) => void): void {
  const known = calls.map(({ id: callId, name, args }) => ({ callId, name, args, description: "" }));
  for (const call of known) hear({ ...call, status: "validating" });
  for (const call of known) {
    const message = `${call.name} was not run: the budget of calls is used up.`;
    const error = { type: "budget", message };
    hear({ ...call, status: "error", llmContent: message, returnDisplay: message, error });
  }
}
