import { isDeepStrictEqual } from "node:util";
import type { AgentEvent, AnsweredWith } from "@burin/contract/agent-event";
import { onceFor } from "@burin/contract/async/once";
import type { FunctionCall } from "@burin/contract/messages/message";
import { isAnswered, type ToolCall } from "@burin/contract/tool-call";
import type { Decision, Question, ToolKind } from "@burin/contract/tools";
import { type AskedOfCall, questionOf, readDecision } from "../scheduler/decision.ts";

export type KindOf = (tool: string) => ToolKind | undefined;

/** A call without an answer, at the end of a log. */
interface OpenCall {
  /** As it was announced, with all its arguments. */
  readonly first: ToolCall;
  last: ToolCall;
  /** It was executing at some point: it may have had an effect. */
  hasBegun: boolean;
  /** Its latest question. */
  asked: AskedOfCall | null;
  /** The answer to that question, if one was accepted before the session ended. */
  decision: Decision | null;
}

/** Follows the calls of a log, and knows which ones have no answer and how far each got. */
export class UnsettledCalls {
  readonly #open = new Map<string, OpenCall>();
  /** One of the last reply's calls is past its announcement. */
  #isUnderWay = false;

  get hasBegun(): boolean {
    return [...this.#open.values()].some(({ hasBegun }) => hasBegun);
  }

  /** The calls that certainly had no effect and can be run, in the order of the reply. */
  get notBegun(): readonly FunctionCall[] {
    const calls = [...this.#open.values()].filter(canBegin);
    return calls.map(({ first }) => ({ id: first.callId, name: first.name, args: first.args }));
  }

  /** The questions of calls that can still be run, each with the answer that was accepted for it, or null. */
  get questions(): readonly { readonly question: Question; readonly decision: Decision | null }[] {
    return [...this.#open.values()].flatMap(({ asked, decision, hasBegun }) =>
      asked === null || hasBegun ? [] : { question: questionOf(asked), decision },
    );
  }

  /** The first question without an answer. */
  get question(): Question | null {
    return this.questions.find(({ decision }) => decision === null)?.question ?? null;
  }

  /** Whether the event shows that the calls before it will never be answered: their answers were lost. */
  showsLostAnswers(event: AgentEvent): boolean {
    if (this.#open.size === 0) return false;
    if (event.type === "tool_call") {
      return this.#isUnderWay && event.call.status === "validating" && !this.#open.has(event.call.callId);
    }
    return event.type === "text" || event.type === "thought" || event.type === "compaction";
  }

  follow(event: AgentEvent): void {
    if (event.type === "question_answered") this.#followAnswer(event.id, event.decision);
    if (event.type !== "tool_call") return;
    const { call } = event;
    if (isAnswered(call)) this.#settle(call.callId);
    else {
      const announced = (): OpenCall => ({ ...NEW, first: call, last: call });
      const open = onceFor(this.#open, call.callId, announced);
      if (call.status === "awaiting_approval") followQuestion(open, call);
      open.last = call;
      if (call.status === "executing") open.hasBegun = true;
    }
    if (call.status !== "validating" && this.#open.size > 0) this.#isUnderWay = true;
  }

  #followAnswer(id: string, given: AnsweredWith | null): void {
    for (const open of this.#open.values()) {
      if (given === null || open.asked === null || questionOf(open.asked).id !== id) continue;
      // What the user wrote is not in the log, so such an answer must be given again.
      open.decision = readDecision(given, open.asked.confirmation);
    }
  }

  #settle(callId: string): void {
    this.#open.delete(callId);
    if (this.#open.size === 0) this.#isUnderWay = false;
  }

  /** Answers that say what is known about the calls, all or only the unusable ones; these then count as settled. */
  answers(kindOf: KindOf, which: "all" | "unusable"): AgentEvent[] {
    const chosen = [...this.#open.values()].filter((open) => which === "all" || !canBegin(open));
    return chosen.map((open) => {
      const { callId, name, args, description } = open.last;
      const error = errorFor(open, kindOf(name));
      const answer = { llmContent: error.message, returnDisplay: error.message, error };
      this.#settle(callId);
      return { type: "tool_call", call: { callId, name, args, description, status: "error", ...answer } };
    });
  }
}

const NEW = { hasBegun: false, asked: null, decision: null };

/** An answer belongs to exactly the question that it was given to. */
function followQuestion(open: OpenCall, asked: AskedOfCall): void {
  if (!isDeepStrictEqual(open.asked?.confirmation, asked.confirmation)) open.decision = null;
  open.asked = asked;
}

function canBegin({ first, hasBegun }: OpenCall): boolean {
  return !hasBegun && !isRedacted(first.args);
}

/** Whether a secret was removed from the value: see redactor.ts. */
export function isRedacted(value: unknown): boolean {
  return JSON.stringify(value)?.includes("[redacted: ") ?? false;
}

function errorFor({ last, hasBegun }: OpenCall, kind: ToolKind | undefined) {
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
  const message = `${name} may have run: the session ended while it was running, and it is not known how far it came. It was not repeated. Look at what it was to change before you go on.`;
  return { type: "may_have_run", message };
}
