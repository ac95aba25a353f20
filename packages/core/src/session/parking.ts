import type { RunEnd } from "@burin/contract/agent-event";
import type { Question } from "@burin/contract/tools";
import type { Confirm, EarlyAnswer } from "../scheduler/questions.ts";
import type { ParkedQuestions } from "./parked-questions.ts";
import type { Recording } from "./recording.ts";

interface ParkingOptions {
  readonly sessionId: string;
  readonly recording: Recording;
  /** The questions on which the session was parked. */
  readonly parked: ParkedQuestions | undefined;
}

/** Parks a session without a user: the first question ends the run, and gets its answer when it is asked again. */
export class Parking {
  readonly #needs: ParkingOptions;
  readonly #stop = new AbortController();
  /** Aborts when a question has ended the run. */
  readonly signal: AbortSignal = this.#stop.signal;
  #asked: Question | null = null;
  #hasChanged = false;

  constructor(needs: ParkingOptions) {
    this.#needs = needs;
  }

  /** Drops the parked questions when the signal aborts, because no answer can help an interrupted run. */
  dropOnAbort(signal: AbortSignal): void {
    const clear = () => this.#needs.parked?.clear();
    if (signal.aborted) clear();
    signal.addEventListener("abort", clear, { once: true });
  }

  /** Returns the end that replaces the run's own end, or null if nothing was asked. */
  buildParkedEnd(done: RunEnd): RunEnd | null {
    if (this.#asked === null) return null;
    const { confirmation } = this.#asked;
    const { sessionId } = this.#needs;
    const changed = this.#hasChanged ? "The question has changed since it was answered. " : "";
    const message = `${changed}Waiting for an answer to: ${confirmation.title} Give it with: burin sessions answer ${sessionId} yes|no|always`;
    return { ...done, status: "refused", error: { type: "parked", message }, confirmation };
  }

  /**
   * Passes a question on to the queue, which answers it from now on. Resolves to the earlier answer if it was given to
   * exactly this question. Returns null synchronously if there is none.
   */
  readonly recall = (question: Question): Promise<EarlyAnswer | null> | null => {
    const parked = this.#needs.parked?.takeQuestion(question.id);
    if (parked === undefined || parked.given === null) return null;
    return this.#keepIfSameQuestion(parked.question, question, parked.given);
  };

  async #keepIfSameQuestion(then: Question, now: Question, given: EarlyAnswer): Promise<EarlyAnswer | null> {
    const both = [then, now].map(({ confirmation }) => this.#needs.recording.formatJson(confirmation));
    const [before, present] = await Promise.all(both);
    this.#hasChanged = before !== present;
    return this.#hasChanged ? null : given;
  }

  readonly confirm: Confirm = async (_confirmation, _signal, question) => {
    const { recording } = this.#needs;
    await recording.recorded();
    recording.stopRecording();
    this.#asked = question;
    this.#stop.abort();
    return { outcome: "cancel" };
  };
}
