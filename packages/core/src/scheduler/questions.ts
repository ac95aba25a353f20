import type { AnsweredWith, QuestionEvent } from "@burin/contract/agent-event";
import { unlessAborted } from "@burin/contract/async/wait";
import { messageOf } from "@burin/contract/text/error-message";
import type { Confirmation, Decision, Question } from "@burin/contract/tools";
import { decisionsFor, readDecision } from "./decision.ts";

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
  /** Returns the answer if it was given before the question is asked again, e.g. in a resumed session. */
  readonly recall?: (question: Question) => Promise<Decision | null>;
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
    const { kind } = open.question.confirmation;
    const decision = given === null ? null : readDecision(given, kind);
    if (decision === null && given !== null) return `the decision must be one of ${decisionsFor(kind)}.`;
    this.#open.delete(id);
    open.settle(decision);
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
    const { tell, recall } = this.#needs;
    tell?.({ type: "question", ...question });
    let decision: Decision | null = null;
    try {
      decision = (await recall?.(question)) ?? null;
      signal.throwIfAborted();
      decision ??= await unlessAborted(this.#answered(question, signal), signal);
    } finally {
      this.#open.delete(question.id);
      tell?.({ type: "question_answered", id: question.id, decision: decision && withoutContent(decision) });
    }
    if (decision?.outcome === "always") this.#grants += 1;
    return decision;
  }

  #answered(question: Question, signal: AbortSignal): Promise<Decision | null> {
    return new Promise((resolve, reject) => {
      this.#open.set(question.id, { question, settle: resolve });
      this.#confirmed(question, signal).then((decision) => {
        if (decision !== undefined) resolve(decision);
      }, reject);
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
    const decision = given === null ? null : readDecision(given, confirmation.kind);
    if (decision !== null || given === null) return decision;
    throw new Error(`the answer to its question must be one of ${decisionsFor(confirmation.kind)}`);
  }
}

function withoutContent(decision: Decision): AnsweredWith {
  const { outcome } = decision;
  return outcome === "edited" || outcome === "filled" ? { outcome } : decision;
}
