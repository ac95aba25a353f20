import type { AgentEvent, QuestionEvent, RunEnd } from "@burin/contract/agent-event";
import type { Decision, Question } from "@burin/contract/tools";
import type { Confirm, EarlyAnswer } from "../scheduler/questions.ts";
import type { PastSession } from "./past-session.ts";
import type { Recording } from "./recording.ts";

interface ParkingNeeds {
  readonly sessionId: string;
  readonly recording: Recording;
  readonly past: PastSession | null;
  readonly answer: Decision | undefined;
  readonly tell: (event: QuestionEvent) => void;
}

/** A question of an earlier process. */
interface ParkedQuestion {
  readonly question: Question;
  /** The first answer. */
  given: EarlyAnswer | null;
}

/** Keeps the questions that a session was parked with. Without a user, the first question ends the run. */
export class Parking {
  readonly #needs: ParkingNeeds;
  readonly #stop = new AbortController();
  /** Aborts when a question has ended the run. */
  readonly signal: AbortSignal = this.#stop.signal;
  #asked: Question | null = null;
  #hasChanged = false;
  /** By their ids, until they come up again or their calls are over; null before the log has been read. */
  #parked: Map<string, ParkedQuestion> | null = null;

  constructor(needs: ParkingNeeds) {
    this.#needs = needs;
  }

  /** The questions that wait for an answer and have not come up again. */
  get open(): readonly Question[] {
    const parked = [...this.#questions().values()];
    return parked.flatMap(({ question, given }) => (given === null ? question : []));
  }

  /** Whether the answer to this call's question was given before it comes up. */
  readonly knows = (callId: string): boolean => {
    const parked = [...this.#questions().values()];
    return parked.some(({ question, given }) => question.callId === callId && given !== null);
  };

  /** Accepts the answer before the question comes up again; returns null, or what is wrong with the answer. */
  answer(id: string, decision: unknown): string | null {
    const parked = this.#questions().get(id);
    if (parked === undefined || parked.given !== null) return `no question ${JSON.stringify(id)} is open.`;
    const { past, tell } = this.#needs;
    const answer = past?.calls.read(parked.question, decision) ?? "";
    if (typeof answer === "string") return answer;
    parked.given = { ...answer, isTold: true };
    // Another process must not ask again for what was accepted here.
    if (past !== null) tell(past.calls.answeredEvent(id, answer));
    return null;
  }

  /** A call that goes on or ends without its question needs no answer any more. */
  follow(event: AgentEvent): void {
    if (event.type !== "tool_call" || this.#needs.past === null) return;
    const { callId, status } = event.call;
    if (status === "validating" || status === "awaiting_approval") return;
    for (const [id, { question }] of this.#questions())
      if (question.callId === callId) this.#questions().delete(id);
  }

  /** No answer can help a run that was interrupted. */
  endWith(signal: AbortSignal): void {
    const clear = () => this.#questions().clear();
    if (signal.aborted) clear();
    signal.addEventListener("abort", clear, { once: true });
  }

  /** The end that replaces the run's own end; null when nothing was asked. */
  outcome(done: RunEnd): RunEnd | null {
    if (this.#asked === null) return null;
    const { confirmation } = this.#asked;
    const { sessionId } = this.#needs;
    const changed = this.#hasChanged ? "The question has changed since it was answered. " : "";
    const message = `${changed}Waiting for an answer to: ${confirmation.title} Give it with: burin sessions answer ${sessionId} yes|no|always`;
    return { ...done, status: "refused", error: { type: "parked", message }, confirmation };
  }

  /**
   * Hands a question over to the queue when it comes up again: from here on it is answered there. Returns the
   * earlier answer if it was given to exactly this question; null at once when there is none.
   */
  readonly recall = (question: Question): Promise<EarlyAnswer | null> | null => {
    const parked = this.#questions().get(question.id);
    this.#questions().delete(question.id);
    if (parked === undefined || parked.given === null) return null;
    return this.#stillMeant(parked.question, question, parked.given);
  };

  async #stillMeant(then: Question, now: Question, given: EarlyAnswer): Promise<EarlyAnswer | null> {
    const both = [then, now].map(({ confirmation }) => this.#needs.recording.jsonOf(confirmation));
    const [before, present] = await Promise.all(both);
    this.#hasChanged = before !== present;
    return this.#hasChanged ? null : given;
  }

  readonly confirm: Confirm = async (_confirmation, _signal, question) => {
    const { recording } = this.#needs;
    await recording.recorded();
    recording.seal();
    this.#asked = question;
    this.#stop.abort();
    return { outcome: "cancel" };
  };

  #questions(): Map<string, ParkedQuestion> {
    this.#parked ??= this.#fromLog();
    return this.#parked;
  }

  /** The answer among the options is for the first question that has none. */
  #fromLog(): Map<string, ParkedQuestion> {
    const known = this.#needs.past?.calls.questions ?? [];
    const first = known.find(({ decision }) => decision === null);
    const { answer } = this.#needs;
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
