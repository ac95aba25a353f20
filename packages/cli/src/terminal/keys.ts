import { StringDecoder } from "node:string_decoder";

/** A key press, or a report from the terminal itself. */
export interface Key {
  /** `enter`, `ctrl+r`, `alt+left`, `text`, `paste`, or the name of a report: see `REPORTS`. */
  readonly name: string;
  /** The text to insert, or the content of the report. */
  readonly text: string;
}

export const REPORTS = new Set(["background", "blur", "cell", "cursor", "device", "focus", "terminal"]);

const PASTE_END = "\u001b[201~";

const LETTERS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  Z: "shift+tab",
  I: "focus",
  O: "blur",
};
const NUMBERS: Readonly<Record<string, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
};
const CODES: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
  57414: "enter",
};

/** Maps the letters of Russian and Ukrainian keyboards to those of the same keys on an English one. */
const CYRILLIC = new Map(
  [..."йцукенгшщзхъфывапролджэячсмитьбюіїє"].map((letter, at) => [
    letter,
    "qwertyuiop[]asdfghjkl;'zxcvbnm,.s]'"[at] ?? "",
  ]),
);

/** Returns a single-key command's letter, by its key on an English keyboard; "" for pasted text, which is none. */
export function normalizeCommandKey({ name, text }: Key): string {
  return name === "text" ? toEnglishKey(text) : "";
}

function toEnglishKey(text: string): string {
  const letter = text.normalize("NFKC").toLowerCase();
  return CYRILLIC.get(letter) ?? letter;
}

const CSI = new RegExp(`^${"\u001b"}\\[([?<>=]?)([\\d;:]*)([@-~])`);
const REPORT = new RegExp(`^${"\u001b"}[\\]P]([^${"\u0007\u001b"}]*)(?:${"\u0007"}|${"\u001b"}\\\\)`);
const PLAIN = /^\P{Cc}+/u;

/** Splits a terminal's input into keys, wherever the input is cut into pieces. */
export class KeyReader {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  /** The pieces of the paste so far; null outside a paste. */
  #pasted: string[] | null = null;
  #pastedLength = 0;

  read(bytes: Buffer): Key[] {
    this.#rest += this.#decoder.write(bytes);
    const keys: Key[] = [];
    for (;;) {
      const key = this.#pasted === null ? this.#readKey() : this.#endOfPaste();
      if (key === null) return keys;
      if (key.name !== "") keys.push(key);
    }
  }

  /** Whether input is pending: a lone escape is a key if nothing follows it soon. */
  get isOpen(): boolean {
    return this.#rest !== "" && this.#pasted === null;
  }

  /** Returns the pending input as the keys that it is on its own. */
  flush(): Key[] {
    const rest = this.#rest;
    this.#rest = "";
    if (rest === "\u001b") return [ESCAPE];
    return rest === "\u001b\u001b" ? [ESCAPE, ESCAPE] : [];
  }

  #endOfPaste(): Key | null {
    const at = this.#rest.indexOf(PASTE_END);
    if (at === -1) {
      // The end mark itself may be split between two pieces.
      const safe = Math.max(this.#rest.length - PASTE_END.length, 0);
      if (this.#pastedLength < MAX_PASTED) this.#pasted?.push(this.#rest.slice(0, safe));
      this.#pastedLength += safe;
      this.#rest = this.#rest.slice(safe);
      return null;
    }
    const text = [...(this.#pasted ?? []), this.#rest.slice(0, at)].join("");
    this.#rest = this.#rest.slice(at + PASTE_END.length);
    this.#pasted = null;
    return { name: "paste", text };
  }

  /** Returns the next key; null if there is no more input, or too little to tell. */
  #readKey(): Key | null {
    const rest = this.#rest;
    if (rest === "") return null;
    const plain = PLAIN.exec(rest)?.[0];
    if (plain !== undefined) return this.#consumeKey(plain.length, { name: "text", text: plain });
    if (rest[0] !== "\u001b") return this.#consumeKey(1, readControlKey(rest.charCodeAt(0)));
    return this.#readEscape(rest);
  }

  #readEscape(rest: string): Key | null {
    if (rest.length === 1) return null;
    if (rest[1] === "[") return this.#readSequence(rest);
    if (rest[1] === "]" || rest[1] === "P") return this.#readTerminalReport(rest);
    if (rest[1] === "O") {
      return rest.length === 2 ? null : this.#consumeKey(3, { name: LETTERS[rest[2] ?? ""] ?? "", text: "" });
    }
    // Two escapes in a row are two keys, unless the second one starts a sequence.
    if (rest[1] === "\u001b") return rest.length === 2 ? null : this.#consumeKey(1, ESCAPE);
    const character = String.fromCodePoint(rest.codePointAt(1) ?? 0);
    const isControl = character < " " || character === "\u007f";
    const name = isControl ? readControlKey(character.charCodeAt(0)).name : toEnglishKey(character);
    return this.#consumeKey(1 + character.length, { name: `alt+${name}`, text: "" });
  }

  #readSequence(rest: string): Key | null {
    const found = CSI.exec(rest);
    if (found === null) return isCutOff(rest) ? null : this.#consumeKey(2, NOTHING);
    if (found[2] === "200" && found[3] === "~") [this.#pasted, this.#pastedLength] = [[], 0];
    return this.#consumeKey(found[0].length, readSequenceKey(found));
  }

  #readTerminalReport(rest: string): Key | null {
    const found = REPORT.exec(rest);
    if (found === null) return rest.length > LONGEST_REPORT ? this.#consumeKey(2, NOTHING) : null;
    const [whole, text = ""] = found;
    if (text.startsWith("11;")) return this.#consumeKey(whole.length, { name: "background", text });
    const name = text.startsWith(">|") ? "terminal" : "";
    return this.#consumeKey(whole.length, { name, text: text.slice(2) });
  }

