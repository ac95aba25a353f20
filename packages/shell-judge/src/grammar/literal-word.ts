import { createWordSet } from "@burin/contract/text/words";
import type { Command, ParsedScript, Word, WordPart } from "unbash";
import { matchesAny } from "../tables.ts";
import type { ShellWord, SimpleCommand } from "./command-parts.ts";

/** The value of a loop variable: a word, names that a pattern matches, or the lines that a command prints. */
export type Variable =
  | { readonly value: string; readonly isGlob: boolean }
  | { readonly lineOf: SimpleCommand | undefined; readonly isCommit?: boolean };

/**
 * What a program will get for a word: its value, text that may be shown, or the reason why it is known only at run
 * time.
 */
export type WordReading =
  | { readonly value: string; readonly isGlob: boolean; readonly isMany?: boolean }
  | { readonly isAnyText: true; readonly lineOf?: SimpleCommand }
  | { readonly problem: string; readonly lineOf?: SimpleCommand };

/** A value of undefined marks a variable that shadows another one and is itself unknown. */
export type Variables = ReadonlyMap<string, Variable | undefined>;

export interface WordContext {
  readonly variables: Variables;
  /** true if the word is in a place where the shell neither splits words nor matches file names. */
  readonly isWhole?: boolean;
  /** true for an argument of git, which treats a hash as a commit. Any other program would treat it as a file. */
  readonly takesCommits?: boolean;
}

const PLAIN = /^[A-Za-z0-9_@%+:,./-]+$/;
/** Stands for quoted text: none of its characters means anything to the shell. */
const QUOTED = "_";
/** Variables that may be printed: they contain names, folders and locale, and no secret. */
export const PRINTABLE_VARIABLES: ReadonlySet<string> = createWordSet(`
  HOME PWD OLDPWD USER LOGNAME PATH SHELL LANG LC_ALL LC_CTYPE TZ TERM HOSTNAME HOSTTYPE OSTYPE UID
  EUID PPID SHLVL RANDOM SECONDS LINENO BASH_VERSION TMPDIR EDITOR CI NODE_ENV PIPESTATUS`);
