import type { RunEnd } from "@burin/contract/agent-event";
import type { Decision, Question } from "@burin/contract/tools";
import type { Confirm } from "../scheduler/questions.ts";
import type { PastSession } from "./past-session.ts";
import type { Recording } from "./recording.ts";

interface ParkingNeeds {
  readonly sessionId: string;
  readonly recording: Recording;
  readonly past: PastSession | null;
  readonly answer: Decision | undefined;
}

/** Keeps the question that a session was parked with. Without a user, the first question ends the run. */
export class Parking {
  readonly #needs: ParkingNeeds;
  #answer: Decision | undefined;
  readonly #stop = new AbortController();
  /** Aborts when a question has ended the run. */
  readonly signal: AbortSignal = this.#stop.signal;
  #asked: Question | null = null;
  #hasChanged = false;

  constructor(needs: ParkingNeeds) {
    this.#needs = needs;
    this.#answer = needs.answer;
  }

  /** The question that the session was parked with, until it is answered. */
  get open(): Question | null {
    return this.#answer === undefined ? (this.#needs.past?.calls.question ?? null) : null;
  }

  /** Accepts the answer before the question comes up again; returns null, or what is wrong with the answer. */
  answer(question: Question, given: unknown): string | null {
    const decision = this.#needs.past?.calls.decisionOn(question, given) ?? "no question is open.";
    if (typeof decision === "string") return decision;
    this.#answer = decision;
    return null;
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

  /** Returns the stored answer if it belongs to exactly this question. */
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

  readonly confirm: Confirm = async (_confirmation, _signal, question) => {
    const { recording } = this.#needs;
    await recording.recorded();
    recording.seal();
    this.#asked = question;
    this.#stop.abort();
    return { outcome: "cancel" };
  };
}
