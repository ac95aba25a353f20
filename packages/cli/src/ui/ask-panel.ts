import type { Decision } from "@burin/core";
import { buildAnswerNames, type ChoiceQuestion } from "@burin/core/internal";
import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import { measureWidth } from "../terminal/cell-width.ts";
import type { Key } from "../terminal/keys.ts";
import { cutLine, formatText, type Line, wrapLine } from "../terminal/styled-line.ts";
import { applyEditKey } from "./edit-keys.ts";
import { drawKeyHints, KeyGuard, type Panel, type PanelSpace, type PanelView, Scroll } from "./panel.ts";
import { drawPrompt } from "./prompt-view.ts";

/** The cells before the words of a choice. */
const HANG = 8;

interface AskOptions {
  readonly questions: readonly ChoiceQuestion[];
  readonly answer: (decision: Decision) => void;
}

/** The user's answer to one question so far. */
interface Given {
  /** The indexes of the chosen answers. `at` may also be the row after the last one, where the user can write. */
  readonly picked: Set<number>;
  readonly words: TextBuffer;
  at: number;
}

interface Asked {
  readonly question: ChoiceQuestion;
  readonly given: Given;
}

/** Shows the model's questions in one panel, one after the other, each with its choices and a row for free text. */
export class AskPanel extends KeyGuard implements Panel {
  readonly #needs: AskOptions;
  readonly #given: readonly Given[];
  readonly #scroll = new Scroll();
  #at = 0;

  constructor(needs: AskOptions) {
    super();
    this.#needs = needs;
    this.#given = needs.questions.map(() => ({ picked: new Set(), words: new TextBuffer(), at: 0 }));
  }

  view({ width, height }: PanelSpace): PanelView {
    this.startGuard();
    const { questions } = this.#needs;
    const [question, given] = [questions[this.#at], this.#given[this.#at]];
    if (question === undefined || given === undefined) return { title: say("ask.title"), lines: [] };
    const count = questions.length > 1 ? ` ${this.#at + 1}/${questions.length}` : "";
    const head = wrapLine([{ text: formatText(question.question), style: "strong" }], width);
    const choices = question.choices.flatMap((_, index) =>
      this.#drawChoice({ question, given }, index, width),
    );
    const isWriting = given.at === question.choices.length;
    const mark: Line = [
      { text: isWriting ? "› " : "  ", style: "accent" },
      { text: `${say("ask.words")} `, style: isWriting ? "strong" : "dim" },
    ];
    const input = drawPrompt(given.words, width, 3);
    const words = given.words.isEmpty && !isWriting ? [mark] : [mark, ...input.lines];
    const hints = drawKeyHints(say(question.multiple ? "ask.keysMany" : "ask.keys"), width);
    const content = [...this.#drawEarlierAnswers(width), ...head, ...choices, ...words];
    const keys = content.length + hints.length + 2 < height ? [[], ...hints] : hints;
    const page = Math.max(height - keys.length, 2);
    this.#scroll.from = Number.MAX_SAFE_INTEGER;
    const shown = this.#scroll.cutToPage(content, page);
    const row = shown.length - input.lines.length + input.caret.row;
    return {
      title: `${say("ask.title")}${count}`,
      lines: [...shown, ...keys],
      caret: isWriting ? { row, column: input.caret.column } : undefined,
    };
  }

  key(key: Key): void {
    const [question, given] = [this.#needs.questions[this.#at], this.#given[this.#at]];
    if (question === undefined || given === undefined) return;
    const rows = question.choices.length + 1;
    const { name } = key;
    if (name === "escape") this.#needs.answer({ outcome: "filled", values: {} });
    else if (name === "up" || name === "down") given.at = (given.at + (name === "up" ? rows - 1 : 1)) % rows;
    else if (name === "enter") this.#confirmChoice(question, given);
    else if (name === "tab" || name === "shift+tab") this.#moveToQuestion(name === "tab" ? 1 : -1);
    else if (given.at === rows - 1) applyWritingKey(given.words, key);
    else this.#handleChoiceKey({ question, given }, key);
  }

  /** Handles a key while one of the choices is marked. */
  #handleChoiceKey({ question, given }: Asked, key: Key): void {
    const { name, text } = key;
    if (name === "text" && text.length > 1) {
      // Handle keys that arrived together one by one.
      for (const letter of text) this.key({ name, text: letter });
      return;
    }
    const number = name === "text" ? Number(text) - 1 : -1;
    if (name === "left" || name === "right") this.#moveToQuestion(name === "right" ? 1 : -1);
    else if (number >= 0 && number < question.choices.length) this.#chooseNumber(question, given, number);
    else if (name === "text" && text === " ") this.#toggleChoice(question, given, given.at);
    else if (name === "text" || name === "paste") {
      // A user who starts to type wants to answer in their own words.
      given.at = question.choices.length;
      applyWritingKey(given.words, key);
    }
  }

  #drawChoice({ question, given }: Asked, index: number, width: number): Line[] {
    const { label, description = "" } = question.choices[index] ?? { label: "" };
    const isAt = given.at === index;
    const isPicked = given.picked.has(index);
    const mark = question.multiple ? (isPicked ? "[x] " : "[ ] ") : isPicked ? "(•) " : "( ) ";
    const column = Math.max(...question.choices.map((choice) => measureWidth(formatText(choice.label))));
    const gap = " ".repeat(column - measureWidth(formatText(label)) + 2);
    const line: Line = [
      { text: isAt ? "› " : "  ", style: "accent" },
      { text: `${index + 1} ${mark}${formatText(label)}`, style: isAt ? "strong" : undefined },
      { text: description === "" ? "" : `${gap}${formatText(description)}`, style: "dim" },
    ];
    const hang = HANG + column + 2;
    return wrapLine(line, width, " ".repeat(hang * 2 > width ? HANG : hang));
  }

  /** Returns the earlier answers, one per row. */
  #drawEarlierAnswers(width: number): Line[] {
    const { questions } = this.#needs;
    const rows = questions.slice(0, this.#at).map(({ question, choices }, index): Line => {
      const { picked, words } = this.#given[index] ?? { picked: new Set<number>(), words: new TextBuffer() };
      const said = [...picked].sort().map((one) => choices[one]?.label ?? "");
      const all = [...said, words.content.trim()].filter((one) => one !== "").join(", ");
      return cutLine(
        [{ text: `${formatText(question)} `, style: "dim" }, { text: formatText(all || "–") }],
        width,
      );
    });
    return rows.length === 0 ? [] : [...rows, []];
  }

