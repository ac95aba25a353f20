import type { FileDiff } from "@burin/core";
import { findHunks, splitHunk } from "@burin/core/internal";
import type { TextKey } from "../locales/en.ts";
import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import { type Key, normalizeCommandKey } from "../terminal/keys.ts";
import { formatText, type Line, wrapLine } from "../terminal/styled-line.ts";
import { drawDiffParts } from "./displays/file-diff.ts";
import { applyEditKey } from "./edit-keys.ts";
import { drawKeyHints } from "./panel.ts";

interface Part {
  readonly hunk: string;
  isTaken: boolean;
  /** The user's comment on the part. */
  note: string;
}

/** The parts of a change, each with whether the user accepted it and what they said about it. */
export type PickedParts = readonly Readonly<Part>[];

interface PickerOptions {
  /** Whether the parts are accepted as long as the user says nothing. */
  readonly isTaken?: boolean;
  /** The text that names the keys. */
  readonly keys?: TextKey;
}

/** Lets the user accept or reject the parts of a change one by one. */
export class HunkPicker {
  readonly #path: string;
  readonly #keys: TextKey;
  #parts: Part[];
  #at = 0;
  /** The comment that is being written; null otherwise. */
  words: TextBuffer | null = null;
  /** The row at which each part started in the last drawing. */
  #rows: number[] = [];
  #message = "";

  constructor(
    path: string,
    diff: FileDiff,
    { isTaken = true, keys = "question.hunkKeys" }: PickerOptions = {},
  ) {
    this.#path = path;
    this.#keys = keys;
    this.#parts = findHunks(diff).map((hunk) => ({ hunk, isTaken, note: "" }));
  }

  get count(): number {
    return this.#parts.length;
  }

  get parts(): PickedParts {
    return this.#parts;
  }

  /** The row of the selected part. */
  get row(): number {
    return this.#rows[this.#at] ?? 0;
  }

  lines(width: number): Line[] {
    const rows: Line[] = [];
    const parts = this.#parts.map(({ hunk }) => hunk);
    const drawn = drawDiffParts(parts, width, this.#path);
    this.#rows = this.#parts.map(({ isTaken, note }, index) => {
      if (index > 0) rows.push([]);
      const row = rows.length;
      rows.push([
        { text: index === this.#at ? "› " : "  ", style: "accent" },
        { text: `[${isTaken ? "x" : " "}] ${index + 1}/${this.#parts.length}`, style: "strong" },
      ]);
      if (note !== "") {
        const words: Line = [{ text: `      └ "${formatText(note)}"`, style: "warning" }];
        rows.push(...wrapLine(words, width, "         "));
      }
      rows.push(...(drawn[index] ?? []));
      return row;
    });
    return rows;
  }

  hintLines(width: number): Line[] {
    if (this.words !== null) return wrapLine([{ text: say("question.hunkNote"), style: "dim" }], width);
    return this.#message === ""
      ? drawKeyHints(say(this.#keys), width)
      : wrapLine([{ text: this.#message, style: "warning" }], width);
  }

  /** Handles a key. Returns whether the user goes back or sends the choice. */
  key(key: Key): "back" | "send" | null {
    this.#message = "";
    if (this.words !== null) this.#handleCommentKey(this.words, key);
    else if (key.name === "escape") return "back";
    else if (key.name === "enter") return "send";
    else if (key.name === "up" || key.name === "down") this.#move(key.name === "up" ? -1 : 1);
    else this.#applyCommand(normalizeCommandKey(key));
    return null;
  }

  #move(step: number): void {
    this.#at = (this.#at + step + this.#parts.length) % this.#parts.length;
  }

  #applyCommand(command: string): void {
    const part = this.#parts[this.#at];
    if (part === undefined) return;
    if (command === " " || command === "x") part.isTaken = !part.isTaken;
    else if (command === "n") {
      this.words = new TextBuffer();
      this.words.set(part.note);
    } else if (command === "s") {
      const pieces = splitHunk(part.hunk).map((hunk) => ({ ...part, hunk }));
      if (pieces.length < 2) this.#message = say("question.hunkWhole");
      else this.#parts.splice(this.#at, 1, ...pieces);
    }
  }

  /** Handles a key while a comment is written. A part with a comment is rejected unless the user accepts it again. */
  #handleCommentKey(words: TextBuffer, key: Key): void {
    if (key.name !== "enter" && key.name !== "escape") return void applyEditKey(words, key);
    const part = this.#parts[this.#at];
    if (key.name === "enter" && part !== undefined) {
      part.note = words.content.trim();
      if (part.note !== "") part.isTaken = false;
    }
    this.words = null;
  }
}
