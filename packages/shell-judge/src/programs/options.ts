import { onceFor } from "@burin/contract/async/once";
import { type Argument, type Finding, launchFinding, pathFinding, type Reach } from "./finding.ts";

/** The options of a program that are known to be harmless; any other one is a finding. */
export interface OptionTable {
  /** Letters without a value. */
  readonly flags?: string;
  /** Letters with a value that is not a path. */
  readonly values?: string;
  /** Letters that name a file to read. */
  readonly files?: string;
  /** Letters whose value, if any, is attached. */
  readonly attached?: string;
  /**
   * `name`, `name=` with a value, `name=@` with a path, separated by spaces. A plain name may have a value
   * attached.
   */
  readonly long?: string;
  /** Options, by name, that follow links in everything below a path. */
  readonly following?: readonly string[];
  /** `-5` is an option too. */
  readonly numbers?: boolean;
}

interface Option {
  /** `-x` or `--name`. */
  readonly name: string;
  readonly value: string | null;
  readonly index: number;
}

interface Operand extends Argument {
  readonly index: number;
}

export interface Options {
  readonly options: readonly Option[];
  readonly operands: readonly Operand[];
  readonly findings: readonly Finding[];
}

/** Parses the words after a program's name; options may come anywhere before `--`. */
export function readOptions(words: readonly Argument[], table: OptionTable, reach: Reach): Options {
  const reader = new OptionReader(words, table, reach);
  reader.read();
  return reader;
}

const LONG_OPTIONS = new WeakMap<OptionTable, ReadonlyMap<string, string>>();

function longOptions(table: OptionTable): ReadonlyMap<string, string> {
  const names = () => (table.long ?? "").split(/\s+/).filter(Boolean);
  return onceFor(LONG_OPTIONS, table, () => new Map(names().map((name) => [name.replace(/=.*/, ""), name])));
}

class OptionReader implements Options {
  readonly options: Option[] = [];
  readonly operands: Operand[] = [];
  readonly findings: Finding[] = [];
  readonly #words: readonly Argument[];
  readonly #table: OptionTable;
  readonly #reach: Reach;
  readonly #long: ReadonlyMap<string, string>;
  #index = 1;

  constructor(words: readonly Argument[], table: OptionTable, reach: Reach) {
    this.#words = words;
    this.#table = table;
    this.#reach = reach;
    this.#long = longOptions(table);
  }

  read(): void {
    for (; this.#index < this.#words.length; this.#index += 1) {
      const word = this.#words[this.#index];
      if (word === undefined) return;
      if (word.value === "--") {
        this.#index += 1;
        for (; this.#index < this.#words.length; this.#index += 1) this.#operand();
        return;
      }
      if (word.value.startsWith("--")) this.#readLong(word.value);
      else if (word.value.startsWith("-") && word.value !== "-") this.#readShort(word.value);
      else this.#operand();
    }
  }

  #operand(): void {
    const word = this.#words[this.#index];
    if (word !== undefined) this.operands.push({ ...word, index: this.#index });
  }

  #readLong(text: string): void {
    const [name = "", attached] = splitOnce(text.slice(2));
    const known = this.#long.get(name);
    if (known === undefined) {
      this.#fault(`\`${text}\` is not known to be a harmless option`);
      return;
    }
    const takes = known.endsWith("=") || known.endsWith("=@");
    const own =
      attached === undefined ? null : { value: attached, isGlob: this.#words[this.#index]?.isGlob === true };
    this.#option(`--${name}`, takes ? (own ?? this.#next()) : own, known.endsWith("=@"));
  }

  #readShort(text: string): void {
    if (this.#table.numbers === true && /^-\d+$/.test(text)) return;
    const { flags = "", values = "", files = "", attached = "" } = this.#table;
    for (let at = 1; at < text.length; at += 1) {
      const letter = text.charAt(at);
      const rest = text.slice(at + 1);
      if (flags.includes(letter)) {
        this.#option(`-${letter}`, null, false);
        continue;
      }
      const takes = values.includes(letter) || files.includes(letter);
      const own = { value: rest, isGlob: this.#words[this.#index]?.isGlob === true };
      if (takes) this.#option(`-${letter}`, rest === "" ? this.#next() : own, files.includes(letter));
      else if (attached.includes(letter)) this.#option(`-${letter}`, own, false);
      else this.#fault(`\`${text}\` is not known to be a harmless option`);
      return;
    }
  }

  #next(): Argument | null {
    this.#index += 1;
    return this.#words[this.#index] ?? null;
  }

  #option(name: string, word: Argument | null, isPath: boolean): void {
    this.options.push({ name, value: word?.value ?? null, index: this.#index });
    // Of many words only the first is the value.
    if (word === null || !(isPath || word.isMany)) return;
    this.findings.push(...pathFinding(word, this.#index, this.#reach));
  }

  #fault(what: string): void {
    this.findings.push(launchFinding(what, this.#index));
  }
}

/** Whether a word is one of these options: a letter in a group, or a long one, also abbreviated. */
export function isOneOf(word: string, letters: string, long: string): boolean {
  if (/^-[A-Za-z0-9]/.test(word)) return [...word.slice(1)].some((letter) => letters.includes(letter));
  const name = word.replace(/=.*/s, "");
  return /^--./.test(name) && long.split(" ").some((option) => option.startsWith(name));
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf("=");
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
