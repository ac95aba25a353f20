import type { AgentEvent, QuestionEvent } from "@burin/contract/agent-event";
import type { Decision, Question } from "@burin/contract/tools";
import { readAnswer, removeUserContent } from "../scheduler/decision.ts";
import type { EarlyAnswer } from "../scheduler/questions.ts";
import type { UnsettledCalls } from "./unsettled-calls.ts";

interface ParkedQuestion {
  readonly question: Question;
  /** The first answer that was given. */
  given: EarlyAnswer | null;
}

/** The questions of an earlier process, until they are asked again or their calls are over. */
export class ParkedQuestions {
  readonly #calls: UnsettledCalls;
  readonly #answer: Decision | undefined;
  /** The questions by id; null until the log has been read. */
  #known: Map<string, ParkedQuestion> | null = null;

  /** `answer` belongs to the first question without an answer. */
  constructor(calls: UnsettledCalls, answer: Decision | undefined) {
    this.#calls = calls;
    this.#answer = answer;
  }

  /** The questions without an answer. */
  get open(): readonly Question[] {
    return [...this.#all.values()].flatMap(({ question, given }) => (given === null ? question : []));
  }

  /** Whether the answer to this call's question was given before the question is asked. */
  hasQuestion(callId: string): boolean {
    return [...this.#all.values()].some(
      ({ question, given }) => question.callId === callId && given !== null,
    );
  }

  /** Accepts the first answer. Returns the event for readers, or what is wrong, or null if it is not open. */
  answer(id: string, decision: unknown): QuestionEvent | string | null {
    const parked = this.#all.get(id);
    if (parked === undefined || parked.given !== null) return null;
    const answer = readAnswer(decision, parked.question.confirmation);
    if (typeof answer === "string") return answer;
    parked.given = { ...answer, isTold: true };
    const told = answer.decision && removeUserContent(answer.decision);
    return { type: "question_answered", id, decision: told };
  }

  /** Passes a question on to the queue, which asks it now. */
  takeQuestion(id: string): ParkedQuestion | undefined {
    const parked = this.#all.get(id);
    this.#all.delete(id);
    return parked;
  }

  /** Drops the question of a call that continues or ends without it. */
  dropAnswered(event: AgentEvent): void {
    if (event.type !== "tool_call") return;
    const { callId, status } = event.call;
    if (status === "validating" || status === "awaiting_approval") return;
    for (const [id, { question }] of this.#all) if (question.callId === callId) this.#all.delete(id);
  }

  clear(): void {
    this.#all.clear();
  }

  get #all(): Map<string, ParkedQuestion> {
    this.#known ??= this.#readFromLog();
    return this.#known;
  }

  #readFromLog(): Map<string, ParkedQuestion> {
    const known = this.#calls.questions;
    const first = known.find(({ decision }) => decision === null);
    const answer = this.#answer;
    return new Map(
      known.map((one): [string, ParkedQuestion] => {
        const { question, decision } = one;
        const logged = decision === null ? null : { decision, isTold: true };
        const given = one === first && answer !== undefined ? { decision: answer, isTold: false } : logged;
        return [question.id, { question, given }];
      }),
    );
  }
}
