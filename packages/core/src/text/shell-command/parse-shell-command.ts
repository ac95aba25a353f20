import { type Command, forEachChild, type ParsedScript, parse, type SyntaxNode } from "unbash";
import { messageOf } from "../error-message.ts";
import type {
  ShellAssignment,
  ShellCommand,
  ShellRedirection,
  ShellWord,
  SimpleCommand,
} from "./command-parts.ts";
import { readWord } from "./literal-word.ts";

/** Longer lines are not looked at, and so never understood. */
const LONGEST = 100_000;

/**
 * Takes a command line for a POSIX shell apart by the grammar of bash. Never throws: what cannot be read
 * is a problem.
 */
export function parseShellCommand(line: string): ShellCommand {
  if (line.length > LONGEST) return { commands: [], problems: ["it is too long to be read"], isWhole: false };
  const reader = new Reader(line);
  try {
    reader.readScript(parse(line), START);
  } catch (error) {
    reader.fail(messageOf(error));
  }
  const hidden = HIDDEN.exec(line)?.[0];
  if (hidden !== undefined) {
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    reader.problems.push(`it holds the invisible character U+${code}`);
  }
  const { commands, problems, isWhole } = reader;
  return { commands, problems: [...new Set(problems)], isWhole };
}

const HIDDEN_RANGES = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200c],
  [0x200e, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
  [0xe0000, 0xe007f],
];
/** Controls, carriage return, blanks that are no blanks to a shell, direction marks, tags. */
const HIDDEN = new RegExp(
  `[${HIDDEN_RANGES.map((range) => range.map((code) => `\\u{${code.toString(16)}}`).join("-")).join("")}]`,
  "u",
);

const CONTROL_FLOW: Readonly<Partial<Record<SyntaxNode["type"], string>>> = {
  If: "`if` is control flow",
  For: "`for` is control flow",
  ArithmeticFor: "`for` is control flow",
  While: "`while` or `until` is control flow",
  Case: "`case` is control flow",
  Select: "`select` is control flow",
  Function: "it defines a function",
  Coproc: "`coproc` starts a process in the background",
  TestCommand: "`[[ ]]` can evaluate what it compares",
  ArithmeticCommand: "`(( ))` evaluates an expression",
};

type RedirectionNode = Extract<SyntaxNode, { type: "Redirect" | "HereString" | "HereDoc" }>;

interface Position {
  readonly followsSuccess: boolean;
  readonly isApart: boolean;
}

const START: Position = { followsSuccess: false, isApart: false };
const NESTED: Position = { followsSuccess: false, isApart: true };

