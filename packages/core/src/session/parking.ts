import type { RunEnd } from "@burin/contract/agent-event";
import type { Decision, Question } from "@burin/contract/tools";
import type { Confirm } from "../scheduler/questions.ts";
import type { PastSession } from "./past-session.ts";
import type { Recording } from "./recording.ts";

interface ParkingNeeds {
  readonly sessionId: string;
  readonly recording: Recording;
  readonly past: PastSession | null;
  /** What the user answers to the question that the session was parked with. */
  readonly answer: Decision | undefined;
}

/**
 * Keeps the question that a session was parked with, and the answer to it until the question comes up again. Where
 * nobody is there to ask, the first question ends the run and stays in the session's log.
 */
export class Parking {
  readonly #needs: ParkingNeeds;
  #answer: Decision | undefined;
  #stop = new AbortController();
  #asked: Question | null = null;
  #hasChanged = false;

  constructor(needs: ParkingNeeds) {
    this.#needs = needs;
    this.#answer = needs.answer;
  }

  /** Aborted when a question has ended the run. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The question that the session was parked with, until it is answered. */
  get open(): Question | null {
    return this.#answer === undefined ? (this.#needs.past?.calls.question ?? null) : null;
  }

  /** Takes the answer to it before it comes up again; null when that was taken, else what is wrong with it. */
  answer(question: Question, given: unknown): string | null {
    const decision = this.#needs.past?.calls.decisionOn(question, given) ?? "no question is open.";
    if (typeof decision === "string") return decision;
    this.#answer = decision;
    return null;
  }

  /** What the run ends with instead of its own end; null while nothing was asked. */
  outcome(done: RunEnd): RunEnd | null {
    if (this.#asked === null) return null;
    const { confirmation } = this.#asked;
    const { sessionId } = this.#needs;
    const changed = this.#hasChanged ? "The question has changed since it was answered. " : "";
    const message = `${changed}Waiting for an answer to: ${confirmation.title} Give it with: burin sessions answer ${sessionId} yes|no|always`;
    return { ...done, status: "refused", error: { type: "parked", message }, confirmation };
  }

  /** The answer that was given before, if this is the very question that it was given to. */
  readonly recall = async (question: Question): Promise<Decision | null> => {
    const answer = this.#answer;
    this.#answer = undefined;
    if (answer === undefined) return null;
    const asked = this.#needs.past?.calls.question;
    const both = [question.confirmation, asked?.confirmation];
    const [now, then] = await Promise.all(both.map((one) => this.#needs.recording.jsonOf(one)));
    this.#hasChanged = now !== then;
    return now === then ? answer : null;
  };

  /** Instead of asking. */
  readonly confirm: Confirm = async (_confirmation, _signal, question) => {
    const { recording } = this.#needs;
    await recording.recorded();
    recording.seal();
    this.#asked = question;
    this.#stop.abort();
    return { outcome: "cancel" };
  };
}
