import { describeError } from "@burin/contract/text/error-message";
import { findHiddenCharacter } from "@burin/contract/text/visible-text";
import type { AndOr, Assignment, Command, For, Redirection, TestCommand, While } from "unbash";
import { forEachChild, type ParsedScript, parse, type SyntaxNode, type Word } from "unbash";
import { matchesAny } from "../tables.ts";
import type {
  ShellAssignment,
  ShellCommand,
  ShellRedirection,
  ShellWord,
  SimpleCommand,
} from "./command-parts.ts";
import {
  createWord,
  EMPTY_COMMAND,
  PRINTS_HASH,
  readWord,
  type Variable,
  type Variables,
  type WordContext,
  type WordReading,
} from "./literal-word.ts";
import {
  expandBraces,
  expandRange,
  findCertainAssignments,
  isOnePipeline,
  isOnlyBash,
  isPlainName,
  listComparisons,
  listTexts,
  mayAssign,
  readNames,
} from "./loops-and-tests.ts";

/** Longer lines are not parsed, so they never run without a question. */
const MAX_LINE_LENGTH = 100_000;

/**
 * Parses with bash's grammar. Never throws: what cannot be parsed, or what other shells read differently, is a problem.
 */
export function parseShellCommand(line: string, isBash = true): ShellCommand {
  if (line.length > MAX_LINE_LENGTH)
    return { commands: [], problems: ["it is too long to be read"], isWhole: false, evaluated: [] };
  const reader = new Reader(line);
  const evaluated: string[] = [];
  try {
    const script = parse(line);
    reader.readScript(script, START);
    if (reader.mayAssign()) evaluated.push(...listTexts(script));
    if (!isBash && isOnlyBash(script))
      reader.noteUnreadable("other shells than bash may read it differently");
  } catch (error) {
    reader.noteUnreadable(describeError(error));
  }
  const hidden = findHiddenCharacter(line);
  if (hidden !== null) reader.problems.push(`it holds the invisible character ${hidden}`);
  const { commands, problems, isWhole } = reader;
  return { commands, problems: [...new Set(problems)], isWhole, evaluated };
}

const CONTROL_FLOW: Readonly<Partial<Record<SyntaxNode["type"], string>>> = {
  ArithmeticFor: "`for` is control flow",
  While: "`while` or `until` is control flow",
  Select: "`select` is control flow",
  Function: "it defines a function",
  Coproc: "`coproc` starts a process in the background",
  ArithmeticCommand: "`(( ))` evaluates an expression",
};

/**
 * Folders relative to the top of the work tree, as scripts name them from any folder in it, or relative to a variable
 * that may be the top.
 */
