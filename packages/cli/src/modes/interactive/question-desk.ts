import { basename } from "node:path";
import type { Confirmation, Decision, FileDiff, Question } from "@burin/core";
import { applyHunkParts } from "@burin/core/internal";
import { translateReason } from "../../locales/reasons.ts";
import { say } from "../../locales/say.ts";
import { describeReviewedParts } from "../../state/reviewed-parts.ts";
import type { PickedParts } from "../../ui/hunk-picker.ts";
import type { Panel } from "../../ui/panel.ts";
import type { Explanation } from "../../ui/question-panel.ts";
import type { Desk } from "./desk.ts";
import type { Work } from "./work.ts";

/** Shows the first open question to the user, and passes the answer to the session. */
export class QuestionDesk {
  readonly #desk: Desk;
  readonly #work: Work;
  #panel: Panel | null = null;
  /** The id of the question that the panel shows. */
  #asked: string | null = null;

  constructor(desk: Desk, work: Work) {
    this.#desk = desk;
    this.#work = work;
  }

  /** Called whenever the questions have changed. */
  update(): void {
    const { questions, shown, view } = this.#desk;
    const [first] = questions.open;
    view.drawSoon();
    this.#work.retitle();
    if (first !== undefined && first.id === this.#asked) return;
    if (this.#panel !== null && shown.panel === this.#panel) shown.panel = null;
    this.#asked = first?.id ?? null;
    this.#panel = null;
    if (first === undefined) return;
    void this.#show(first);
    this.#work.notifyUser(say(`question.${first.confirmation.kind}`));
  }

  async #show(question: Question): Promise<void> {
    const { id, confirmation } = question;
    const isForm = confirmation.kind === "form";
    const panel = await (isForm
      ? this.#createFormPanel(id, confirmation)
      : this.#createQuestionPanel(question));
    // The question may have been answered in the meantime.
    if (id !== this.#asked) return;
    this.#panel = panel;
    this.#desk.show(panel);
  }

  async #createFormPanel(id: string, form: Extract<Confirmation, { kind: "form" }>): Promise<Panel> {
    const { questions } = form;
    if (questions !== undefined) {
      const { AskPanel } = await import("../../ui/ask-panel.ts");
      return new AskPanel({ questions, answer: (decision) => void this.#desk.session?.answer(id, decision) });
    }
    const { FormPanel } = await import("../../ui/form-panel.ts");
    const answer = (decision: Decision | null) => void this.#desk.session?.answer(id, decision);
    return new FormPanel({ form, answer });
  }

  async #createQuestionPanel(question: Question): Promise<Panel> {
    const { QuestionPanel } = await import("../../ui/question-panel.ts");
    const { questions, session, transcript } = this.#desk;
    const task = transcript.findTask(question.parentCallId);
    return new QuestionPanel({
      question: { ...question, reason: translateReason(question.reason) },
      root: this.#desk.options.root,
      // The demo is not listed with the sessions, but it is recorded, and its changes can be undone.
      keepsUndo: this.#desk.isDemo || this.#desk.options.session.kind !== "unrecorded",
      isTyping: () => !this.#desk.buffer.isEmpty,
      asker: `${question.agent ?? ""}${task === "" ? "" : ` (${task})`}`,
      waiting: () => questions.open.length - 1 + (session?.waitingQuestions ?? 0),
      answer: (decision) => this.#answer(question, decision),
      explain: () => this.#explain(question).catch(() => ({ rows: [], reasons: [] })),
      edit: (confirmation) => void this.#edit(question.id, confirmation),
      takeParts: (parts) => this.#takeParts(question, parts),
      stop: () => {
        this.#work.interrupt();
        session?.answer(question.id, { outcome: "cancel" });
      },
    });
  }

  async #explain({ confirmation }: Question): Promise<Explanation> {
    if (confirmation.kind !== "exec") return { rows: [], reasons: [] };
    const { explainCommand, formatRows } = await import("../explain.ts");
    const { options, session, view } = this.#desk;
    const { approvalMode } = session ?? options;
    const { verdict } = await explainCommand(confirmation.command, { ...options, approvalMode });
    view.drawSoon();
    const { grants = [] } = verdict;
    const parts = verdict.parts?.map((part) => ({ ...part, reason: translateReason(part.reason) })) ?? [];
    // The first row repeats the question's reason, and the last one lists what "always" would allow, which is shown
    // with the answers.
    return {
      rows: formatRows({ ...verdict, parts }).slice(1, grants.length > 0 ? -1 : undefined),
      reasons: parts.length > 1 ? parts.map(({ reason }) => reason) : [],
    };
  }

  #takeParts(question: Question, parts: PickedParts): void {
    if (question.confirmation.kind === "edit")
      this.#answer(question, buildDecision(question.confirmation.diff, parts));
  }

  async #edit(id: string, { path, diff }: Extract<Confirmation, { kind: "edit" }>): Promise<void> {
    const { editInEditor } = await import("./edit-outside.ts");
    const content = await editInEditor(this.#desk, diff.newContent, basename(path));
    if (content !== null) this.#desk.session?.answer(id, { outcome: "edited", content });
  }

  #answer({ id, confirmation }: Question, decision: Decision): void {
    const { session } = this.#desk;
    if (confirmation.kind === "plan" && decision.outcome === "cancel" && decision.reason !== undefined) {
      // Declining a plan ends the run, and the user's reason becomes the next prompt.
      session?.answer(id, { outcome: "cancel" });
      void this.#work.submit(decision.reason, true);
    } else session?.answer(id, decision);
  }
}

/** Builds the answer to an edit of which the user accepted some parts and commented on some. */
function buildDecision(diff: FileDiff, parts: PickedParts): Decision {
  const taken = parts.filter(({ isTaken }) => isTaken);
  const hasWords = parts.some(({ note }) => note !== "");
  const isWhole = taken.length === parts.length;
  if (isWhole && !hasWords) return { outcome: "once" };
  const reason = describeReviewedParts(
    parts.map(({ hunk, isTaken, note }) => ({ line: Number(/\+(\d+)/.exec(hunk)?.[1] ?? 0), isTaken, note })),
  );
  if (taken.length === 0) return { outcome: "cancel", reason };
  const hunks = taken.map(({ hunk }) => hunk);
  return { outcome: "edited", content: isWhole ? diff.newContent : applyHunkParts(diff, hunks), reason };
}