class Reader {
  readonly commands: SimpleCommand[] = [];
  readonly problems: string[] = [];
  isWhole = true;
  #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  fail(message: string): void {
    this.isWhole = false;
    this.problems.push(`it cannot be read (${message})`);
  }

  readScript(script: ParsedScript, position: Position): void {
    for (const error of script.errors ?? []) this.fail(error.message);
    const outer = this.#source;
    if (script.source !== undefined) this.#source = script.source;
    for (const statement of script.commands) this.#read(statement, position);
    this.#source = outer;
  }

  #read(node: SyntaxNode, position: Position): void {
    const unsure = { ...position, followsSuccess: false };
    switch (node.type) {
      case "Script":
        this.readScript(node, NESTED);
        return;
      case "Statement":
        if (node.background) this.problems.push(`\`${this.#textOf(node)}\` runs in the background`);
        this.#read(node.command, position);
        return;
      case "AndOr":
        this.#readChain(node, position);
        return;
      case "Pipeline":
        for (const command of node.commands) this.#read(command, { ...unsure, isApart: true });
        return;
      case "Subshell":
        this.#read(node.body, { ...unsure, isApart: true });
        return;
      case "BraceGroup":
        this.#read(node.body, unsure);
        return;
      case "CompoundList":
        for (const statement of node.commands) this.#read(statement, unsure);
        return;
      case "Redirected":
        this.#read(node.command, position);
        this.#readRedirectionsOf(node.redirects, unsure);
        return;
      case "Command":
        this.#readCommand(node, position);
        return;
      default:
        this.#readOther(node);
    }
  }

  #readChain(node: Extract<SyntaxNode, { type: "AndOr" }>, position: Position): void {
    let followsSuccess = false;
    let allJoined = true;
    for (const [index, command] of node.commands.entries()) {
      this.#read(command, { ...position, followsSuccess });
      allJoined &&= node.operators[index] === "&&";
      followsSuccess = allJoined;
    }
  }

  /** Whatever holds commands without being one: they are found, but when they run is not understood. */
  #readOther(node: SyntaxNode): void {
    const problem = CONTROL_FLOW[node.type];
    if (problem !== undefined) this.problems.push(problem);
    forEachChild(node, (child) => this.#read(child, NESTED));
  }

  #readCommand(node: Command, position: Position): void {
    const problems: string[] = [];
    const words: ShellWord[] = [];
    const assignments: ShellAssignment[] = [];
    const redirections: ShellRedirection[] = [];
    const index = this.commands.length;
    for (const child of [...node.prefix, ...(node.name ? [node.name] : []), ...node.suffix]) {
      if (child.type === "Word") {
        words.push(this.#readWord(child, problems));
      } else if (child.type === "Assignment" && words.length > 0) {
        problems.push(`\`${child.text}\` assigns`);
        words.push({ text: child.text, value: null, isGlob: false });
        this.#readOther(child);
      } else if (child.type === "Assignment") {
        assignments.push(this.#readAssignment(child));
      } else {
        redirections.push(this.#readRedirection(child));
      }
    }
    const text = this.#textOf(node);
    this.commands.splice(index, 0, { text, words, assignments, redirections, problems, ...position });
  }

  #readRedirectionsOf(redirects: readonly RedirectionNode[], position: Position): void {
    const redirections = redirects.map((redirect) => this.#readRedirection(redirect));
    const text = redirections.map((redirection) => redirection.text).join(" ");
    this.commands.push({ words: [], assignments: [], problems: [], text, redirections, ...position });
  }

  #readWord(word: Extract<SyntaxNode, { type: "Word" }>, problems: string[]): ShellWord {
    const reading = readWord(word);
    if (!("problem" in reading)) return { text: word.text, ...reading };
    problems.push(`\`${word.text}\` holds ${reading.problem}`);
    this.#readOther(word);
    return { text: word.text, value: null, isGlob: false };
  }

  #readAssignment(node: Extract<SyntaxNode, { type: "Assignment" }>): ShellAssignment {
    const { name, text, value } = node;
    const isPlain = value.type === "Word" && node.index === undefined && !node.append;
    const reading = isPlain ? readWord(value) : { problem: "" };
    if ("value" in reading && !reading.isGlob) return { text, name, value: reading.value };
    this.#readOther(node);
    return { text, name, value: null };
  }

  #readRedirection(node: RedirectionNode): ShellRedirection {
    const text = this.#textOf(node);
    if (node.type === "HereDoc") {
      const { body } = node;
      const isLiteral = node.delimiter?.quoted === true || !/[\\$`]/.test(body.text);
      if (!isLiteral) this.#readOther(body);
      return { text, kind: "data", target: isLiteral ? body.text : null };
    }
    const reading = node.target === undefined ? { problem: "" } : readWord(node.target);
    if ("problem" in reading && node.target !== undefined) this.#readOther(node.target);
    const target = "value" in reading && !reading.isGlob ? reading.value : null;
    if (node.type === "HereString") return { text, kind: "data", target };
    if (node.descriptor?.type === "FileDescriptorVariable") return { text, kind: "write", target: null };
    const isCopy = /^[<>]&$/.test(node.operator) && target !== null && /^(?:\d+-?|-)$/.test(target);
    if (isCopy) return { text, kind: "copy", target };
    return { text, kind: node.operator === "<" ? "read" : "write", target };
  }

  #textOf(node: { readonly pos: number; readonly end: number }): string {
    return this.#source.slice(node.pos, node.end);
  }
}
