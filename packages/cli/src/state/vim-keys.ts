import { splitGraphemes } from "../terminal/cell-width.ts";
import type { Key } from "../terminal/keys.ts";
import type { TextBuffer } from "./text-buffer.ts";

/** Matches commands such as `3dw`: a count, an operator, another count, and a key or motion. */
const COMMAND = /^([1-9]\d*)?(?:([dcy])([1-9]\d*)?)?([\s\S]*)$/;
const TOKEN = /[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]+/gu;
const MAX_TIMES = 1000;

/** Keys that other parts of the screen know by another name. */
const PASSED: Readonly<Record<string, string>> = { j: "down", k: "up", "/": "ctrl+r" };
/** Keys that are short for others. */
const SHORT: Readonly<Record<string, string>> = {
  x: "dl",
  X: "dh",
  D: "d$",
  C: "c$",
  s: "cl",
  S: "cc",
  Y: "yy",
};

/** Keys that enter insert mode; each first moves the caret. */
const BEGIN: Readonly<Record<string, (buffer: TextBuffer) => void>> = {
  i: () => {},
  a: (buffer) => isAtLineEnd(buffer) || buffer.move("right"),
  I: (buffer) => buffer.move("lineStart"),
  A: (buffer) => buffer.move("lineEnd"),
  o: (buffer) => {
    buffer.move("lineEnd");
    buffer.insert("\n");
  },
  O: (buffer) => {
    buffer.move("lineStart");
    buffer.insert("\n");
    buffer.move("left");
  },
};

/** Implements the vi keys that are useful in a prompt. */
export class VimKeys {
  isNormal = false;
  #typed = "";
  #register = "";

  /** Handles a key. Returns the key that the rest of the screen should handle, or null if it is done. */
  press(buffer: TextBuffer, key: Key): Key | null {
    if (!this.isNormal) {
      if (key.name !== "escape" || buffer.isEmpty) return key;
      this.isNormal = true;
      if (buffer.text[buffer.caret - 1] !== "\n") buffer.move("left");
      return null;
    }
    if (key.name === "enter") this.isNormal = false;
    if (key.name === "ctrl+r") {
      buffer.redo();
      return null;
    }
    if (key.name === "escape" && this.#typed !== "") {
      this.#typed = "";
      return null;
    }
    if (key.name !== "text") return key;
    let passed: Key | null = null;
    for (const [index, character] of [...key.text].entries()) {
      // After `i`, the rest is inserted as text.
      if (!this.isNormal) return { name: "text", text: [...key.text].slice(index).join("") };
      passed = this.#takeKey(buffer, character);
    }
    return passed;
  }

  #takeKey(buffer: TextBuffer, character: string): Key | null {
    this.#typed += character;
    const [, times = "1", operator = "", more = "1", rest = ""] = COMMAND.exec(this.#typed) ?? [];
    if (rest === "" || rest === "g" || (operator === "" ? rest === "r" : /^[ia]$/.test(rest))) return null;
    this.#typed = "";
    const count = Math.min(Number(times) * Number(more), MAX_TIMES);
    if (operator !== "") this.#applyOperator(buffer, operator, { rest, count });
    else if (SHORT[rest] !== undefined)
      this.#applyOperator(buffer, SHORT[rest][0] ?? "", { rest: SHORT[rest].slice(1), count });
    else if (PASSED[rest] !== undefined) return { name: PASSED[rest], text: "" };
    else if (!this.#handleInsertKey(buffer, rest))
      buffer.moveTo(findPosition(buffer, rest, count) ?? buffer.caret);
    return null;
  }

  /** Handles keys that enter insert mode or change the text at the caret. Returns false for other keys. */
  #handleInsertKey(buffer: TextBuffer, key: string): boolean {
    if (key in BEGIN) {
      this.isNormal = false;
      BEGIN[key]?.(buffer);
    } else if (key === "u") buffer.undo();
    else if (key === "p" || key === "P") this.#pasteRegister(buffer, key === "p");
    else if (key.startsWith("r")) replaceCharacter(buffer, key.slice(1));
    else return false;
    return true;
  }

