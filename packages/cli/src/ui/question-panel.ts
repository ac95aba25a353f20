import { isAbsolute, relative } from "node:path";
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
import { type Key, normalizeCommandKey } from "../terminal/keys.ts";
import { formatText, joinColumns, type Line, wrapLine } from "../terminal/styled-line.ts";
import { drawDiff, drawDiffSummary } from "./displays/file-diff.ts";
import { applyEditKey } from "./edit-keys.ts";
import { HunkPicker, type PickedParts } from "./hunk-picker.ts";
import { drawMarkdown } from "./markdown.ts";
import { KeyGuard, type Panel, type PanelSpace, type PanelView, Scroll } from "./panel.ts";
import { drawPrompt } from "./prompt-view.ts";
import { describeSubject, describeSubjects, drawLimits, drawReach, drawWarning } from "./question-reach.ts";

/** Shows all of it, however long. */
const ALL = { mostLines: 1_000_000, mostCharacters: 1_000_000 };

/** More rules are counted among the answers, and listed where the user says for how long. */
const MAX_RULES = 4;

/** What is asked has so many rows at least, one of them the hint that there are more. */
const MIN_ROWS = 4;

/** Answers that leave fewer rows than this for what is asked share theirs. */
const MIN_BESIDE_ANSWERS = 6;

/** In a window that is lower than this beside the answers, they are scrolled to as well. */
const ROWS_BESIDE_ANSWERS = 3;

/** A key, what it means, and what it does. */
type Answer = readonly [key: string, words: string, act: () => void];

/** Why a question is asked, part by part, if there is more to say than the reason. */
export interface Explanation {
  readonly rows: readonly string[];
  /** The reasons that stand in the rows. */
  readonly reasons: readonly string[];
}

interface QuestionOptions {
  readonly question: Question;
  /** The folder of all work. */
  readonly root: string;
  /** What an edit replaces is kept, so that it can be undone. */
  readonly keepsUndo: boolean;
  /** The subagent that asks, and its task; "" for the session itself. */
  readonly asker: string;
  /** How many more are queued after it. */
  readonly waiting: () => number;
  /** The prompt holds words that are not sent: then enter is meant for them. */
  readonly isTyping: () => boolean;
  readonly answer: (decision: Decision) => void;
  readonly explain: () => Promise<Explanation>;
  /** Answers with what was chosen of a change. */
  readonly takeParts: (parts: PickedParts) => void;
  /** Opens the proposal in the user's editor; the edited text is the answer. */
  readonly edit: (confirmation: Extract<Confirmation, { kind: "edit" }>) => void;
  /** Refuses the call and ends the run. */
  readonly stop: () => void;
}