  #toggleChoice(question: ChoiceQuestion, { picked }: Given, index: number): void {
    if (!question.multiple) picked.clear();
    if (!picked.delete(index)) picked.add(index);
  }

  #chooseNumber(question: ChoiceQuestion, given: Given, index: number): void {
    given.at = index;
    if (question.multiple) this.#toggleChoice(question, given, index);
    else this.#confirmChoice(question, given);
  }

  /** Chooses the marked row unless there are choices, and goes on. After the last question, sends all answers. */
  #confirmChoice(question: ChoiceQuestion, given: Given): void {
    const isWriting = given.at === question.choices.length;
    if (isWriting && !question.multiple && !given.words.isEmpty) given.picked.clear();
    if (!isWriting && (!question.multiple || given.picked.size === 0)) {
      given.picked.clear();
      given.picked.add(given.at);
    }
    if (this.#at < this.#needs.questions.length - 1) this.#at += 1;
    else this.#sendAnswers();
  }

  #moveToQuestion(by: number): void {
    this.#at = Math.max(0, Math.min(this.#at + by, this.#needs.questions.length - 1));
  }

  #sendAnswers(): void {
    const values: Record<string, unknown> = {};
    for (const [index, { choices, multiple }] of this.#needs.questions.entries()) {
      const { picked, words } = this.#given[index] ?? { picked: new Set<number>(), words: new TextBuffer() };
      const names = buildAnswerNames(index);
      const labels = [...picked].sort().map((one) => choices[one]?.label);
      if (labels.length > 0) values[names.choice] = multiple ? labels : labels[0];
      if (words.content.trim() !== "") values[names.words] = words.content.trim();
    }
    this.#needs.answer({ outcome: "filled", values });
  }
}

function applyWritingKey(words: TextBuffer, key: Key): void {
  if (key.name === "paste") words.insert(key.text.trim());
  else applyEditKey(words, key);
}