const PRINTABLE_PARAMETER = /^[?#$0!]$/;
/** Stands for the name of a pipe, which a process substitution becomes. No file has this name. */
const PIPE_NAME = "/dev/fd/pipe";

const PART_NAMES: Readonly<Partial<Record<WordPart["type"], string>>> = {
  AnsiCQuoted: "an ANSI-C quote",
  LocaleString: "a translated string",
  SimpleExpansion: "an expansion",
  ParameterExpansion: "an expansion",
  CommandExpansion: "a command substitution",
  ArithmeticExpansion: "an arithmetic expansion",
  ProcessSubstitution: "a process substitution",
  ExtendedGlob: "an extended pattern",
  BraceExpansion: "a brace expansion",
};

/** An empty command, to be extended. */
export const EMPTY_COMMAND: SimpleCommand = {
  ...{ text: "", words: [], assignments: [], redirections: [], problems: [] },
  ...{ followsSuccess: false, isApart: false },
};

export function createWord(value: string): ShellWord {
  return { text: value, value, isGlob: false };
}

interface Piece {
  /** The unquoted text, with `QUOTED` for the rest. */
  readonly bare: string;
  readonly value: string;
  /** The word as it is written. */
  readonly spelled: string;
  readonly isGlob?: boolean;
  readonly isAnyText?: boolean;
  readonly lineOf?: SimpleCommand | undefined;
}

/** Reads a word that means the same in every shell. Any other word is a problem; nothing is guessed. */
export function readWord(word: Word, around: WordContext): WordReading {
  if (PLAIN.test(word.text)) {
    return word.value === word.text
      ? { value: word.text, isGlob: false }
      : { problem: "a word that cannot be read" };
  }
  const { pos, end, text } = word;
  const whole: WordPart = { type: "Literal", pos, end, text, value: word.value };
  const parts = word.parts ?? [whole];
  const [only] = parts;
  if (parts.length === 1 && only?.type === "ProcessSubstitution" && only.operator === "<") {
    return { value: PIPE_NAME, isGlob: false };
  }
  const pieces: Piece[] = [];
  for (const part of parts) {
    const piece = readWordPart(part, around);
    if ("problem" in piece) return piece;
    pieces.push(piece);
  }
  return joinPieces(pieces, word, around);
}

function joinPieces(pieces: readonly Piece[], word: Word, { isWhole }: WordContext): WordReading {
  const joinPieceField = (key: "bare" | "value" | "spelled") => pieces.map((piece) => piece[key]).join("");
  if (joinPieceField("spelled") !== word.value) return { problem: "a word that cannot be read" };
  const bare = joinPieceField("bare");
  const problem = findBareProblem(bare);
  if (problem !== null) return { problem };
  const hasPattern = isWhole !== true && /[*?]|^[^[]*\[[\s\S]*\]/.test(bare);
  if (pieces.some(({ isAnyText }) => isAnyText)) {
    if (hasPattern) return { problem: "an expansion" };
    const lineOf = pieces.length === 1 ? pieces[0]?.lineOf : undefined;
    const isSplit = pieces.some((piece) => piece.lineOf?.isSplit === true);
    return { ...(isSplit ? { problem: "an expansion" } : { isAnyText: true }), ...(lineOf && { lineOf }) };
  }
  const value = joinPieceField("value");
  if (hasPattern) return { value, isGlob: true, isMany: true };
  return { value, isGlob: pieces.some(({ isGlob }) => isGlob) };
}

function readWordPart(part: WordPart, around: WordContext): Piece | { readonly problem: string } {
  switch (part.type) {
    case "Literal":
    case "Glob":
      return { bare: part.text.replace(/\\[\s\S]/g, QUOTED), value: part.value, spelled: part.value };
    case "SingleQuoted":
      return { bare: QUOTED, value: part.value, spelled: part.value };
    case "DoubleQuoted":
      return readQuoted(part.parts, around);
    default:
      return readCommitSubstitution(part, around) ?? readExpansion(part, around, around.isWhole === true);
  }
}

function readQuoted(
  children: Extract<WordPart, { type: "DoubleQuoted" }>["parts"],
  around: WordContext,
): Piece | { readonly problem: string } {
  const pieces: Piece[] = [];
  for (const child of children) {
    if (child.type === "Literal" && hasExpansion(child.text.replace(/\\[\s\S]/g, QUOTED))) {
      return { problem: "an expansion" };
    }
    const piece =
      child.type === "Literal"
        ? { bare: QUOTED, value: child.value, spelled: child.value }
        : (readCommitSubstitution(child, around) ?? readExpansion(child, around, true));
    if ("problem" in piece) return piece;
    pieces.push(piece);
  }
  const only = pieces.length === 1 ? pieces[0] : undefined;
  return {
    bare: QUOTED,
    value: pieces.map(({ value }) => value).join(""),
    spelled: pieces.map(({ spelled }) => spelled).join(""),
    isGlob: pieces.some(({ isGlob }) => isGlob === true),
    isAnyText: pieces.some(({ isAnyText }) => isAnyText === true),
    lineOf: only?.lineOf,
  };
}

function readExpansion(
  part: WordPart,
  { variables }: WordContext,
  isQuoted: boolean,
): Piece | { readonly problem: string } {
  const problem = { problem: PART_NAMES[part.type] ?? "an expansion" };
  const text: Piece = { bare: QUOTED, value: "", spelled: part.text, isAnyText: true };
  switch (part.type) {
    case "CommandExpansion":
      return isQuoted || scriptPrintsOnly(part.script, PRINTS_ONE_WORD) ? text : problem;
    case "ArithmeticExpansion":
      return /^\$\(\([\d\s+*/%()<>=!&|^~?:-]*\)\)$/.test(part.text) ? text : problem;
    case "SimpleExpansion":
    case "ParameterExpansion":
      break;
    default:
      return problem;
  }
  const name = part.type === "SimpleExpansion" ? part.text.slice(1) : part.parameter;
  const variable = variables.get(name);
  const isKnown = variable !== undefined || PRINTABLE_VARIABLES.has(name) || PRINTABLE_PARAMETER.test(name);
  if (!isKnown || (part.type === "ParameterExpansion" && !isPlainParameter(part))) return problem;
  if (variable === undefined) return text;
  const isSplit = !isQuoted && !expandsToOneWord(variable);
  if (part.type === "ParameterExpansion" && (part.prefix !== undefined || part.operation)) {
    return isSplit ? problem : text;
  }
  return readVariable(variable, text, isSplit) ?? problem;
}

/** Reads a substitution that git takes for a commit, if its command prints nothing else. */
function readCommitSubstitution(part: WordPart, { variables, takesCommits }: WordContext): Piece | null {
  const variable = part.type === "SimpleExpansion" ? variables.get(part.text.slice(1)) : undefined;
  const isPrinted = part.type === "CommandExpansion" && scriptPrintsOnly(part.script, PRINTS_HASH);
  const isCommit = isPrinted || (variable !== undefined && "isCommit" in variable && variable.isCommit);
  return takesCommits && isCommit ? { bare: QUOTED, value: SOME_COMMIT, spelled: part.text } : null;
}

/** Whether the shell neither splits the text nor treats it as a pattern. */
function expandsToOneWord(variable: Variable): boolean {
  if ("value" in variable) return /^[\w@%+:,./~^{}=!#-]+$/.test(variable.value);
  const { words = [], redirections = [] } = variable.lineOf ?? {};
  const isQuiet = redirections.every(({ kind, text }) => kind === "read" || /^2?> ?\/dev\/null$/.test(text));
  return isQuiet && matchesAny(PRINTS_ONE_WORD, words.map(({ text }) => text).join(" "));
}

function readVariable(variable: Variable, text: Piece, isSplit: boolean): Piece | null {
  const printer = "value" in variable ? createFindCommand(variable) : variable.lineOf;
  if (isSplit) return printer === undefined ? null : { ...text, lineOf: { ...printer, isSplit } };
  return "lineOf" in variable
    ? { ...text, lineOf: printer }
    : { bare: QUOTED, ...variable, spelled: text.spelled };
}

/** The names that a pattern matches are some of those that `find` would print. */
function createFindCommand({
  value,
  isGlob,
}: Extract<Variable, { value: string }>): SimpleCommand | undefined {
  if (!isGlob) return undefined;
  const folder = value.slice(0, value.search(/[*?[]/)).replace(/(?<![^/])[^/]*$/, "") || ".";
  return { ...EMPTY_COMMAND, text: value, words: ["find", folder].map(createWord), isApart: true };
}

/** Whether the expansion is `$x`, `${#x}` (its length), or `${x#...}` or `${x%...}` with a literal prefix or suffix. */
function isPlainParameter(part: Extract<WordPart, { type: "ParameterExpansion" }>): boolean {
  const { prefix, index, operation } = part;
  const isStatus = part.parameter === "PIPESTATUS" && /^(?:\d+|@)$/.test(index?.text ?? "");
  if ((index !== undefined && !isStatus) || prefix === "!") return false;
  if (operation === undefined) return true;
  return operation.type === "Remove" && !/[$`<>\\'"]/.test(operation.operand.text);
}

/** A second check that does not trust the parser: finds unquoted characters that are special to the shell. */
function findBareProblem(bare: string): string | null {
  if (hasExpansion(bare)) return "an expansion";
  if (/(?:^|[=:])~/.test(bare)) return "a tilde expansion";
  if (/^[^{]*\{(?:(?!\.\.)[^,])*(?:,|\.\.)[\s\S]*\}/.test(bare)) return "a brace expansion";
  if (/[?*+@!]\(/.test(bare)) return "an extended pattern";
  return /['"\\<>|&;()\s]/.test(bare) ? "a word that cannot be read" : null;
}

function hasExpansion(text: string): boolean {
  return /`|\$[A-Za-z0-9_({['"@*#?$!-]/.test(text);
}

/** Commands that print a single word without special characters of a shell. */
const PRINTS_ONE_WORD = [
  /^(?:wc(?: -[clmw])+|nproc|uname|date \+[%\w:.-]+|pwd)$/,
  /^git (?:rev-parse (?:--short |--abbrev-ref )?HEAD|branch --show-current)$/,
];

/** Matches a word after which `git rev-list` still prints only hashes. */
const LISTS_COMMITS =
  /(?:-n ?\d+|-\d+|--all|--(?:max|min)-parents=\d|--no-merges|--reverse|[\w@][\w@~^./]*)(?: |$)/;

/** Commands that print only a commit's hash. */
export const PRINTS_HASH = [
  /^git merge-base .*$/,
  /^git rev-parse (?:--(?:verify|short) )*(?:HEAD|@)[~^\d]*$/,
  new RegExp(`^git rev-list (?:${LISTS_COMMITS.source})+$`),
];
/** Stands for a commit's hash in an argument of git. */
export const SOME_COMMIT = "0".repeat(40);

/** Whether a script prints only what commands that match one of the expressions print. */
export function scriptPrintsOnly(script: ParsedScript | undefined, commands: readonly RegExp[]): boolean {
  const last = findLastCommand(script);
  // One redirection feeds the command, the other discards its errors.
  const isQuiet = last?.redirects.every(
    (each) => each.operator === "<" || (each.operator === ">" && each.target?.text === "/dev/null"),
  );
  const words = last === undefined ? [] : [last.name, ...last.args].map((word) => word?.text ?? "");
  return isQuiet === true && matchesAny(commands, words.join(" "));
}

/** Returns the last command of a script, if the script is exactly one pipeline. */
export function findLastCommand(script: ParsedScript | undefined): Command | undefined {
  const [statement, ...more] = script?.commands ?? [];
  if (statement === undefined || more.length > 0) return undefined;
  const { command } = statement;
  const last = command.type === "Pipeline" ? command.commands.at(-1) : command;
  return last?.type === "Command" ? last : undefined;
}