const BELOW_TOP = /^("?)\$(?:\(git rev-parse --show-toplevel\)|\{?(\w+)\}?)((?:\/[\w.@%+-]+)*\/?)\1$/;

type Position = Pick<SimpleCommand, "followsSuccess" | "isApart" | "input" | "isRepeat">;

/** The maximum number of loop bodies that are read, one for each word; a line with more counts as not understood. */
const MAX_ROUNDS = 200;

const START: Position = { followsSuccess: false, isApart: false };
const NESTED: Position = { followsSuccess: false, isApart: true };

/** Nodes that may contain commands. */
function canContainCommands(word: Word, reading: WordReading): boolean {
  return !("value" in reading) || /[$`]|<\(/.test(word.text);
}

class Reader {
  readonly commands: SimpleCommand[] = [];
  readonly problems: string[] = [];
  isWhole = true;
  #source: string;
  #script: ParsedScript | undefined;
  /** The commands of the script that only set the script's own variables. */
  #own: ReadonlySet<SyntaxNode> = new Set();
  #variables: Variables = new Map();
  /** Variables whose value is the top of a work tree, and how many commands were read before each was set. */
  readonly #tops = new Map<Variable | undefined, number>();
  #rounds = 0;
  #assigns: boolean | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  noteUnreadable(message: string): void {
    this.isWhole = false;
    this.problems.push(`it cannot be read (${message})`);
  }

  readScript(script: ParsedScript, position: Position): void {
    for (const error of script.errors ?? []) this.noteUnreadable(error.message);
    if (this.#script === undefined) this.#own = findCertainAssignments(script);
    this.#script ??= script;
    const outer = this.#source;
    if (script.source !== undefined) this.#source = script.source;
    for (const statement of script.commands) this.#readNode(statement, position);
    this.#source = outer;
  }

  #readNode(node: SyntaxNode, position: Position): void {
    const unsure = { ...position, followsSuccess: false };
    switch (node.type) {
      case "Script":
        this.readScript(node, NESTED);
        return;
      case "Statement":
        if (node.background) this.problems.push(`\`${this.#sliceSource(node)}\` runs in the background`);
        this.#readNode(node.command, position);
        return;
      case "AndOr":
        this.#readChain(node, position);
        return;
      case "Pipeline":
        this.#readPipeline(node.commands, unsure);
        return;
      case "Subshell":
      case "BraceGroup":
        this.#readNode(node.body, { ...unsure, isApart: unsure.isApart || node.type === "Subshell" });
        return;
      case "CompoundList":
        for (const statement of node.commands) this.#readNode(statement, unsure);
        return;
      case "Redirected":
        this.#readRedirections(node.redirects, unsure);
        this.#readNode(node.command, { ...position, input: this.#findInputCommand(node.redirects) });
        return;
      case "Command":
        this.#readCommand(node, position);
        return;
      case "If":
      case "Elif":
      case "Case":
      case "CaseItem":
        forEachChild(node, (child) => {
          if (child.type !== "Word") this.#readNode(child, unsure);
          // The value of a word that is only compared does not matter, because all branches are read anyway.
          else this.#readWord(child, this.problems, { isWhole: true });
        });
        return;
      case "For":
        this.#readForLoop(node, unsure);
        return;
      case "While":
        this.#readWhile(node, unsure);
        return;
      case "TestCommand":
        this.#readTest(node, unsure);
        return;
      default:
        this.#readOtherConstruct(node);
    }
  }

  /** A pipeline of one command is only a `time` or a `!` before it. */
  #readPipeline(commands: readonly SyntaxNode[], position: Position): void {
    let input = position.input;
    for (const command of commands) {
      const index = this.commands.length;
      this.#readNode(command, { ...position, isApart: true, input });
      input = command.type === "Command" ? this.commands[index] : undefined;
    }
  }

  /** The body is read once for each word, with that value of the variable. */
  #readForLoop(node: For, position: Position): void {
    const name = node.name.text;
    if (!isPlainName(name)) this.problems.push(`a loop sets \`${name}\``);
    const words = node.wordlist?.flatMap((word) => expandRange(word) ?? [this.#readLoopWord(word, position)]);
    if (words === undefined) this.problems.push("`for` goes through words that are not known");
    const rounds = words ?? [];
    this.#rounds += rounds.length;
    const isFollowed = this.#rounds <= MAX_ROUNDS && !this.mayAssign();
    if (!isFollowed || rounds.length === 0) rounds.splice(0, rounds.length, null);
    for (const [index, round] of rounds.entries()) {
      const isRepeat = position.isRepeat === true || index > 0;
      this.#readBody(node.body, { ...position, isRepeat }, new Map([[name, round ?? undefined]]));
    }
  }

  /**
   * Returns the possible value of the loop variable; null when it is unknown. Names that a pattern matches are handled
   * like names that a command prints.
   */
  #readLoopWord(word: Word, position: Position): Variable | null {
    const read = this.#readWord(word, []);
    const { text, value, isGlob, lineOf } = read;
    if (isGlob) {
      const words = [createWord(":"), read];
      this.commands.push({ ...EMPTY_COMMAND, text, words, ...position, isRepeat: true });
    }
    if (value === null) return lineOf === undefined ? null : { lineOf };
    return { value, isGlob };
  }

  /** Reads a `while` loop. Only one that reads the lines of its input is sure to end. */
  #readWhile(node: While, position: Position): void {
    const read = readNames(node);
    if (read === null || this.mayAssign()) {
      this.#readOtherConstruct(node);
      return;
    }
    this.#readNode(node.clause, position);
    const { names, isByNul } = read;
    const lineOf = names.length === 1 && position.input ? { ...position.input, isByNul } : undefined;
    this.#readBody(node.body, position, new Map(names.map((name) => [name, { lineOf }])));
  }

  /** Returns the command whose output is the input, according to these redirections, which were read last. */
  #findInputCommand([only, ...more]: readonly Redirection[]): SimpleCommand | undefined {
    const isInput = only?.operator === "<" && only.descriptor === undefined;
    return isInput && more.length === 0 && only.target && isOnePipeline(only.target)
      ? this.commands.at(-2)
      : undefined;
  }

  /** The variables that the loop sets are undefined where nothing is known about them. */
  #readBody(body: SyntaxNode, position: Position, set: Variables): void {
    const outer = this.#variables;
    const first = this.commands.length;
    this.#variables = new Map([...outer, ...set]);
    this.#readNode(body, position);
    // After the loop the variable's value is unknown, also if an outer loop uses the same name.
    this.#variables = new Map([...outer].filter(([name]) => !set.has(name)));
    const moves = this.commands.slice(first).some(({ words: [program] }) => program?.value === "cd");
    const isOnce = [...set.values()].every((each) => each && "value" in each && !each.isGlob);
    if (moves && !isOnce) this.problems.push("a loop changes the folder");
  }

  mayAssign(): boolean {
    this.#assigns ??= mayAssign(this.#script, this.#own);
    return this.#assigns;
  }

  /** Writes each comparison as the equivalent `test` command. */
  #readTest(node: TestCommand, position: Position): void {
    for (const { text, operator, operands, problem } of listComparisons(node.expression, this.#source)) {
      const problems = problem === null ? [] : [problem];
      const index = this.commands.length;
      const [left, right] = operands.map((word) => this.#readWord(word, problems, { isWhole: true }));
      const sign: ShellWord = { text: operator, value: operator, isGlob: false };
      const compared = right === undefined ? [sign, left] : [left, sign, right];
      const words = [{ text: "[[", value: "test", isGlob: false }, ...compared].filter(
        (word) => word !== undefined,
      );
      this.commands.splice(index, 0, { ...EMPTY_COMMAND, text, words, problems, ...position });
      this.problems.push(...problems);
    }
  }

  #readChain(node: AndOr, position: Position): void {
    let followsSuccess = false;
    let allJoined = true;
    let kept = this.#variables;
    // A variable that only the rest of the chain sets may be unset, because the chain may have ended early.
    const restoreVariables = () => {
      this.#variables = new Map([...kept].filter(([name, value]) => this.#variables.get(name) === value));
    };
    for (const [index, command] of node.commands.entries()) {
      if (index > 0 && node.operators[index - 1] !== "&&") restoreVariables();
      this.#readNode(command, { ...position, followsSuccess });
      if (index === 0) kept = this.#variables;
      // More than one command may have succeeded even if the chain as a whole failed.
      allJoined &&= node.operators[index] === "&&" && command.type === "Command";
      followsSuccess = allJoined;
    }
    restoreVariables();
  }

  /** Reads any other construct. The commands in it are found, but it is unknown when they run. */
  #readOtherConstruct(node: SyntaxNode): void {
    const problem = CONTROL_FLOW[node.type];
    if (problem !== undefined) this.problems.push(problem);
    forEachChild(node, (child) => this.#readNode(child, NESTED));
  }

  #readCommand(node: Command, position: Position): void {
    const problems: string[] = [];
    const words: ShellWord[] = [];
    const assignments: ShellAssignment[] = [];
    const redirections: ShellRedirection[] = [];
    const index = this.commands.length;
    const takesCommits = node.name?.text === "git" && !node.args.some(({ value }) => value === "--no-index");
    for (const child of [...node.prefix, ...(node.name ? [node.name] : []), ...node.suffix]) {
      if (child.type === "Word") {
        words.push(...(expandBraces(child) ?? [this.#readWord(child, problems, { takesCommits })]));
      } else if (child.type === "Assignment" && words.length > 0) {
        problems.push(`\`${child.text}\` assigns`);
        words.push({ text: child.text, value: null, isGlob: false });
        this.#readOtherConstruct(child);
      } else if (child.type === "Assignment") {
        assignments.push(this.#readAssignment(child, this.#own.has(node) && !this.mayAssign()));
      } else {
        redirections.push(this.#readRedirection(child));
      }
    }
    const text = this.#sliceSource(node);
    this.commands.splice(index, 0, { text, words, assignments, redirections, problems, ...position });
  }

  #readRedirections(redirects: readonly Redirection[], position: Position): void {
    const redirections = redirects.map((redirect) => this.#readRedirection(redirect));
    const text = redirections.map((redirection) => redirection.text).join(" ");
    this.commands.push({ ...EMPTY_COMMAND, text, redirections, ...position });
  }

  #readWord(word: Word, problems: string[], around: Partial<WordContext> = {}): ShellWord {
    const reading: WordReading = this.#isJoinedSubstitution(word)
      ? { problem: "a process substitution" }
      : readWord(word, { variables: this.#variables, ...around });
    if (canContainCommands(word, reading)) this.#readOtherConstruct(word);
    const { text } = word;
    if ("value" in reading) return { text, ...reading };
    const [, , name, belowTop] = BELOW_TOP.exec(text) ?? [];
    if (belowTop !== undefined && (name === undefined || this.#isWorkTreeTop(name)))
      return { text, value: null, isGlob: false, isAnyText: true, belowTop };
    // The last command of a pipeline was read last.
    const printer = isOnePipeline(word) ? this.commands.at(-1) : undefined;
    if (!("problem" in reading))
      return { text, value: null, isGlob: false, ...(printer && { lineOf: printer }), ...reading };
    problems.push(`\`${text}\` holds ${reading.problem}`);
    const lineOf = reading.lineOf ?? (printer && { ...printer, isSplit: true });
    return { text, value: null, isGlob: false, ...(lineOf && { isMany: true, lineOf }) };
  }

  /** Whether the word is the top of the work tree in which the command runs: no `cd` may come in between. */
  #isWorkTreeTop(name: string): boolean {
    const later = this.commands.slice(this.#tops.get(this.#variables.get(name)));
    return later.length < this.commands.length && later.every(({ words: [first] }) => first?.value !== "cd");
  }

  /** The parser separates a process substitution from adjacent letters, which the shell joins to one word. */
  #isJoinedSubstitution({ text, pos, end }: Word): boolean {
    if (!text.startsWith("<(")) return false;
    const around = this.#source.charAt(pos - 1) + this.#source.charAt(end);
    return !/^\s[\s);&|]?$/.test(around);
  }

  #readAssignment(node: Assignment, isOwn = false): ShellAssignment {
    const { name, text, value } = node;
    const isPlain = value.type === "Word" && node.index === undefined;
    const around = isOwn ? { variables: this.#variables, isWhole: true } : { variables: new Map() };
    const reading = isPlain ? readWord(value, around) : { problem: "" };
    if (!isPlain || canContainCommands(value, reading)) this.#readOtherConstruct(node);
    const known = "value" in reading ? reading.value : null;
    if (!isOwn || "problem" in reading) return { text, name, value: known };
    const isCommit = matchesAny(PRINTS_HASH, /=("?)\$\(([^()$`]*)\)\1$/.exec(text)?.[2] ?? "");
    const printer = value.type === "Word" && isOnePipeline(value) ? this.commands.at(-1) : undefined;
    const variable: Variable =
      known === null ? { lineOf: printer, isCommit } : { value: known, isGlob: false };
    this.#variables = new Map([...this.#variables, [name, variable]]);
    if (/=("?)\$\(git rev-parse --show-toplevel\)\1$/.test(text))
      this.#tops.set(variable, this.commands.length);
    return { text, name, value: known, isOwn };
  }

  #readRedirection(node: Redirection): ShellRedirection {
    const text = this.#sliceSource(node);
    if (node.type === "HereDoc") {
      const { body } = node;
      const isLiteral = node.delimiter?.quoted === true || !/[\\$`]/.test(body.text);
      if (!isLiteral) this.#readOtherConstruct(body);
      return { text, kind: "data", target: isLiteral ? body.text : null };
    }
    const around = { variables: this.#variables, isWhole: node.type === "HereString" };
    const reading = node.target === undefined ? { problem: "" } : readWord(node.target, around);
    if (node.target !== undefined && canContainCommands(node.target, reading))
      this.#readOtherConstruct(node.target);
    const target = "value" in reading && !reading.isGlob ? reading.value : null;
    if (node.type === "HereString") return { text, kind: "data", target, isAnyText: "isAnyText" in reading };
    if (node.descriptor?.type === "FileDescriptorVariable") return { text, kind: "write", target: null };
    const isRead = node.operator === "<";
    const isCopy = /^[<>]&$/.test(node.operator) && target !== null && /^(?:\d+-?|-)$/.test(target);
    if (isCopy) return { text, kind: "copy", target };
    if (isRead && "value" in reading)
      return { text, kind: "read", target: reading.value, isGlob: reading.isGlob };
    const lineOf = isRead && "isAnyText" in reading ? reading.lineOf : undefined;
    return { text, kind: isRead ? "read" : "write", target, lineOf };
  }

  #sliceSource(node: { readonly pos: number; readonly end: number }): string {
    return this.#source.slice(node.pos, node.end);
  }
}
