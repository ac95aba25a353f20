import {
  type Confirmation,
  contentWithHunks,
  type Decision,
  type GrantScope,
  type GrantWidth,
  hunksOf,
  type Question,
  type QuestionView,
  questionView,
} from "@burin/core";
import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import { commandKey, type Key } from "../terminal/keys.ts";
import { type Line, shownText, sideBySide, wrapLine } from "../terminal/styled-line.ts";
import { diffLines } from "./displays/file-diff.ts";
import { editKey } from "./edit-keys.ts";
import { markdownLines } from "./markdown.ts";
import { type Panel, type PanelSpace, type PanelView, Scroll, Standing } from "./panel.ts";
import { promptView } from "./prompt-view.ts";

/** Shows all of it, however long. */
const ALL = { mostLines: 1_000_000, mostCharacters: 1_000_000 };

/** More rules are counted among the answers, and listed where the user says for how long. */
const MOST_RULES = 4;

/** What is asked has so many rows at least, one of them the hint that there are more. */
const LEAST_ROWS = 4;

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

interface QuestionNeeds {
  readonly question: Question;
  /** The subagent that asks, and its task; "" for the session itself. */
  readonly asker: string;
  /** How many more are queued after it. */
  readonly waiting: () => number;
  readonly answer: (decision: Decision) => void;
  readonly explain: () => Promise<Explanation>;
  /** Opens the proposal in the user's editor; the edited text is the answer. */
  readonly edit: (confirmation: Extract<Confirmation, { kind: "edit" }>) => void;
  /** Refuses the call and ends the run. */
  readonly stop: () => void;
}

/** A question with everything that would happen, and its answers. */
export class QuestionPanel extends Standing implements Panel {
  readonly #needs: QuestionNeeds;
  readonly #view: QuestionView;
  readonly #words = new TextBuffer();
  #state: "choose" | "scope" | "reason" | "hunks" = "choose";
  /** The window has no room for the reason and the rules beside what is asked. */
  #isLow = false;
  #isExplained = false;
  #explanation: Explanation = { rows: [], reasons: [] };
  readonly #scroll = new Scroll();
  #hunk = 0;
  /** How wide an "always" is; undefined where there is no choice. */
  #width: GrantWidth | undefined;
  readonly #hunks: readonly string[];
  readonly #taken = new Set<number>();
  /** Where each hunk starts in the last drawing. */
  readonly #hunkRows: number[] = [];

