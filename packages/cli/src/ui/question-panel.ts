import {
  buildQuestionView,
  type Confirmation,
  type Decision,
  type Question,
  type QuestionView,
} from "@burin/core";
import { type GrantScope, type GrantWidth, splitHunk } from "@burin/core/internal";
import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import { measureWidth } from "../terminal/cell-width.ts";
import { type Key, normalizeCommandKey } from "../terminal/keys.ts";
import { formatText, joinColumns, type Line, wrapLine } from "../terminal/styled-line.ts";
import { applyEditKey } from "./edit-keys.ts";
import { HunkPicker, type PickedParts } from "./hunk-picker.ts";
import { look } from "./look.ts";
import { KeyGuard, type Panel, type PanelSpace, type PanelView, Scroll } from "./panel.ts";
import { drawPrompt } from "./prompt-view.ts";
import { drawQuestionContent } from "./question-content.ts";
import { describeSubject, describeSubjects, drawLimits, drawWarning } from "./question-reach.ts";

/** Limits that show everything, however long. */
const ALL = { maxLines: 1_000_000, maxCharacters: 1_000_000 };

/** The maximum number of rules that the answer "always" lists. It counts the rest, which the next question lists. */
const MAX_RULES = 4;

/** The content of the question has at least this many rows, one of which says that there is more. */
const MIN_ROWS = 4;

/** If the answers would leave fewer rows than this for the content, they share rows. */
const MIN_BESIDE_ANSWERS = 6;

/** If there would be fewer rows than this next to the answers, the answers scroll together with the content. */
const ROWS_BESIDE_ANSWERS = 3;

const nameKey = (key: string): string => (key === "esc" ? say("key.esc") : key);

/** A key, its text, and its action. */
type Answer = readonly [key: string, words: string, act: () => void];

/** Explains why a question is asked, part by part, if there is more to say than the reason. */
export interface Explanation {
  readonly rows: readonly string[];
  /** The reasons that the rows contain. */
  readonly reasons: readonly string[];
}

interface QuestionOptions {
  readonly question: Question;
  /** The project folder. */
  readonly root: string;
  /** The text that an edit replaces is stored, so that the edit can be undone. */
  readonly keepsUndo: boolean;
  /** The subagent that asks, with its task; "" if the session itself asks. */
  readonly asker: string;
  /** Returns how many questions are queued after this one. */
  readonly waiting: () => number;
  /** Whether the prompt contains unsent text: enter then belongs to the prompt. */
  readonly isTyping: () => boolean;
  readonly answer: (decision: Decision) => void;
  readonly explain: () => Promise<Explanation>;
  /** Answers with the chosen parts of a change. */
  readonly takeParts: (parts: PickedParts) => void;
  /** Opens the proposal in the user's editor. The edited text becomes the answer. */
  readonly edit: (confirmation: Extract<Confirmation, { kind: "edit" }>) => void;
  /** Refuses the call and ends the run. */
  readonly stop: () => void;
}

/** Shows a question with everything that would happen, the worst first, and its answers. */
export class QuestionPanel extends KeyGuard implements Panel {
  readonly #needs: QuestionOptions;
  readonly #view: QuestionView;
  readonly #words = new TextBuffer();
  /** The command as the user changes it. */
  readonly #command = new TextBuffer();
  #state: "choose" | "scope" | "reason" | "hunks" | "command" = "choose";
  /** The window is too low to show the reason and the rules as well. */
  #isLow = false;
  /** The content fills the whole window. */
  #isFull = false;
  #isExplained = false;
  #explanation: Explanation = { rows: [], reasons: [] };
  readonly #scroll = new Scroll();
  /** The index of the answer that enter gives, and whether the user has moved to it. */
  #chosen = 0;
  #hasMoved = false;
  /** How much an "always" covers; undefined if there is no choice. */
  #width: GrantWidth | undefined;
  /** null if the change can only be accepted or refused as a whole. */
  readonly #picker: HunkPicker | null;

  constructor(needs: QuestionOptions) {
    super();
    this.#needs = needs;
    const { confirmation } = needs.question;
    this.#view = buildQuestionView(confirmation, ALL);
    const { grants, widths = [] } = this.#view;
    this.#width = widths.findLast((one) => one.grants.join() === grants.join())?.width;
    this.#picker = confirmation.kind === "edit" ? new HunkPicker(confirmation.path, confirmation.diff) : null;
  }

