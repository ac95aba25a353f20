import type { QuestionEvent } from "@burin/contract/agent-event";
import { rejectOnAbort } from "@burin/contract/async/wait";
import { describeError } from "@burin/contract/text/error-message";
import type { Confirmation, Decision, Question } from "@burin/contract/tools";
import { type Answer, describeDecisions, readAnswer, removeUserContent } from "./decision.ts";

/**
 * Asks the user. Resolves to null if no user is there to answer. For front ends that can answer at once; others answer
 * a question later by its id.
 */
export type Confirm = (
  confirmation: Confirmation,
  signal: AbortSignal,
  question: Question,
) => Promise<Decision | null>;

export interface QuestionOptions {
  readonly confirm?: Confirm | undefined;
  readonly tell?: (event: QuestionEvent) => void;
  /**
   * Returns the answer if it was given before the question is asked, for example in a resumed session. If there is
   * none, returns null synchronously, so that no answer by id is missed in between.
   */
  readonly recall?: (question: Question) => Promise<EarlyAnswer | null> | null;
}

export interface EarlyAnswer extends Answer {
  /** Whether readers already learned about the answer when it was given. */
  readonly isTold: boolean;
}

type SettleQuestion = (decision: Decision | null) => void;

/** The single queue of questions of a session. Only one question is open at a time, and the first answer counts. */
export class Questions {
  readonly #needs: QuestionOptions;
  readonly #open = new Map<string, { readonly question: Question; readonly settle: SettleQuestion }>();
  #last: Promise<unknown> = Promise.resolve();
  #turns = 0;
  /** How many questions were answered with "always". */
  #grants = 0;

  constructor(needs: QuestionOptions) {
    this.#needs = needs;
  }

  /** The open questions. */
  get open(): readonly Question[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  /** How many questions are queued after the open one. */
  get waiting(): number {
    return Math.max(this.#turns - this.#open.size, 0);
  }

  /** Returns null if the answer is accepted. Otherwise returns what is wrong with it, and the question stays open. */
  answer(id: string, given: unknown): string | null {
    const open = this.#open.get(id);
    if (open === undefined) return `no question ${JSON.stringify(id)} is open.`;
    const answer = readAnswer(given, open.question.confirmation);
    if (typeof answer === "string") return answer;
    open.settle(answer.decision);
    return null;
  }

  /**
   * Starts the work when no question is open, and asks no other question until it ends. `isChanged`: in the meantime a
   * question was answered with "always", which may decide this one too.
   */
  async inTurn<T>(work: (isChanged: boolean) => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#last;
    const grants = this.#grants;
    this.#turns += 1;
    const turn = rejectOnAbort(before, signal)
      .then(() => work(this.#grants !== grants))
      .finally(() => {
        this.#turns -= 1;
      });
    this.#last = Promise.allSettled([before, turn]).then(() => {});
    return turn;
  }

  /** Asks the question. Resolves to null without an answer. Throws for an invalid one. Only within `inTurn`. */
  async ask(question: Question, signal: AbortSignal): Promise<Decision | null> {
    const recalled = this.#needs.recall?.(question) ?? null;
    const early = recalled === null ? null : await recalled;
    signal.throwIfAborted();
    const decision = early?.isTold
      ? checkAnswer(question.confirmation, early.decision)
      : await this.#askAndAnnounce(question, early, signal);
    if (decision?.outcome === "always") this.#grants += 1;
    return decision;
  }

  async #askAndAnnounce(
    question: Question,
    early: Answer | null,
    signal: AbortSignal,
  ): Promise<Decision | null> {
    const { tell } = this.#needs;
    let decision: Decision | null = null;
    try {
      if (early === null) decision = await this.#waitForAnswer(question, signal);
      else {
        tell?.({ type: "question", ...question });
        decision = checkAnswer(question.confirmation, early.decision);
      }
    } finally {
      tell?.({
        type: "question_answered",
        id: question.id,
        decision: decision && removeUserContent(decision),
      });
    }
    return decision;
  }

  /** Waits for the first of these: an answer by id, an answer from the callback, or an interruption. */
  #waitForAnswer(question: Question, signal: AbortSignal): Promise<Decision | null> {
    const { id } = question;
    return new Promise((resolve, reject) => {
      const close = () => {
        signal.removeEventListener("abort", stop);
        return this.#open.delete(id);
      };
      const resolveQuestion = (decision: Decision | null) => void (close() && resolve(decision));
      const rejectQuestion = (error: unknown) => void (close() && reject(error));
      const stop = () => rejectQuestion(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      this.#open.set(id, { question, settle: resolveQuestion });
      this.#needs.tell?.({ type: "question", ...question });
      this.#askFrontEnd(question, signal).then((decision) => {
        if (decision !== undefined) resolveQuestion(decision);
      }, rejectQuestion);
    });
  }

  /** Asks through the callback. Resolves to undefined without one: then the answer comes by the question's id. */
  async #askFrontEnd(question: Question, signal: AbortSignal): Promise<Decision | null | undefined> {
    const { confirm } = this.#needs;
    if (confirm === undefined) return undefined;
    const { confirmation } = question;
    let given: unknown;
    try {
      given = await confirm(confirmation, signal, question);
    } catch (error) {
      throw new Error(`its question could not be asked: ${describeError(error)}`);
    }
    return checkAnswer(confirmation, given);
  }
}

/** Callbacks and options come from programs that may ignore the types. */
function checkAnswer(question: Confirmation, given: unknown): Decision | null {
  const answer = readAnswer(given, question);
  if (typeof answer !== "string") return answer.decision;
  throw new Error(`the answer to its question must be one of ${describeDecisions(question.kind)}`);
}
