import type { QuestionEvent } from "@burin/contract/agent-event";
import { unlessAborted } from "@burin/contract/async/wait";
import { messageOf } from "@burin/contract/text/error-message";
import type { Confirmation, Decision, Question } from "@burin/contract/tools";
import { type Answer, decisionsFor, readAnswer, withoutContent } from "./decision.ts";

/**
 * Asks the user; resolves to null when no user is there to answer. For faces that can answer at once: others
 * answer a question by its id, at any later time.
 */
export type Confirm = (
  confirmation: Confirmation,
  signal: AbortSignal,
  question: Question,
) => Promise<Decision | null>;

export interface QuestionNeeds {
  readonly confirm?: Confirm | undefined;
  readonly tell?: (event: QuestionEvent) => void;
  /**
   * Returns the answer if it was given before the question comes up, e.g. in a resumed session. Without one it
   * returns null at once, so that no answer by the id falls between.
   */
  readonly recall?: (question: Question) => Promise<EarlyAnswer | null> | null;
}

export interface EarlyAnswer extends Answer {
  /** Readers have heard of it when it was given. */
  readonly isTold: boolean;
}

type Settle = (decision: Decision | null) => void;

/** The one queue of questions of a session: one is open at a time, whatever asks, and the first answer counts. */
export class Questions {
  readonly #needs: QuestionNeeds;
  readonly #open = new Map<string, { readonly question: Question; readonly settle: Settle }>();
  #last: Promise<unknown> = Promise.resolve();
  #turns = 0;
  /** How often "always" was answered. */
  #grants = 0;

  constructor(needs: QuestionNeeds) {
    this.#needs = needs;
  }

  /** The questions that wait for an answer now. */
  get open(): readonly Question[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  /** How many questions are queued after the open one. */
  get waiting(): number {
    return Math.max(this.#turns - this.#open.size, 0);
  }

  /** Returns null when the answer is accepted, otherwise what is wrong with it; the question then stays open. */
  answer(id: string, given: unknown): string | null {
    const open = this.#open.get(id);
    if (open === undefined) return `no question ${JSON.stringify(id)} is open.`;
    const answer = readAnswer(given, open.question.confirmation);
    if (typeof answer === "string") return answer;
    open.settle(answer.decision);
    return null;
  }

  /**
   * Starts the work when no question is open, and asks no other until it ends. `isChanged`: meanwhile a question
   * was answered with "always", which may decide this one too.
   */
  async inTurn<T>(work: (isChanged: boolean) => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#last;
    const grants = this.#grants;
    this.#turns += 1;
    const turn = unlessAborted(before, signal)
      .then(() => work(this.#grants !== grants))
      .finally(() => {
        this.#turns -= 1;
      });
    this.#last = Promise.allSettled([before, turn]).then(() => {});
    return turn;
  }

  /** Asks the question; null when there is no answer. Throws when the answer is not clear. Only within `inTurn`. */
  async ask(question: Question, signal: AbortSignal): Promise<Decision | null> {
    const recalled = this.#needs.recall?.(question) ?? null;
    const early = recalled === null ? null : await recalled;
    signal.throwIfAborted();
    const decision = early?.isTold
      ? checked(question.confirmation, early.decision)
      : await this.#told(question, early, signal);
    if (decision?.outcome === "always") this.#grants += 1;
    return decision;
  }

  async #told(question: Question, early: Answer | null, signal: AbortSignal): Promise<Decision | null> {
    const { tell } = this.#needs;
    let decision: Decision | null = null;
    try {
      if (early === null) decision = await this.#answered(question, signal);
      else {
        tell?.({ type: "question", ...question });
        decision = checked(question.confirmation, early.decision);
      }
    } finally {
      tell?.({ type: "question_answered", id: question.id, decision: decision && withoutContent(decision) });
    }
    return decision;
  }

  /** The first counts: an answer by the id, one by the callback, or an interruption. Then it is not open any more. */
  #answered(question: Question, signal: AbortSignal): Promise<Decision | null> {
    const { id } = question;
    return new Promise((resolve, reject) => {
      const close = () => {
        signal.removeEventListener("abort", stop);
        return this.#open.delete(id);
      };
      const settle = (decision: Decision | null) => void (close() && resolve(decision));
      const fail = (error: unknown) => void (close() && reject(error));
      const stop = () => fail(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      this.#open.set(id, { question, settle });
      this.#needs.tell?.({ type: "question", ...question });
      this.#confirmed(question, signal).then((decision) => {
        if (decision !== undefined) settle(decision);
      }, fail);
    });
  }

  /** Resolves to undefined when the answer comes by the question's id. */
  async #confirmed(question: Question, signal: AbortSignal): Promise<Decision | null | undefined> {
    const { confirm } = this.#needs;
    if (confirm === undefined) return undefined;
    const { confirmation } = question;
    let given: unknown;
    try {
      given = await confirm(confirmation, signal, question);
    } catch (error) {
      throw new Error(`its question could not be asked: ${messageOf(error)}`);
    }
    return checked(confirmation, given);
  }
}

/** Callbacks and options come from programs that may ignore the types. */
function checked(question: Confirmation, given: unknown): Decision | null {
  const answer = readAnswer(given, question);
  if (typeof answer !== "string") return answer.decision;
  throw new Error(`the answer to its question must be one of ${decisionsFor(question.kind)}`);
}
