import type { AgentEvent, Decision, Question } from "@burin/core";

interface QuestionOptions {
  readonly answer: (id: string, decision: Decision) => void;
  readonly onChange: () => void;
}

/** The questions of a session and its subagents that wait for the user, as a fold over its events. */
export class Questions {
  readonly #needs: QuestionOptions;
  open: readonly Question[] = [];
  /** Whether the user has just typed the call, which then needs no question. Covers one question of that call only. */
  #isOwn = false;

  constructor(needs: QuestionOptions) {
    this.#needs = needs;
  }

  /** Runs what the user has just typed. If the model is working too, questions are asked as usual. */
  async asOwn<Result>(isModelAtWork: boolean, work: () => Promise<Result>): Promise<Result> {
    this.#isOwn = !isModelAtWork;
    try {
      return await work();
    } finally {
      this.#isOwn = false;
    }
  }

  hear(event: AgentEvent): void {
    if (event.type === "question_answered") this.#set(this.open.filter(({ id }) => id !== event.id));
    if (event.type !== "question") return;
    // A background subagent, or an MCP server, may ask at the same moment.
    if (this.#isOwn && event.agent === null && event.callId !== null) {
      this.#isOwn = false;
      this.#needs.answer(event.id, { outcome: "once" });
    } else this.#set([...this.open, event]);
  }

  /** Called when the session is closed: answers are not needed any more. */
  clear(): void {
    this.#set([]);
  }

  #set(open: readonly Question[]): void {
    if (open.length === 0 && this.open.length === 0) return;
    this.open = open;
    this.#needs.onChange();
  }
}
