import type { AgentEvent } from "@burin/core";
import type { RunEnd } from "@burin/core/sessions";

export type WorkProof = NonNullable<RunEnd["proof"]>;

/** The summary at the end of a task: what a run changed, and what is known about it. */
export interface Receipt {
  readonly proof: WorkProof;
  readonly addedLines: number;
  readonly removedLines: number;
  /** How many edits the user refused, and how many they changed before accepting. */
  readonly refused: number;
  readonly edited: number;
}

/** Counts what a run does, from its events. */
export class ReceiptCounter {
  #addedLines = 0;
  #removedLines = 0;
  #refused = 0;
  #edited = 0;
  readonly #edits = new Set<string>();

  /** Handles an event. Returns the receipt at the end of a run that changed something, otherwise null. */
  countEvent(event: AgentEvent): Receipt | null {
    if (event.type === "tool_call") this.#countCall(event);
    else if (event.type === "question" && event.confirmation.kind === "edit") this.#edits.add(event.id);
    else if (event.type === "question_answered" && this.#edits.delete(event.id)) {
      if (event.decision?.outcome === "cancel") this.#refused += 1;
      if (event.decision?.outcome === "edited") this.#edited += 1;
    } else if (event.type === "done") return this.#buildReceipt(event);
    return null;
  }

  #countCall({ call }: Extract<AgentEvent, { type: "tool_call" }>): void {
    if (call.status !== "success" || typeof call.returnDisplay === "string") return;
    if (call.returnDisplay.kind !== "file_diff") return;
    this.#addedLines += call.returnDisplay.addedLines;
    this.#removedLines += call.returnDisplay.removedLines;
  }

  #buildReceipt({ proof }: RunEnd): Receipt | null {
    const counts = {
      addedLines: this.#addedLines,
      removedLines: this.#removedLines,
      refused: this.#refused,
      edited: this.#edited,
    };
    this.#addedLines = 0;
    this.#removedLines = 0;
    this.#refused = 0;
    this.#edited = 0;
    this.#edits.clear();
    return proof === undefined || proof.changed.length === 0 ? null : { proof, ...counts };
  }
}