  #consumeKey(length: number, key: Key): Key {
    this.#rest = this.#rest.slice(length);
    return key;
  }
}

const NOTHING: Key = { name: "", text: "" };
const ESCAPE: Key = { name: "escape", text: "" };
const LONGEST_REPORT = 200;
/** The longest paste that is kept; the rest is dropped, because a paste may have no end. */
const MAX_PASTED = 16 * 1024 * 1024;

function isCutOff(rest: string): boolean {
  return rest.length < 40 && /^[?<>=]?[\d;:]*$/.test(rest.slice(2));
}

function readControlKey(code: number): Key {
  const name = CODES[code];
  if (name !== undefined) return { name, text: "" };
  if (code === 0) return { name: "ctrl+space", text: "" };
  return { name: `ctrl+${String.fromCharCode(code + (code < 27 ? 96 : 64))}`, text: "" };
}

function readSequenceKey([, mark = "", numbers = "", letter = ""]: RegExpExecArray): Key {
  if (mark === ">" && letter === "c") return { name: "device", text: numbers };
  if (mark !== "") return NOTHING;
  const fields = numbers.split(";");
  const [first = "", second = "", third = ""] = fields;
  if (letter === "R" && fields.length === 2) return { name: "cursor", text: numbers };
  if (letter === "t") return first === "6" ? { name: "cell", text: numbers } : NOTHING;
  if (letter === "u") return readCodeKey(first.split(":").map(Number), second);
  if (letter === "~" && first === "27") return readCodeKey([Number(third)], second);
  const name = letter === "~" ? NUMBERS[first] : LETTERS[letter];
  return name === undefined ? NOTHING : { name: `${readModifiers(second)}${name}`, text: "" };
}

/** Reads a key by its code: in the kitty protocol, which adds the code on an English keyboard, or in xterm's. */
function readCodeKey([code = 0, , english = 0]: readonly number[], modified: string): Key {
  if (!(code > 0 && code < 0x110000) || modified.endsWith(":3")) return NOTHING;
  const before = readModifiers(modified);
  const known = CODES[code];
  const character = String.fromCodePoint(code);
  if (known !== undefined && !(known === "space" && before === ""))
    return { name: `${before}${known}`, text: "" };
  if (before === "" || before === "shift+")
    return { name: "text", text: before === "" ? character : character.toUpperCase() };
  const isOtherScript = code > 127 && english > 0 && english < 128;
  const name = isOtherScript ? String.fromCharCode(english) : toEnglishKey(character);
  // In other terminals ctrl+[ is escape and ctrl+m is enter, and users are used to that.
  if (before === "ctrl+" && /^[a-z[]$/.test(name)) return readControlKey(name.charCodeAt(0) & 31);
  return { name: `${before}${name}`, text: "" };
}

function readModifiers(field: string): string {
  const bits = Math.max(Number(field.split(":")[0] || 1) - 1, 0);
  return `${bits & 4 ? "ctrl+" : ""}${bits & 2 ? "alt+" : ""}${bits & 1 ? "shift+" : ""}`;
}