  constructor(needs: QuestionNeeds) {
    super();
    this.#needs = needs;
    const { confirmation } = needs.question;
    this.#view = questionView(confirmation, ALL);
    const { grants, widths = [] } = this.#view;
    this.#width = widths.findLast((one) => one.grants.join() === grants.join())?.width;
    this.#hunks = confirmation.kind === "edit" ? hunksOf(confirmation.diff) : [];
    for (const index of this.#hunks.keys()) this.#taken.add(index);
  }

  view({ width, height }: PanelSpace): PanelView {
    this.begin();
    const facts = this.#factLines(width);
    this.#isLow = false;
    this.#isLow = facts.length + this.#answerLines(width).length + LEAST_ROWS > height;
    const why = (this.#isExplained ? this.#explanation.rows : []).map((text) => ({ text: shownText(text) }));
    const reasons = [...why.flatMap((text) => wrapLine([text], width, "  ")), ...(this.#isLow ? facts : [])];
    const content =
      this.#state === "hunks"
        ? this.#hunkLines(width)
        : this.#listsRules
          ? this.#view.grants.flatMap((text) => wrapLine([{ text, style: "accent" }], width, "  "))
          : [...this.#content(width), ...reasons];
    const input = this.#state === "reason" ? promptView(this.#words, width, 4) : null;
    const keys = [...(this.#isLow ? [] : facts), ...this.#keyLines(width)];
    const areKeysBelow = input !== null || keys.length + ROWS_BESIDE_ANSWERS <= height;
    const below = areKeysBelow ? keys : [];
    if (!areKeysBelow) content.push(...keys);
    const page = Math.max(height - below.length - (input?.lines.length ?? 0) - 1, 2);
    const shown = this.#scroll.cut(content, page);
    const hint = this.#state === "hunks" ? "question.scrollHunks" : "question.scroll";
    const text = say(hint, this.#scroll.place);
    const place: Line[] = shown.length < content.length ? [[{ text, style: "dim" }]] : [];
    const rows = [...shown, ...place, ...below];
    return {
      title: this.#title(),
      lines: [...rows, ...(input?.lines ?? [])],
      caret: input?.caret && { row: rows.length + input.caret.row, column: input.caret.column },
    };
  }

  key(key: Key): void {
    if (this.#scroll.key(key.name, this.#state === "hunks" ? {} : { up: -1, down: 1 })) return;
    if (this.#state === "reason") this.#reasonKey(key);
    else if (this.#state === "scope") this.#scopeKey(key);
    else if (this.#state === "hunks") this.#hunkKey(key);
    else this.#chosen(key);
  }

  get #listsRules(): boolean {
    return this.#state === "scope" && (this.#isLow || this.#view.grants.length > MOST_RULES);
  }

  get #chosenWidth(): { readonly width?: GrantWidth } {
    return this.#width === undefined ? {} : { width: this.#width };
  }

  #title(): string {
    const waiting = this.#needs.waiting();
    const more = waiting > 0 ? ` (${say("question.queue", { count: waiting })})` : "";
    const { confirmation } = this.#needs.question;
    return `${say(isCreated(confirmation) ? "question.created" : `question.${confirmation.kind}`)}${more}`;
  }

  #content(width: number): Line[] {
    const { confirmation } = this.#needs.question;
    const isCommand = confirmation.kind === "exec";
    const style = isCommand ? "dim" : "strong";
    const target = this.#view.target.flatMap((text) => wrapLine([{ text, style }], width));
    if (confirmation.kind === "edit") return [...target, ...diffLines(confirmation.diff.fileDiff, width)];
    if (confirmation.kind === "plan") return markdownLines(confirmation.plan, width, false);
    const lines = this.#view.lines.flatMap((text) => wrapLine([{ text: shownText(text) }], width, "  "));
    return isCommand ? [...lines, ...target] : [...target, ...lines];
  }

  #hunkLines(width: number): Line[] {
    const rows: Line[] = [];
    for (const [index, hunk] of this.#hunks.entries()) {
      const mark = this.#taken.has(index) ? "[x] " : "[ ] ";
      this.#hunkRows[index] = rows.length;
      rows.push([
        { text: index === this.#hunk ? "› " : "  ", style: "accent" },
        { text: `${mark}${index + 1}/${this.#hunks.length}`, style: "strong" },
      ]);
      rows.push(...diffLines(hunk, width));
    }
    return rows;
  }

  /** Who asks, and why. */
  #factLines(width: number): Line[] {
    const { question, asker } = this.#needs;
    const { confirmation, reason } = question;
    const isCommand = confirmation.kind === "exec";
    const exception = isCommand && confirmation.exception;
    const writes = isCommand ? (confirmation.writes ?? []).map(({ path }) => shownText(path)) : [];
    // What is listed part by part is not said again.
    const isSaidBelow = this.#isExplained && this.#explanation.reasons.some((one) => reason.endsWith(one));
    const facts = [
      asker === "" ? "" : say("question.asker", { agent: shownText(asker) }),
      exception ? say(`question.${exception}`) : "",
      writes.length > 0 ? say("question.writes", { names: writes.join(", ") }) : "",
      (isCommand || this.#isExplained) && !isSaidBelow ? shownText(reason) : "",
    ].filter((text) => text !== "");
    return facts.length === 0 ? [] : wrapLine([{ text: facts.join(" · "), style: "dim" }], width);
  }

  #keyLines(width: number): Line[] {
    if (this.#state === "reason") return wrapLine([{ text: say("question.reason"), style: "dim" }], width);
    if (this.#state === "scope")
      return [...this.#widthLines(width), ...wrapLine([{ text: say("question.scope") }], width)];
    if (this.#state === "hunks") return wrapLine([{ text: say("question.hunkKeys"), style: "dim" }], width);
    return this.#answerLines(width);
  }

  /** The rules of each width with its number, where the user can choose. */
  #widthLines(width: number): Line[] {
    const { widths = [] } = this.#view;
    if (widths.length < 2) return [];
    const rows = widths.flatMap((one, index) => {
      const isChosen = one.width === this.#width;
      const rules =
        one.grants.slice(0, MOST_RULES).join(", ") + (one.grants.length > MOST_RULES ? ", …" : "");
      const text = `${isChosen ? "›" : " "} ${index + 1} ${rules}`;
      return wrapLine([{ text, style: isChosen ? "accent" : "dim" }], width, "    ");
    });
    return [...wrapLine([{ text: say("question.width") }], width), ...rows];
  }

  #answerLines(width: number): Line[] {
    const answers = this.#answers().map(
      ([key, words]): Line => [{ text: key, style: "accent" }, { text: ` ${words}` }],
    );
    return sideBySide(answers, width);
  }

  #answers(): readonly Answer[] {
    const { answer, edit, question, stop } = this.#needs;
    const { confirmation } = question;
    const end: Answer = ["esc", say("question.stop"), stop];
    const go = (to: "scope" | "reason") => () => {
      this.#state = to;
      if (this.#listsRules) this.#scroll.from = 0;
    };
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
    const { grants } = this.#view;
    const more = grants.length > MOST_RULES ? [`… +${grants.length - MOST_RULES + 1}`] : [];
    const all = [...grants.slice(0, MOST_RULES - more.length), ...more].join(", ");
    const rule = this.#isLow && all !== "" ? "…" : all;
    const answers: readonly (Answer | false)[] = [
      ["y", say("question.yes"), () => answer({ outcome: "once" })],
      rule !== "" && ["a", say("question.always", { rule }), go("scope")],
      this.#hunks.length > 1 && ["h", say("question.hunks"), () => this.#pickHunks()],
      confirmation.kind === "edit" && ["e", say("question.editor"), () => edit(confirmation)],
      ["n", say("question.no"), go("reason")],
      ["w", say("question.why"), () => void this.#explain()],
      end,
    ];
    return answers.filter((one) => one !== false);
  }

  #chosen(key: Key): void {
    const pressed = key.name === "escape" ? "esc" : key.text.length === 1 ? commandKey(key) : "";
    const [, , act] = this.#answers().find(([key]) => key === pressed) ?? [];
    act?.();
  }

  #pickHunks(): void {
    this.#state = "hunks";
    this.#scroll.from = this.#hunkRows[this.#hunk] ?? 0;
  }

  async #explain(): Promise<void> {
    this.#isExplained = !this.#isExplained;
    if (this.#isExplained) this.#explanation = await this.#needs.explain();
  }

  #scopeKey(key: Key): void {
    const scopes: Readonly<Record<string, GrantScope>> = { s: "session", p: "project", e: "everywhere" };
    const scope = scopes[commandKey(key)];
    const { widths = [] } = this.#view;
    const chosen = widths.length < 2 ? undefined : widths[Number(key.text) - 1]?.width;
    if (chosen !== undefined) this.#width = chosen;
    else if (scope !== undefined) this.#needs.answer({ outcome: "always", scope, ...this.#chosenWidth });
    else if (key.name === "escape") this.#state = "choose";
  }

  #reasonKey(key: Key): void {
    if (key.name !== "enter" && key.name !== "escape") return void editKey(this.#words, key);
    const reason = key.name === "enter" ? this.#words.content.trim() : "";
    this.#needs.answer(reason === "" ? { outcome: "cancel" } : { outcome: "cancel", reason });
  }

  #hunkKey({ name, text }: Key): void {
    const { confirmation } = this.#needs.question;
    if (name === "escape") this.#state = "choose";
    else if (name === "up" || name === "down") {
      this.#hunk = (this.#hunk + (name === "up" ? -1 : 1) + this.#hunks.length) % this.#hunks.length;
      this.#scroll.from = this.#hunkRows[this.#hunk] ?? 0;
    } else if ([" ", "x"].includes(commandKey({ name, text }))) {
      if (!this.#taken.delete(this.#hunk)) this.#taken.add(this.#hunk);
    } else if (name === "enter" && confirmation.kind === "edit") {
      if (this.#taken.size === 0) this.#state = "reason";
      else if (this.#taken.size === this.#hunks.length) this.#needs.answer({ outcome: "once" });
      else
        this.#needs.answer({ outcome: "edited", content: contentWithHunks(confirmation.diff, this.#taken) });
    }
  }
}

/** The question whether to keep what a command has created without being asked for it. */
function isCreated(confirmation: Confirmation): boolean {
  return confirmation.kind === "info" && confirmation.created !== undefined;
}
