import type { AgentEvent, Decision, Question } from "@burin/core";

interface QuestionOptions {
  readonly answer: (id: string, decision: Decision) => void;
  readonly onChange: () => void;
}

/** The open questions of a session and its subagents, computed from its events. */
export class Questions {
  readonly #needs: QuestionOptions;
  open: readonly Question[] = [];
  /** Whether the user has just typed a call, which then needs no question. This covers one question of that call. */
  #isOwn = false;

  constructor(needs: QuestionOptions) {
    this.#needs = needs;
  }

  /** Runs a call that the user has just typed, without asking. Asks as usual if the model is working too. */
  async runUserCall<Result>(isModelAtWork: boolean, work: () => Promise<Result>): Promise<Result> {
    this.#isOwn = !isModelAtWork;
    try {
      return await work();
    } finally {
      this.#isOwn = false;
    }
  }

  followEvent(event: AgentEvent): void {
    if (event.type === "question_answered")
      this.#setOpenQuestions(this.open.filter(({ id }) => id !== event.id));
    if (event.type !== "question") return;
    // Check that it is this call's question: a background subagent or an MCP server may ask at the same moment.
    if (this.#isOwn && event.agent === null && event.callId !== null) {
      this.#isOwn = false;
      this.#needs.answer(event.id, { outcome: "once" });
    } else this.#setOpenQuestions([...this.open, event]);
  }

  /** Removes all questions: their session has been closed. */
  clear(): void {
    this.#setOpenQuestions([]);
  }

  #setOpenQuestions(open: readonly Question[]): void {
    if (open.length === 0 && this.open.length === 0) return;
    this.open = open;
    this.#needs.onChange();
  }
}
