import type { FunctionCall } from "@burin/contract/messages/function-call";
import { toParts } from "@burin/contract/messages/parts";
import { MOST_ANSWER_CHARACTERS } from "@burin/contract/text/truncate";
import { type AnsweredCall, isAnswered, type ToolCall } from "@burin/contract/tool-call";
import { boundedContent } from "../scheduler/function-response.ts";
import type { RunCalls } from "../scheduler/scheduler.ts";
import type { Budget } from "./budget.ts";
import { roomForAnswers } from "./context-size.ts";
import type { Conversation } from "./conversation.ts";
import type { Run } from "./run.ts";

/** A shorter answer is useless. */
const LEAST_CHARACTERS = 1000;

interface RoundNeeds {
  readonly runCalls: RunCalls;
  readonly budget: Budget | undefined;
  /** In tokens. */
  readonly window: number;
  readonly conversation: Conversation;
}

/** Limits the answers to the room in the window, and corrects a model that repeats itself. */
export function startCalls(
  calls: readonly FunctionCall[],
  { runCalls, budget, window, conversation: { note, told } }: RoundNeeds,
  { signal, guard }: Run,
): Promise<AnsweredCall[]> {
  const bound = answerBounder(window, calls.length);
  const hear = (call: ToolCall): void => {
    const bounded = bound(call);
    told.push(note({ type: "tool_call", call: guard?.seen(bounded) ?? bounded }));
  };
  const affordable = calls.slice(0, budget?.callsLeft);
  budget?.spendCalls(affordable.length);
  const refused = calls.slice(affordable.length);
  if (affordable.length === 0) refuseAll(refused, hear);
  let announced = 0;
  return runCalls(affordable, signal, (call) => {
    hear(call);
    announced += 1;
    // The scheduler has announced all its calls and answered none: these are the rest of the same reply.
    if (announced === affordable.length) refuseAll(refused, hear);
  });
}

/** Distributes the room for one reply's answers; with a large window no answer is cut here. */
function answerBounder(window: number, calls: number): (call: ToolCall) => ToolCall {
  let left = roomForAnswers(window);
  let open = calls;
  return (call) => {
    if (!isAnswered(call)) return call;
    const share = Math.max(left / 2, left / open, LEAST_CHARACTERS);
    const most = Math.floor(Math.min(share, MOST_ANSWER_CHARACTERS));
    const llmContent = boundedContent(call.llmContent, most);
    left -= toParts(llmContent).reduce((sum, { text = "" }) => sum + text.length, 0);
    open = Math.max(open - 1, 1);
    return { ...call, llmContent };
  };
}

/** Calls beyond the budget get answers like any other; all are announced before one is answered. */
function refuseAll(calls: readonly FunctionCall[], hear: (call: ToolCall) => void): void {
  const known = calls.map(({ id: callId, name, args }) => ({ callId, name, args, description: "" }));
  for (const call of known) hear({ ...call, status: "validating" });
  for (const call of known) {
    const message = `${call.name} was not run: the budget of calls is used up.`;
    const error = { type: "budget", message };
    hear({ ...call, status: "error", llmContent: message, returnDisplay: message, error });
  }
}