  /** Pastes the last cut; cut lines are pasted as whole lines. */
  #pasteRegister(buffer: TextBuffer, isBehind: boolean): void {
    const cut = this.#register;
    if (cut.endsWith("\n")) {
      buffer.move(isBehind ? "lineEnd" : "lineStart");
      buffer.insert(isBehind ? `\n${cut.slice(0, -1)}` : cut);
    } else {
      if (isBehind && !isAtLineEnd(buffer)) buffer.move("right");
      buffer.insert(cut);
    }
  }

  #applyOperator(
    buffer: TextBuffer,
    operator: string,
    { rest, count }: { rest: string; count: number },
  ): void {
    const isLine = rest === operator;
    const motion = operator === "c" && rest === "w" ? "e" : rest;
    const range = isLine ? findLines(buffer, count) : findRange(buffer, motion, count);
    if (range === null) return;
    const [from, end] = range;
    const cut = buffer.text.slice(from, end);
    this.#register = isLine && !cut.endsWith("\n") ? `${cut}\n` : cut;
    if (operator === "y") return void buffer.moveTo(from);
    const isKept = isLine && operator === "c" && cut.endsWith("\n");
    buffer.remove(from, isKept ? end - 1 : end);
    if (operator === "c") this.isNormal = false;
  }
}

function isAtLineEnd({ text, caret }: TextBuffer): boolean {
  return caret === text.length || text[caret] === "\n";
}

function replaceCharacter(buffer: TextBuffer, by: string): void {
  if (isAtLineEnd(buffer)) return;
  buffer.erase("right");
  buffer.insert(by);
  buffer.move("left");
}

function findLineStart(text: string, caret: number): number {
  return text.slice(0, caret).lastIndexOf("\n") + 1;
}

function findLines({ text, caret }: TextBuffer, count: number): [number, number] {
  const from = findLineStart(text, caret);
  let end = from;
  for (let n = 0; n < count && end < text.length; n += 1) {
    const next = text.indexOf("\n", end);
    end = next === -1 ? text.length : next + 1;
  }
  return [from, end];
}

/** Returns the range between the caret and a place, including the character there if the place is a word's end. */
function findRange(buffer: TextBuffer, key: string, count: number): [number, number] | null {
  if (key === "iw" || key === "aw") return findWord(buffer, key === "aw");
  const place = findPosition(buffer, key, count);
  if (place === null) return null;
  const last = key === "e" ? measureCharacters(buffer.text.slice(place, place + 60), 1) : 0;
  return [Math.min(place, buffer.caret), Math.max(place + last, buffer.caret)];
}

/** Returns the range of the word at the caret, optionally with the spaces after it. */
function findWord({ text, caret }: TextBuffer, isWithSpaces: boolean): [number, number] | null {
  const found = [...text.matchAll(TOKEN)].find(({ 0: word, index }) => index + word.length > caret);
  if (found === undefined || found.index > caret) return null;
  const end = found.index + found[0].length;
  return [found.index, end + (isWithSpaces ? (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0) : 0)];
}

/** Returns the length of the first `count` characters as users see them; if negative, of all but the last `-count`. */
function measureCharacters(text: string, count: number): number {
  return splitGraphemes(text).slice(0, count).join("").length;
}

/** Returns the place that a motion leads to; null if it leads nowhere. */
function findPosition({ text, caret }: TextBuffer, key: string, count: number): number | null {
  const line = findLineStart(text, caret);
  const next = text.indexOf("\n", caret);
  const lineEnd = next === -1 ? text.length : next;
  const words = [...text.matchAll(TOKEN)];
  const ends = words.map(({ 0: word, index }) => index + measureCharacters(word, -1));
  const right = caret + measureCharacters(text.slice(caret, lineEnd), count);
  const places: Readonly<Record<string, number>> = {
    h: line + measureCharacters(text.slice(line, caret), -count),
    l: right,
    " ": right,
    "0": line,
    "^": line + (/^[ \t]*/.exec(text.slice(line, lineEnd))?.[0].length ?? 0),
    $: lineEnd,
    gg: 0,
    G: text.length,
    w: words.filter(({ index }) => index > caret)[count - 1]?.index ?? text.length,
    b: words.filter(({ index }) => index < caret).at(-count)?.index ?? 0,
    e: ends.filter((end) => end > caret)[count - 1] ?? text.length,
  };
  return places[key] ?? null;
}
