import type { AgentEvent } from "@burin/contract/agent-event";
import type { Confirmation, Decision } from "@burin/contract/tools";
import type { Confirm } from "../scheduler/scheduler.ts";
import type { PastSession } from "./past-session.ts";
import type { Recording } from "./recording.ts";

export interface ParkingNeeds {
  readonly sessionId: string;
  /** Read when the first question comes. */
  readonly recording: () => Recording | null;
  readonly past: PastSession | null;
  /** What the person answers to the question that the session was parked with. */
  readonly answer: Decision | undefined;
  /** The JSON of a value as the record holds it. */
  readonly jsonOf: (value: unknown) => Promise<string>;
}

/**
 * Stands in for a person who is not there: the first question ends the run and stays in the session's record,
 * until somebody answers it and the session goes on with that answer.
 */
export class Parking {
  readonly #needs: ParkingNeeds;
  #answer: Decision | undefined;
  #stop = new AbortController();
  #question: Confirmation | null = null;
  #hasChanged = false;

  constructor(needs: ParkingNeeds) {
    this.#needs = needs;
    this.#answer = needs.answer;
  }

  /** Aborted when a question has come. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** What the run ends with instead of its own end; null while nothing was asked. */
  outcome(done: Extract<AgentEvent, { type: "done" }>): AgentEvent | null {
    const confirmation = this.#question;
    if (confirmation === null) return null;
    const { sessionId } = this.#needs;
    const changed = this.#hasChanged ? "The question has changed since it was answered. " : "";
    const message = `${changed}Waiting for an answer to: ${confirmation.title} Give it with: burin sessions answer ${sessionId} yes|no|always`;
    return { ...done, status: "refused", error: { type: "parked", message }, confirmation };
  }

  readonly confirm: Confirm = async (question) => {
    const answer = this.#answer;
    this.#answer = undefined;
    if (answer !== undefined && (await this.#isAnswered(question))) return answer;
    this.#hasChanged = answer !== undefined;
    const recording = this.#needs.recording();
    await recording?.recorded();
    recording?.seal();
    this.#question = question;
    this.#stop.abort();
    return { outcome: "cancel" };
  };

  /** Whether it is the very question that the answer was given to. */
  async #isAnswered(question: Confirmation): Promise<boolean> {
    const asked = this.#needs.past?.calls.question;
    if (!asked) return false;
    const [now, then] = await Promise.all([question, asked.confirmation].map(this.#needs.jsonOf));
    return now === then;
  }
}