/** A question with everything that would happen, the worst first, and its answers. */
export class QuestionPanel extends KeyGuard implements Panel {
  readonly #needs: QuestionOptions;
  readonly #view: QuestionView;
  readonly #words = new TextBuffer();
  #state: "choose" | "scope" | "reason" | "hunks" = "choose";
  /** The window has no room for the reason and the rules beside what is asked. */
  #isLow = false;
  /** What is asked has the window for itself. */
  #isFull = false;
  #isExplained = false;
  #explanation: Explanation = { rows: [], reasons: [] };
  readonly #scroll = new Scroll();
  /** The answer that enter gives, and whether the user has moved to it. */
  #chosen = 0;
  #hasMoved = false;
  /** How wide an "always" is; undefined where there is no choice. */
  #width: GrantWidth | undefined;
  /** null: the whole is taken or refused. */
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
    this.begin();
    const facts = this.#factLines(width);
    this.#isLow = false;
    this.#isLow = facts.length + this.#keyLines(width, 0).length + MIN_ROWS > height;
    const content = [...this.#middle(width), ...(this.#isLow ? facts : [])];
    const words = this.#state === "reason" ? this.#words : this.#state === "hunks" && this.#picker?.words;
    const input = words ? drawPrompt(words, width, 4) : null;
    const keys = this.#isFull
      ? wrapLine([{ text: say("question.full"), style: "dim" }], width)
      : [...(this.#isLow ? [] : facts), ...this.#keyLines(width, height - (this.#isLow ? 0 : facts.length))];
    const areKeysBelow = input !== null || keys.length + ROWS_BESIDE_ANSWERS <= height;
    const below = areKeysBelow ? keys : [];
    if (!areKeysBelow) content.push(...keys);
    const page = Math.max(height - below.length - (input?.lines.length ?? 0) - 1, 2);
    if (!areKeysBelow && this.#hasMoved) this.#scroll.from = content.length;
    const shown = this.#scroll.cut(content, page);
    const hint = say("question.scrollHunks", this.#scroll.place);
    const place: Line[] = shown.length < content.length ? [[{ text: hint, style: "dim" }]] : [];
    const rows = [...shown, ...place, ...below];
    return {
      title: this.#title(),
      warning: drawWarning(this.#view),
      lines: [...rows, ...(input?.lines ?? [])],
      caret: input?.caret && { row: rows.length + input.caret.row, column: input.caret.column },
    };
  }

  key(key: Key): void {
    if (key.name === "ctrl+f") this.#isFull = !this.#isFull && this.#state !== "reason";
    else if (this.#scroll.key(key.name, this.#isFull ? { up: -1, down: 1 } : {})) return;
    else if (this.#isFull) this.#isFull = key.name !== "escape" && normalizeCommandKey(key) !== "q";
    else if (this.#state === "reason") this.#reasonKey(key);
    else if (this.#state === "hunks") this.#hunkKey(key);
    else this.#answerKey(key);
  }

  get #listsRules(): boolean {
    return this.#state === "scope" && (this.#isLow || this.#view.subjects.length > MAX_RULES);
  }

  #title(): string {
    const waiting = this.#needs.waiting();
    const more = waiting > 0 ? ` (${say("question.queue", { count: waiting })})` : "";
    const { confirmation } = this.#needs.question;
    return `${say(isCreated(confirmation) ? "question.created" : `question.${confirmation.kind}`)}${more}`;
  }

  #middle(width: number): Line[] {
    if (this.#state === "hunks") return this.#picker?.lines(width) ?? [];
    if (this.#listsRules) {
      const each = this.#view.subjects.map(describeSubject);
      return each.flatMap((text) => wrapLine([{ text, style: "accent" }], width, "  "));
    }
    const why = (this.#isExplained ? this.#explanation.rows : []).map((text) => ({ text: formatText(text) }));
    return [...this.#content(width), ...why.flatMap((text) => wrapLine([text], width, "  "))];
  }

  #content(width: number): Line[] {
    const { confirmation } = this.#needs.question;
    if (confirmation.kind === "plan") return drawMarkdown(confirmation.plan, width, false);
    const { target, lines } = this.#view;
    if (confirmation.kind === "exec") return this.#commandLines(confirmation, width);
    const named = target.flatMap((text) => wrapLine([{ text: formatText(text), style: "strong" }], width));
    if (confirmation.kind === "edit")
      return [
        ...this.#fileLines(confirmation, width),
        ...drawDiff(confirmation.diff.fileDiff, width, confirmation.path),
      ];
    return [...named, ...lines.flatMap((text) => wrapLine([{ text: formatText(text) }], width, "  "))];
  }

  /** The file, from the folder of all work, and how much changes. */
  #fileLines({ path, diff }: Extract<Confirmation, { kind: "edit" }>, width: number): Line[] {
    const place = relative(this.#needs.root, path);
    const [name = ""] = place.startsWith("..") || isAbsolute(place) ? this.#view.target : [place];
    return wrapLine(
      [{ text: formatText(name), style: "strong" }, { text: "  " }, ...drawDiffSummary(diff)],
      width,
    );
  }

  /** The whole command; what its parts would do; where, if that is not the folder of all work. */
  #commandLines({ directory = "" }: Extract<Confirmation, { kind: "exec" }>, width: number): Line[] {
    const { lines } = this.#view;
    const place = relative(this.#needs.root, directory);
    const isElsewhere = isAbsolute(place) || place !== "";
    const where = isElsewhere
      ? say("question.folder", { folder: formatText(place.startsWith("..") ? directory : place) })
      : "";
    const reach = drawReach(this.#view, width);
    return [
      ...lines.flatMap((text) =>
        wrapLine([{ text: `  ${formatText(text)}`, style: "strong" }], width, "    "),
      ),
      ...(where === "" ? [] : wrapLine([{ text: `  ${where}`, style: "dim" }], width, "    ")),
      ...(this.#view.reach.length > 1 ? [[]] : []),
      ...reach,
    ];
  }

  /** What limits it, who asks, and why where what it does is not known. */
  #factLines(width: number): Line[] {
    const { question, asker } = this.#needs;
    const { confirmation, reason } = question;
    const isCommand = confirmation.kind === "exec";
    const hosts = isCommand ? (confirmation.hosts ?? []) : [];
    const writes = isCommand ? (confirmation.writes ?? []).map(({ path }) => formatText(path)) : [];
    // What is listed part by part is not said again.
    const isSaidBelow = this.#isExplained && this.#explanation.reasons.some((one) => reason.endsWith(one));
    const isPlain = isCommand && !this.#view.reach.some(({ effects }) => effects.length > 0);
    const facts = [
      confirmation.kind === "edit" && this.#needs.keepsUndo ? say("reach.undo") : "",
      asker === "" ? "" : say("question.asker", { agent: formatText(asker) }),
      isCommand && confirmation.exception === "network" ? say("question.network") : "",
      writes.length > 0 ? say("question.writes", { names: writes.join(", ") }) : "",
      (isPlain || this.#isExplained) && !isSaidBelow ? formatText(reason) : "",
    ].filter((text) => text !== "");
    const said = facts.length === 0 ? [] : wrapLine([{ text: facts.join(" · "), style: "dim" }], width);
    return [...drawLimits(this.#view, hosts, width), ...said];
  }

  #keyLines(width: number, height: number): Line[] {
    if (this.#state === "reason") return wrapLine([{ text: say("question.reason"), style: "dim" }], width);
    if (this.#state === "hunks") return this.#picker?.hintLines(width) ?? [];
    const above = this.#state === "scope" ? this.#widthLines(width) : [];
    return [...above, ...this.#answerLines(width, height - above.length)];
  }

  /** What "always" is about, and each width with its number where the user can choose. */
  #widthLines(width: number): Line[] {
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

  /** One answer a line below an empty one; side by side where that leaves too little for what is asked. */
  #answerLines(width: number, height: number): Line[] {
    const answers = this.#answers();
    this.#chosen = Math.min(this.#chosen, answers.length - 1);
    const lines = answers.map(([key, words], index): Line => {
      const isChosen = index === this.#chosen;
      const mark = isChosen ? "› " : "  ";
      return [
        { text: mark, style: "accent" },
        { text: key === "esc" ? say("key.esc") : key, style: "accent" },
        { text: ` ${words}`, style: isChosen ? "strong" : undefined },
      ];
    });
    const list = lines.flatMap((line) => wrapLine(line, width, "    "));
    return this.#listsRules || list.length + 1 + MIN_BESIDE_ANSWERS > height
      ? joinColumns(lines, width)
      : [[], ...list];
  }

  #answers(): readonly Answer[] {
    if (this.#state === "scope") return this.#scopeAnswers();
    const { answer, edit, question, stop } = this.#needs;
    const { confirmation } = question;
    const end: Answer = ["esc", say("question.stop"), stop];
    const go = (to: "scope" | "reason") => () => this.#go(to);
    if (confirmation.kind === "plan") {
      const approve = (mode: "auto-edit" | "default") => () => answer({ outcome: "approved_plan", mode });
      return [
        ["y", say("question.planEdits"), approve("auto-edit")],
        ["a", say("question.planAsk"), approve("default")],
        ["n", say("question.planStay"), go("reason")],
        end,
      ];
    }
    if (isCreated(confirmation))
      return [
        ["y", say("question.keep"), () => answer({ outcome: "once" })],
        ["n", say("question.remove"), () => answer({ outcome: "cancel" })],
        end,
      ];
    const rule = describeSubjects(this.#view.subjects, MAX_RULES);
    const answers: readonly (Answer | false)[] = [
      ...this.#yesAnswers(),
      ["n", say("question.no"), go("reason")],
      rule !== "" && ["a", say("question.always", { rule: this.#isLow ? "…" : rule }), go("scope")],
      this.#canPick && ["h", say("question.hunks"), () => this.#pickHunks()],
      confirmation.kind === "edit" && ["e", say("question.editor"), () => edit(confirmation)],
      ["w", say("question.why"), () => void this.#explain()],
      end,
    ];
    return answers.filter((one) => one !== false);
  }

  /** A command that needs the network runs with it or without it. */
  #yesAnswers(): Answer[] {
    const { answer } = this.#needs;
    const { limits } = this.#view;
    if (!limits?.needsNetwork) return [["y", say("question.yes"), () => answer({ outcome: "once" })]];
    const given = limits.network === "offered" ? { network: true } : {};
    return [
      ["y", say("question.yesNetwork"), () => answer({ outcome: "once", ...given })],
      ["s", say("question.yesOffline"), () => answer({ outcome: "once", network: false })],
    ];
  }

  #scopeAnswers(): readonly Answer[] {
    const width = this.#width === undefined ? {} : { width: this.#width };
    const always = (scope: GrantScope) => () => this.#needs.answer({ outcome: "always", scope, ...width });
    return [
      ["s", say("scope.session"), always("session")],
      ["p", say("scope.project"), always("project")],
      ["e", say("scope.everywhere"), always("everywhere")],
      ["esc", say("scope.back"), () => this.#go("choose")],
    ];
  }

  #go(state: "choose" | "scope" | "reason"): void {
    this.#state = state;
    this.#chosen = 0;
    if (this.#listsRules) this.#scroll.from = 0;
  }

  #answerKey(key: Key): void {
    const answers = this.#answers();
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

  /** There is more than one part, or one that can be split. */
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

  #reasonKey(key: Key): void {
    if (key.name !== "enter" && key.name !== "escape") return void applyEditKey(this.#words, key);
    const reason = key.name === "enter" ? this.#words.content.trim() : "";
    this.#needs.answer(reason === "" ? { outcome: "cancel" } : { outcome: "cancel", reason });
  }

  #hunkKey(key: Key): void {
    const picker = this.#picker;
    if (picker === null) return;
    const left = picker.key(key);
    if (left === "back") this.#go("choose");
    else if (left === "send") {
      if (picker.parts.some(({ isTaken, note }) => isTaken || note !== ""))
        this.#needs.takeParts(picker.parts);
      else this.#go("reason");
    } else if (key.name === "up" || key.name === "down") {
      // The row is known when it has been drawn.
      this.#scroll.from = picker.row;
    }
  }
}

/** The question whether to keep what a command has created without being asked for it. */
function isCreated(confirmation: Confirmation): boolean {
  return confirmation.kind === "info" && confirmation.created !== undefined;
}
