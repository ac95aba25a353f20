import type { AgentEvent } from "@burin/contract/agent-event";
import type { ParkedQuestions } from "./parked-questions.ts";
import type { Recording } from "./recording.ts";
import type { ProofOfWork } from "./work-proof.ts";

/** Passes each event of a session, when it happens, to all that keep something of it. */
export class SessionEvents {
  /** The proof of the current run's work. */
  work: ProofOfWork | null = null;
  readonly #recording: Recording;
  readonly #parked: ParkedQuestions | undefined;

  constructor(recording: Recording, parked: ParkedQuestions | undefined) {
    this.#recording = recording;
    this.#parked = parked;
  }

  readonly note = (event: AgentEvent): AgentEvent => {
    this.work?.noteEvent(event);
    this.#parked?.dropAnswered(event);
    this.#recording.note(event);
    return event;
  };
}
