import { isDeepStrictEqual } from "node:util";
import type { AgentEvent, LoggedDecision } from "@burin/contract/agent-event";
import { getOrCreate } from "@burin/contract/async/once";
import type { FunctionCall } from "@burin/contract/messages/message";
import { isAnswered, type ToolCall } from "@burin/contract/tool-call";
import type { Decision, Question, ToolKind } from "@burin/contract/tools";
import { type CallQuestion, createQuestion, readDecision } from "../scheduler/decision.ts";

export type ResolveKind = (tool: string) => ToolKind | undefined;

/** A call without an answer, at the end of a log. */
interface OpenCall {
  /** The call as it was announced, with all its arguments. */
  readonly first: ToolCall;
  last: ToolCall;
  /** true if it was executing at some point, so that it may have had an effect. */
  hasBegun: boolean;
  /** The call's latest question. */
  asked: CallQuestion | null;
  /** The answer to that question, if one was accepted before the session ended. */
  decision: Decision | null;
}

/** Follows the calls of a log. It knows which calls have no answer, and how far each got. */
export class UnsettledCalls {
  readonly #open = new Map<string, OpenCall>();
  /** true if one of the last reply's calls has got past its announcement. */
  #isUnderWay = false;

  get hasBegun(): boolean {
    return [...this.#open.values()].some(({ hasBegun }) => hasBegun);
  }

  /** The calls that certainly had no effect and can still be run, in the order of the reply. */
  get notBegun(): readonly FunctionCall[] {
    const calls = [...this.#open.values()].filter(canStartAgain);
    return calls.map(({ first }) => ({ id: first.callId, name: first.name, args: first.args }));
  }

  /** The questions of calls that can still be run, each with its accepted answer or null. */
  get questions(): readonly { readonly question: Question; readonly decision: Decision | null }[] {
    return [...this.#open.values()].flatMap(({ asked, decision, hasBegun }) =>
      asked === null || hasBegun ? [] : { question: createQuestion(asked), decision },
    );
  }

  /** The first question without an answer. */
  get question(): Question | null {
    return this.questions.find(({ decision }) => decision === null)?.question ?? null;
  }

  /** Whether the event shows that the calls before it will never be answered: their answers were lost. */
  provesAnswersLost(event: AgentEvent): boolean {
    if (this.#open.size === 0) return false;
    if (event.type === "tool_call") {
      return this.#isUnderWay && event.call.status === "validating" && !this.#open.has(event.call.callId);
    }
    return event.type === "text" || event.type === "thought" || event.type === "compaction";
  }

  followEvent(event: AgentEvent): void {
    if (event.type === "question_answered") this.#followAnswer(event.id, event.decision);
    if (event.type !== "tool_call") return;
    const { call } = event;
    if (isAnswered(call)) this.#settleCall(call.callId);
    else {
      const createOpenCall = (): OpenCall => ({ ...NEW, first: call, last: call });
      const open = getOrCreate(this.#open, call.callId, createOpenCall);
      if (call.status === "awaiting_approval") followQuestion(open, call);
      open.last = call;
      if (call.status === "executing") open.hasBegun = true;
    }
    if (call.status !== "validating" && this.#open.size > 0) this.#isUnderWay = true;
  }

  #followAnswer(id: string, given: LoggedDecision | null): void {
    for (const open of this.#open.values()) {
      if (given === null || open.asked === null || createQuestion(open.asked).id !== id) continue;
      // The log omits what the user wrote, so such an answer must be given again.
      open.decision = readDecision(given, open.asked.confirmation);
    }
  }

  #settleCall(callId: string): void {
    this.#open.delete(callId);
    if (this.#open.size === 0) this.#isUnderWay = false;
  }

  /** Answers these calls with what is known about them. They then count as settled. */
  createAnswers(kindOf: ResolveKind, which: "all" | "unusable"): AgentEvent[] {
    const chosen = [...this.#open.values()].filter((open) => which === "all" || !canStartAgain(open));
    return chosen.map((open) => {
      const { callId, name, args, description } = open.last;
      const error = describeUnsettled(open, kindOf(name));
      const answer = { llmContent: error.message, returnDisplay: error.message, error };
      this.#settleCall(callId);
      return { type: "tool_call", call: { callId, name, args, description, status: "error", ...answer } };
    });
  }
}

const NEW = { hasBegun: false, asked: null, decision: null };

/** Notes a call's question. An answer is kept only if it was given to exactly this question. */
function followQuestion(open: OpenCall, asked: CallQuestion): void {
  if (!isDeepStrictEqual(open.asked?.confirmation, asked.confirmation)) open.decision = null;
  open.asked = asked;
}

function canStartAgain({ first, hasBegun }: OpenCall): boolean {
  return !hasBegun && !isRedacted(first.args);
}

/** Whether a secret was removed from the value: see redactor.ts. */
export function isRedacted(value: unknown): boolean {
  return JSON.stringify(value)?.includes("[redacted: ") ?? false;
}

function describeUnsettled({ last, hasBegun }: OpenCall, kind: ToolKind | undefined) {
  const { name } = last;
  if (!hasBegun) {
    const why = isRedacted(last.args)
      ? "its arguments held a secret, which is not kept. Call it again if it is still needed."
      : last.status === "awaiting_approval"
        ? "it waited for an approval, and none was given."
        : "the session ended before it began. Call it again if it is still needed.";
    return { type: "not_run", message: `${name} was not run: ${why}` };
  }
  if (kind === "read" || kind === "plan") {
    const message = `${name} was cut off, and its result is not known. It changes nothing, so call it again if it is still needed.`;
    return { type: "interrupted", message };
  }
  const message = [
    `${name} may have run: the session ended while it was running, and it is not known how far it came.`,
    "It was not repeated. Look at what it was to change before you go on.",
  ].join(" ");
  return { type: "may_have_run", message };
}