  view({ width, height }: PanelSpace): PanelView {
    this.startGuard();
    const facts = this.#drawFacts(width);
    this.#isLow = false;
    this.#isLow = facts.length + this.#keyLines(width, 0).length + MIN_ROWS > height;
    const content = [...this.#drawMiddle(width), ...(this.#isLow ? facts : [])];
    const words = this.#findActiveText();
    const input = words ? drawPrompt(words, width, 4) : null;
    const keys = this.#isFull
      ? wrapLine([{ text: say("question.full"), style: "dim" }], width)
      : [...(this.#isLow ? [] : facts), ...this.#keyLines(width, height - (this.#isLow ? 0 : facts.length))];
    const areKeysBelow = input !== null || keys.length + ROWS_BESIDE_ANSWERS <= height;
    const below = areKeysBelow ? keys : [];
    if (!areKeysBelow) content.push(...keys);
    const page = Math.max(height - below.length - (input?.lines.length ?? 0) - 1, 2);
    if (!areKeysBelow && this.#hasMoved) this.#scroll.from = content.length;
    const shown = this.#scroll.cutToPage(content, page);
    const hint = say("question.scrollHunks", this.#scroll.place);
    const place: Line[] = shown.length < content.length ? [[{ text: hint, style: "dim" }]] : [];
    const isRoomy = page > content.length + 2 && below[0]?.length !== 0 && !look.isSpoken;
    const rows = [...shown, ...place, ...(isRoomy ? [[]] : []), ...below];
    return {
      title: this.#buildTitle(),
      warning: drawWarning(this.#view),
      lines: [...rows, ...(input?.lines ?? [])],
      caret: input?.caret && { row: rows.length + input.caret.row, column: input.caret.column },
    };
  }

  /** Returns the text that the user is writing, if any. */
  #findActiveText(): TextBuffer | null {
    if (this.#state === "reason") return this.#words;
    if (this.#state === "command") return this.#command;
    return (this.#state === "hunks" && this.#picker?.words) || null;
  }

  key(key: Key): void {
    if (this.#state === "command") this.#handleCommandKey(key);
    else if (key.name === "ctrl+f") this.#isFull = !this.#isFull && this.#state !== "reason";
    else if (this.#scroll.key(key.name, this.#isFull ? { up: -1, down: 1 } : {})) return;
    else if (this.#isFull) this.#isFull = key.name !== "escape" && normalizeCommandKey(key) !== "q";
    else if (this.#state === "reason") this.#handleReasonKey(key);
    else if (this.#state === "hunks") this.#handleHunkKey(key);
    else this.#handleAnswerKey(key);
  }

  get #listsRules(): boolean {
    return this.#state === "scope" && (this.#isLow || this.#view.subjects.length > MAX_RULES);
  }

  #buildTitle(): string {
    const waiting = this.#needs.waiting();
    const more = waiting > 0 ? ` (${say("question.queue", { count: waiting })})` : "";
    const { confirmation } = this.#needs.question;
    if (isAboutOutside(confirmation)) return `${say("question.beside")}${more}`;
    return `${say(isAboutCreated(confirmation) ? "question.created" : `question.${confirmation.kind}`)}${more}`;
  }

  #drawMiddle(width: number): Line[] {
    if (this.#state === "hunks") return this.#picker?.lines(width) ?? [];
    if (this.#listsRules) {
      const each = this.#view.subjects.map(describeSubject);
      return each.flatMap((text) => wrapLine([{ text, style: "accent" }], width, "  "));
    }
    const why = (this.#isExplained ? this.#explanation.rows : []).map((text) => ({ text: formatText(text) }));
    const { question, root } = this.#needs;
    const content = drawQuestionContent(
      { confirmation: question.confirmation, view: this.#view, root },
      width,
    );
    return [...content, ...why.flatMap((text) => wrapLine([text], width, "  "))];
  }

  /** Returns the limits of a call, who asks and, if its effects are not known, why it asks. */
  #drawFacts(width: number): Line[] {
    const { question, asker } = this.#needs;
    const { confirmation, reason } = question;
    const isCommand = confirmation.kind === "exec";
    const hosts = isCommand ? (confirmation.hosts ?? []) : [];
    const writes = isCommand ? (confirmation.writes ?? []).map(({ path }) => formatText(path)) : [];
    // Do not repeat a reason that is listed with the parts.
    const isSaidBelow = this.#isExplained && this.#explanation.reasons.some((one) => reason.endsWith(one));
    const isPlain = isCommand && !this.#view.reach.some(({ effects }) => effects.length > 0);
    const facts = [
      confirmation.kind === "edit" && this.#needs.keepsUndo ? say("reach.undo") : "",
      isAboutOutside(confirmation) ? say("question.onlyReads") : "",
      asker === "" ? "" : say("question.asker", { agent: formatText(asker) }),
      isCommand && confirmation.exception === "network" ? say("question.network") : "",
      writes.length > 0 ? say("question.writes", { names: writes.join(", ") }) : "",
      (isPlain || this.#isExplained) && !isSaidBelow ? formatText(reason) : "",
    ].filter((text) => text !== "");
    const said = facts.length === 0 ? [] : wrapLine([{ text: facts.join(" · "), style: "dim" }], width);
    const { keepsUndo } = this.#needs;
    return [...drawLimits(this.#view, { hosts, keepsUndo }, width), ...said];
  }

  #keyLines(width: number, height: number): Line[] {
    if (this.#state === "reason" || this.#state === "command")
      return wrapLine([{ text: say(`question.${this.#state}`), style: "dim" }], width);
    if (this.#state === "hunks") return this.#picker?.hintLines(width) ?? [];
    const above = this.#state === "scope" ? this.#drawGrantWidths(width) : [];
    return [...above, ...this.#drawAnswers(width, height - above.length)];
  }

  /** Returns what "always" covers, and each possible width with its number if the user can choose. */
  #drawGrantWidths(width: number): Line[] {
    const { widths = [], subjects } = this.#view;
    const last: Line = [{ text: say("question.scope"), style: "dim" }];
    if (this.#listsRules && widths.length < 2) return [last];
    if (widths.length < 2) {
      const rule = describeSubjects(subjects, MAX_RULES);
      return [...wrapLine([{ text: say("question.always", { rule }) }], width), last];
    }
    const rows = widths.flatMap((one, index) => {
      const isChosen = one.width === this.#width;
      const text = `${isChosen ? "›" : " "} ${index + 1} ${describeSubjects(one.subjects, MAX_RULES)}`;
      return wrapLine([{ text, style: isChosen ? "accent" : "dim" }], width, "    ");
    });
    return [...wrapLine([{ text: say("question.width") }], width), ...rows, last];
  }

  /** Returns the answers, one per line below an empty one; side by side if too few rows are left for the content. */
  #drawAnswers(width: number, height: number): Line[] {
    const answers = this.#listAnswers();
    this.#chosen = Math.min(this.#chosen, answers.length - 1);
    const column = look.isSpoken ? 0 : Math.max(...answers.map(([key]) => measureWidth(nameKey(key))));
    const drawAnswer = ([key, words]: Answer, index: number, gap: number): Line => {
      const isChosen = index === this.#chosen;
      return [
        { text: isChosen ? "› " : "  ", style: "accent" },
        { text: nameKey(key), style: "accent" },
        { text: `${" ".repeat(Math.max(gap, 1))}${words}`, style: isChosen ? "strong" : undefined },
      ];
    };
    const list = answers.flatMap((answer, index) => {
      const gap = column + 1 - measureWidth(nameKey(answer[0]));
      return wrapLine(drawAnswer(answer, index, gap), width, " ".repeat(column + 3));
    });
    return this.#listsRules || list.length + 1 + MIN_BESIDE_ANSWERS > height
      ? joinColumns(
          answers.map((answer, index) => drawAnswer(answer, index, 1)),
          width,
        )
      : [[], ...list];
  }

  #listAnswers(): readonly Answer[] {
    if (this.#state === "scope") return this.#listScopeAnswers();
    const { answer, edit, question, stop } = this.#needs;
    const { confirmation } = question;
    const end: Answer = ["esc", say("question.stop"), stop];
    const go = (to: "scope" | "reason") => () => this.#changeState(to);
    if (confirmation.kind === "plan") {
      const approvePlan = (mode: "auto-edit" | "default") => () => answer({ outcome: "approved_plan", mode });
      return [
        ["y", say("question.planEdits"), approvePlan("auto-edit")],
        ["a", say("question.planAsk"), approvePlan("default")],
        ["n", say("question.planStay"), go("reason")],
        end,
      ];
    }
    if (isAboutCreated(confirmation))
      return [
        ["y", say("question.keep"), () => answer({ outcome: "once" })],
        ["n", say("question.remove"), () => answer({ outcome: "cancel" })],
        end,
      ];
    const rule = describeSubjects(this.#view.subjects, MAX_RULES);
    const answers: readonly (Answer | false)[] = [
      ...this.#listYesAnswers(),
      ["n", say("question.no"), go("reason")],
      rule !== "" && ["a", say("question.always", { rule: this.#isLow ? "…" : rule }), go("scope")],
      this.#canPick && ["h", say("question.hunks"), () => this.#pickHunks()],
      confirmation.kind === "edit" && ["e", say("question.editor"), () => edit(confirmation)],
      confirmation.kind === "exec" && [
        "e",
        say("question.editor"),
        () => this.#changeCommand(confirmation.command),
      ],
      ["w", say("question.why"), () => void this.#explain()],
      end,
    ];
    return answers.filter((one) => one !== false);
  }

  /** Returns the ways to say yes. A command that needs the network can run with or without it. */
  #listYesAnswers(): Answer[] {
    const { answer } = this.#needs;
    const { limits } = this.#view;
    const yes = isAboutOutside(this.#needs.question.confirmation) ? "question.yesFolder" : "question.yes";
    if (!limits?.needsNetwork) return [["y", say(yes), () => answer({ outcome: "once" })]];
    const given = limits.network === "offered" ? { network: true } : {};
    return [
      ["y", say("question.yesNetwork"), () => answer({ outcome: "once", ...given })],
      ["s", say("question.yesOffline"), () => answer({ outcome: "once", network: false })],
    ];
  }

  #listScopeAnswers(): readonly Answer[] {
    const width = this.#width === undefined ? {} : { width: this.#width };
    const answerAlways = (scope: GrantScope) => () =>
      this.#needs.answer({ outcome: "always", scope, ...width });
    return [
      ["s", say("scope.session"), answerAlways("session")],
      ["p", say("scope.project"), answerAlways("project")],
      ["e", say("scope.everywhere"), answerAlways("everywhere")],
      ["esc", say("scope.back"), () => this.#changeState("choose")],
    ];
  }

  #changeState(state: "choose" | "scope" | "reason"): void {
    this.#state = state;
    this.#chosen = 0;
    if (this.#listsRules) this.#scroll.from = 0;
  }

  #handleAnswerKey(key: Key): void {
    const answers = this.#listAnswers();
    const { widths = [] } = this.#view;
    const width =
      this.#state === "scope" && widths.length > 1 ? widths[Number(key.text) - 1]?.width : undefined;
    if (width !== undefined) {
      this.#width = width;
      return;
    }
    if (key.name === "up" || key.name === "down") {
      this.#hasMoved = true;
      this.#chosen = (this.#chosen + (key.name === "up" ? -1 : 1) + answers.length) % answers.length;
      return;
    }
    const isGiven = key.name === "enter" && (this.#hasMoved || !this.#needs.isTyping());
    const pressed = key.name === "escape" ? "esc" : key.text.length === 1 ? normalizeCommandKey(key) : "";
    const [, , act] = (isGiven ? answers[this.#chosen] : answers.find(([one]) => one === pressed)) ?? [];
    act?.();
  }

  /** Whether the user can pick parts: there are several, or the only one can be split. */
  get #canPick(): boolean {
    const [first] = this.#picker?.parts ?? [];
    return first !== undefined && ((this.#picker?.count ?? 0) > 1 || splitHunk(first.hunk).length > 1);
  }

  #pickHunks(): void {
    this.#state = "hunks";
    this.#scroll.from = this.#picker?.row ?? 0;
  }

  async #explain(): Promise<void> {
    this.#isExplained = !this.#isExplained;
    if (this.#isExplained) this.#explanation = await this.#needs.explain();
  }

  #handleReasonKey(key: Key): void {
    if (key.name !== "enter" && key.name !== "escape") return void applyEditKey(this.#words, key);
    const reason = key.name === "enter" ? this.#words.content.trim() : "";
    this.#needs.answer(reason === "" ? { outcome: "cancel" } : { outcome: "cancel", reason });
  }

  #changeCommand(command: string): void {
    this.#command.set(command);
    this.#state = "command";
  }

  /** Enter sends the changed command, about which Burin decides again. */
  #handleCommandKey(key: Key): void {
    const content = this.#command.content.trim();
    if (key.name === "escape") this.#changeState("choose");
    else if (key.name !== "enter") applyEditKey(this.#command, key);
    else if (content === "" || content === this.#view.lines.join("\n")) this.#changeState("choose");
    else this.#needs.answer({ outcome: "edited", content });
  }

  #handleHunkKey(key: Key): void {
    const picker = this.#picker;
    if (picker === null) return;
    const left = picker.key(key);
    if (left === "back") this.#changeState("choose");
    else if (left === "send") {
      if (picker.parts.some(({ isTaken, note }) => isTaken || note !== ""))
        this.#needs.takeParts(picker.parts);
      else this.#changeState("reason");
    } else if (key.name === "up" || key.name === "down") {
      // The selected part's row is known from the last drawing.
      this.#scroll.from = picker.row;
    }
  }
}

/** Whether the question is about a folder outside the project. */
function isAboutOutside(confirmation: Confirmation): boolean {
  return confirmation.kind === "info" && confirmation.folder !== undefined;
}

/** Whether the question is about keeping a file that a command created without being asked to. */
function isAboutCreated(confirmation: Confirmation): boolean {
  return confirmation.kind === "info" && confirmation.created !== undefined;
}
