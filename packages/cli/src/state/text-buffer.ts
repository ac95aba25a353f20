import { splitGraphemes } from "../terminal/cell-width.ts";

interface Snapshot {
  readonly text: string;
  readonly caret: number;
}

/** The places to which the caret can move, and up to which text can be cut. */
const PLACES = {
  left: (before) => before.length - (splitGraphemes(extractTextEnd(before)).at(-1)?.length ?? 0),
  right: (before, after) => before.length + (splitGraphemes(after.slice(0, 60))[0]?.length ?? 0),
  wordLeft: (before) => findWordEnd(before, -1, WORD),
  wordRight: (before, after) => before.length + findWordEnd(after, 1, WORD),
  blankLeft: (before) => findWordEnd(before, -1, /\S/),
  lineStart: (before) => before.lastIndexOf("\n") + 1,
  lineEnd: (before, after) => before.length + `${after}\n`.indexOf("\n"),
  start: () => 0,
  end: (before, after) => before.length + after.length,
} satisfies Record<string, (before: string, after: string) => number>;
type CaretMove = keyof typeof PLACES;
type Range = readonly [from: number, end: number];
type Change = "type" | "kill" | "yank" | "";

const MAX_SNAPSHOTS = 200;
const MAX_KILLED = 20;
/** A longer paste is folded: the text shows one mark for it. */
const LONGEST_SHOWN_PASTE = 1000;
const MAX_SHOWN_LINES = 8;
/** The marks of folded pastes are characters from a plane that no text uses. */
const FIRST_MARK = 0xf0000;
const MARKS = /[\u{f0000}-\u{ffffd}]/gu;
const WORD = /[\p{L}\p{M}\p{N}_]/u;

/** Editable text with a caret, undo and cut text. The caret is always between two characters as users see them. */
export class TextBuffer {
  #text = "";
  #caret = 0;
  #undo: Snapshot[] = [];
  #redo: Snapshot[] = [];
  #killed: string[] = [];
  #folded: string[] = [];
  /** The kind of the last change. Consecutive typing is one undo step; consecutive cuts are pasted as one. */
  #last: Change = "";
  #yanked = { from: 0, index: 0 };

  get text(): string {
    return this.#text;
  }

  get caret(): number {
    return this.#caret;
  }

  get isEmpty(): boolean {
    return this.#text === "";
  }

  /** The text with all folded pastes expanded. */
  get content(): string {
    return this.#text.replace(MARKS, (mark) => this.findPaste(mark) ?? "");
  }

  /** Returns the paste that a mark stands for. */
  findPaste(mark: string): string | undefined {
    return this.#folded[(mark.codePointAt(0) ?? 0) - FIRST_MARK];
  }

  set(text: string): void {
    this.#remember();
    this.#text = this.#withOwnMarks(text);
    this.#caret = this.#text.length;
    this.#last = "";
  }

