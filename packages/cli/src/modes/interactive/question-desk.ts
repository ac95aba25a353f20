import type { Confirmation } from "@burin/core";
import type { Panel } from "../../ui/panel.ts";
import { QuestionPanel } from "../../ui/question-panel.ts";
import type { Desk } from "./desk.ts";
import type { Work } from "./work.ts";

/** Puts the first open question before the person. */
export class QuestionDesk {
  readonly #desk: Desk;
  readonly #work: Work;
  #panel: QuestionPanel | null = null;
  #asked: object | null = null;

  constructor(desk: Desk, work: Work) {
    this.#desk = desk;
    this.#work = work;
  }

  /** Whether the panel is a question that has stood too short a time to be answered. */
  isDeaf(panel: Panel): boolean {
    return panel === this.#panel && !this.#panel.isHeard;
  }

  /** Called whenever the questions have changed. */
  update(): void {
    const { questions, shown, view } = this.#desk;
    const [first] = questions.open;
    view.soon();
    if (first !== undefined && first === this.#asked) return;
    if (this.#panel !== null && shown.panel === this.#panel) shown.panel = null;
    this.#asked = first ?? null;
    this.#panel = null;
    if (first === undefined) return;
    const { confirmation, answer } = first;
    this.#panel = new QuestionPanel({
      confirmation,
      reason: this.#reasonOf(confirmation),
      waiting: () => questions.open.length - 1,
      answer,
      stop: () => {
        this.#work.interrupt();
        answer({ outcome: "cancel" });
      },
    });
    shown.panel = this.#panel;
    this.#work.ring();
  }

  #reasonOf({ title }: Confirmation): string {
    for (const item of this.#desk.transcript.items) {
      if (item.kind !== "call" || item.call.status !== "awaiting_approval") continue;
      if (item.call.confirmation.title === title) return item.call.reason;
    }
    return "";
  }
}
