import { getOrCreate } from "@burin/contract/async/once";
import { splitWords } from "@burin/contract/text/words";
import {
  type Argument,
  createLaunchFinding,
  type Finding,
  judgeExpandedWord,
  judgePath,
  type Reach,
} from "./finding.ts";

/** The options of a program that are known to be harmless; any other one is a finding. */
export interface OptionTable {
  /** Letters without a value. */
  readonly flags?: string;
  /** Letters with a value that is not a path, such as a number. What does not look like one is judged as a path. */
  readonly values?: string;
  /** Letters with a value that is any text. */
  readonly texts?: string;
  /** Letters that name a file to read. */
  readonly files?: string;
  /** Letters whose value, if any, is attached. */
  readonly attached?: string;
  /**
   * `name`, with a value attached or none, `name=` with a value, `name=~` with any text, `name=@` with a path; `==`
   * takes two words.
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
  readonly value: string | undefined;
  readonly index: number;
}

/** The options in one word, up to the first that the table does not know. */
interface ParsedWord {
  readonly given: {
    readonly name: string;
    readonly attached?: Argument | undefined;
    /** How many of the following words belong to the option. */
    readonly takes?: number;
    readonly isPath?: boolean;
    readonly isText?: boolean;
  }[];
  readonly isKnown: boolean;
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
  const options: Option[] = [];
  const operands: Operand[] = [];
  const findings: Finding[] = [];
  let isEnded = false;
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    if (isEnded || !/^-./s.test(word.value)) {
      operands.push({ ...word, index });
      continue;
    }
    isEnded = word.value === "--";
    const { given, isKnown } = parseWord(word, table);
    for (const option of given) {
      const { name, attached, takes = 0 } = option;
      index += takes;
      const values = takes > 0 ? words.slice(index - takes + 1, index + 1) : [];
      options.push({ name, value: takes > 0 ? words[index]?.value : attached?.value, index });
      findings.push(...judgeOptionValue({ option, word, values }, index, reach));
    }
    const what = `\`${word.value}\` is not known to be a harmless option`;
    findings.push(...(isKnown ? [] : [createLaunchFinding(what, index)]));
  }
  return { options, operands, findings };
}

interface OptionValue {
  readonly option: ParsedWord["given"][number];
  readonly word: Argument;
  /** The words after it that belong to it. */
  readonly values: readonly Argument[];
}

function judgeOptionValue({ option, word, values }: OptionValue, index: number, reach: Reach): Finding[] {
  const { attached, takes = 0, isPath = false, isText } = option;
  const value = takes > 0 ? values.at(-1) : attached;
  const findings = takes > 1 ? values.flatMap((each) => judgeExpandedWord(each, index)) : [];
  // If a value expands to several words, only the first is the value; the others are files to read.
  if (value !== undefined && (isPath || value.isMany === true)) {
    findings.push(...judgePath(value, index, reach));
  } else if (takes === 1 && isText !== true) findings.push(...judgeSkippedWord(value, index, reach));
  // Some programs take the `=` as part of the value, and some do not.
  if (isPath && /^-\w+=/.test(word.value)) {
    const behind = word.value.slice(word.value.indexOf("=") + 1);
    findings.push(...judgePath({ ...word, value: behind }, index, reach));
  }
  return findings;
}

/** A word that counts as a value here: another version of the program may take it for an option or a file. */
function judgeSkippedWord(word: Argument | undefined, index: number, reach: Reach): Finding[] {
  if (word === undefined || /^[-+]?\d[\d,.:-]*[a-z%]?$/i.test(word.value)) return [];
  if (!/^-./s.test(word.value)) return judgePath(word, index, reach);
  return [createLaunchFinding(`\`${word.value}\` may be an option here, and not a value`, index)];
}

const LONG_OPTIONS = new WeakMap<OptionTable, ReadonlyMap<string, string>>();

function parseWord(word: Argument, table: OptionTable): ParsedWord {
  const isNumber = table.numbers === true && /^-\d+$/.test(word.value);
  if (word.value === "--" || isNumber) return { given: [], isKnown: true };
  return word.value.startsWith("--") ? parseLongOption(word, table) : parseLetters(word, table);
}

function parseLongOption({ value: text, isGlob }: Argument, table: OptionTable): ParsedWord {
  const listLongNames = () => splitWords(table.long ?? "");
  const all = getOrCreate(
    LONG_OPTIONS,
    table,
    () => new Map(listLongNames().map((name) => [name.replace(/=.*/, ""), name])),
  );
  const [, name = "", value] = /^--([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const known = all.get(name);
  if (known === undefined) return { given: [], isKnown: false };
  const attached = value === undefined ? undefined : { value, isGlob };
  const takes = attached === undefined ? known.replace(/[^=]/g, "").length : 0;
  return {
    given: [
      { name: `--${name}`, attached, takes, isPath: known.endsWith("=@"), isText: /~$|==/.test(known) },
    ],
    isKnown: true,
  };
}

function parseLetters({ value: text, isGlob }: Argument, table: OptionTable): ParsedWord {
  const { flags = "", values = "", texts = "", files = "", attached = "" } = table;
  const given: ParsedWord["given"] = [];
  for (let at = 1; at < text.length; at += 1) {
    const letter = text.charAt(at);
    const name = `-${letter}`;
    if (flags.includes(letter)) {
      given.push({ name });
      continue;
    }
    const value = text.slice(at + 1);
    const isPath = files.includes(letter);
    const isText = texts.includes(letter);
    const takesValue = isPath || isText || values.includes(letter);
    if (!takesValue && !attached.includes(letter)) return { given, isKnown: false };
    given.push({
      name,
      attached: { value, isGlob },
      takes: takesValue && value === "" ? 1 : 0,
      isPath,
      isText,
    });
    break;
  }
  return { given, isKnown: true };
}

/** Whether a word is one of these options: a letter in a group, or a long one, also abbreviated. */
export function isOneOf(word: string, letters: string, long: string): boolean {
  if (/^-[A-Za-z0-9]/.test(word)) return [...word.slice(1)].some((letter) => letters.includes(letter));
  const name = word.replace(/=.*/s, "");
  return /^--./.test(name) && splitWords(long).some((option) => option.startsWith(name));
}