  insert(text: string): void {
    const clean = this.#withOwnMarks(text);
    if (clean === "") return;
    if (this.#last !== "type" || /\s/.test(clean)) this.#remember();
    this.#replace([this.#caret, this.#caret], clean, "type");
  }

  paste(text: string): void {
    const clean = text.replace(/\r\n?/g, "\n").replace(MARKS, "");
    if (clean === "") return;
    this.#remember();
    const isLong = clean.length > LONGEST_SHOWN_PASTE || clean.split("\n").length > MAX_SHOWN_LINES;
    const shown = isLong ? String.fromCodePoint(FIRST_MARK + this.#folded.push(clean) - 1) : clean;
    this.#replace([this.#caret, this.#caret], shown);
  }

  /** Replaces the text between that place and the caret. */
  replaceBeforeCaret(from: number, text: string): void {
    this.#remember();
    this.#replace([from, this.#caret], text);
  }

  remove(from: number, end: number): void {
    if (from === end) return;
    this.#remember();
    this.#replace([from, end], "");
  }

  clear(): void {
    if (this.#text !== "") this.set("");
  }

  move(to: CaretMove): void {
    this.#caret = this.#findPosition(to);
    this.#last = "";
  }

  moveTo(caret: number): void {
    this.#caret = Math.max(0, Math.min(caret, this.#text.length));
    this.#last = "";
  }

  erase(to: CaretMove): void {
    const range = this.#findRangeTo(to);
    if (range[0] === range[1]) return;
    if (this.#last !== "type") this.#remember();
    this.#replace(range, "", "type");
  }

  /** Cuts the text between the caret and that place; `yank` pastes it. */
  kill(to: CaretMove): void {
    const isAtEnd = to === "lineEnd" && this.#findPosition(to) === this.#caret;
    const [from, end] = this.#findRangeTo(isAtEnd ? "right" : to);
    if (from === end) return;
    this.#remember();
    const cut = this.#text.slice(from, end);
    const before = this.#last === "kill" ? (this.#killed.pop() ?? "") : "";
    this.#killed.push(from < this.#caret ? cut + before : before + cut);
    if (this.#killed.length > MAX_KILLED) this.#killed.shift();
    this.#replace([from, end], "", "kill");
  }

  yank(): void {
    const text = this.#killed.at(-1);
    if (text === undefined) return;
    this.#remember();
    this.#yanked = { from: this.#caret, index: this.#killed.length - 1 };
    this.#replace([this.#caret, this.#caret], text, "yank");
  }

  /** Replaces the text that was just pasted with the cut before it. */
  yankBefore(): void {
    if (this.#last !== "yank") return;
    const { from, index } = this.#yanked;
    const peekCharacter = (index - 1 + this.#killed.length) % this.#killed.length;
    this.#replace([from, this.#caret], this.#killed[peekCharacter] ?? "", "yank");
    this.#yanked = { from, index: peekCharacter };
  }

  undo(): void {
    this.#restoreSnapshot(this.#undo, this.#redo);
  }

  redo(): void {
    this.#restoreSnapshot(this.#redo, this.#undo);
  }

  /** Removes marks that stand for no paste. Drafts and cut text that return keep their pastes. */
  #withOwnMarks(text: string): string {
    return text.replace(MARKS, (mark) => (this.findPaste(mark) === undefined ? "" : mark));
  }

  #restoreSnapshot(from: Snapshot[], to: Snapshot[]): void {
    const snapshot = from.pop();
    if (snapshot === undefined) return;
    to.push({ text: this.#text, caret: this.#caret });
    this.#text = snapshot.text;
    this.#caret = snapshot.caret;
    this.#last = "";
  }

  #remember(): void {
    this.#undo.push({ text: this.#text, caret: this.#caret });
    if (this.#undo.length > MAX_SNAPSHOTS) this.#undo.shift();
    this.#redo = [];
  }

  #replace([from, end]: Range, by: string, last: Change = ""): void {
    this.#text = this.#text.slice(0, from) + by + this.#text.slice(end);
    this.#caret = from + by.length;
    this.#last = last;
  }

  #findRangeTo(to: CaretMove): Range {
    const place = this.#findPosition(to);
    return [Math.min(place, this.#caret), Math.max(place, this.#caret)];
  }

  #findPosition(to: CaretMove): number {
    return PLACES[to](this.#text.slice(0, this.#caret), this.#text.slice(this.#caret));
  }
}

/** Returns enough of the text's end to find its last character. */
function extractTextEnd(before: string): string {
  // If the first line is empty, there is no line before it.
  const line = before.length < 2 ? before : before.slice(before.lastIndexOf("\n", before.length - 2) + 1);
  return line.length > 60 ? line.slice(-60) : line;
}

/** Returns the position after the first word of the text or, if `by` is negative, before the last word. */
function findWordEnd(text: string, by: -1 | 1, letter: RegExp): number {
  let at = by < 0 ? text.length : 0;
  const next = () => text[by < 0 ? at - 1 : at] ?? "";
  while (next() !== "" && !letter.test(next())) at += by;
  while (letter.test(next())) at += by;
  return at;
}
