import { createWordSet } from "@burin/contract/text/words";
import type {
  Command,
  ParameterExpansionPart,
  ParsedScript,
  SyntaxNode,
  TestExpression,
  While,
  Word,
} from "unbash";
import { forEachChild } from "unbash";
import { SHELLS } from "../programs/launches.ts";
import type { ShellWord } from "./command-parts.ts";
import { findLastCommand, scriptPrintsOnly, type Variable } from "./literal-word.ts";

/** Longer ranges than `{1..20}` are not followed. */
const MAX_RANGE_LENGTH = 50;

/** Variable names that mean nothing to a program or shell, so that only the loop reads them. */
const LOOP_NAMES = createWordSet(`
  FILE FILES DIR DIRS NAME LINE WORD ITEM KEY VALUE ROOT VERSION BRANCH COMMIT HASH SHA COUNT TOTAL BASE HEAD
  REF TAG OUT SRC LOG LAST PREV FOUND RESULT`);
const MEANT_BY_OTHERS = /^(?:(?:npm|git|no|http|https|all|ftp|rsync)_|path$|cdpath$|_$)/;

export function isPlainName(name: string): boolean {
  return LOOP_NAMES.has(name) || (/^(?:[a-z_][a-z0-9_]*|[A-Z])$/.test(name) && !MEANT_BY_OTHERS.test(name));
}

/** Returns the words of `{1..5}` or `$(seq 1 5)`; null for any other word. */
export function expandRange({ text }: Word): Variable[] | null {
  const range =
    /^\{(\d{1,6})\.\.(\d{1,6})\}$/.exec(text) ?? /^\$\(seq (?:(\d{1,6}) )?(\d{1,6})\)$/.exec(text);
  const [, from = range?.[0].startsWith("$") ? "1" : undefined, to] = range ?? [];
  if (from === undefined || to === undefined || /^0\d/.test(from) || /^0\d/.test(to)) return null;
  const length = Number(to) - Number(from) + 1;
  if (length < 1 || length > MAX_RANGE_LENGTH) return null;
  return Array.from({ length }, (_, index) => ({ value: String(Number(from) + index), isGlob: false }));
}

/** Returns the words of `a/{b,c}.ts`; null for any other word. */
export function expandBraces({ text }: Word): ShellWord[] | null {
  const [, before = "", inner, after = ""] =
    /^([\w.@%+:/-]*)\{([\w.@%+:/-]*(?:,[\w.@%+:/-]*)+)\}([\w.@%+:/-]*)$/.exec(text) ?? [];
  const values = inner
    ?.split(",")
    .map((each) => before + each + after)
    .filter((each) => each !== "");
  return values?.map((value) => ({ text, value, isGlob: false })) ?? null;
}

/**
 * Whether the word is one `$(...)`, quoted or not, or one `<(...)`, that contains only a pipeline of plain commands.
 */
export function isOnePipeline({ parts, text }: Pick<Word, "parts" | "text">): boolean {
  const [only, ...more] = parts ?? [];
  if (only?.type === "DoubleQuoted" && more.length === 0)
    return isOnePipeline({ parts: only.parts, text: text.slice(1, -1) });
  // Text in single quotes is plain text, unless something else decides where quotes begin.
  const bare = /"|\\'|<</.test(text) ? text : text.replace(/'[^']*'/g, "");
  if (more.length > 0 || /[$`]|[<>]\(/.test(bare.slice(1))) return false;
  if (only?.type !== "CommandExpansion" && only?.type !== "ProcessSubstitution") return false;
  return !only.script?.commands[0]?.background && findLastCommand(only.script) !== undefined;
}

const ASSIGNING = createWordSet(
  "read mapfile readarray printf getopts declare typeset local readonly export unset let eval source . trap wait set shift enable exec alias",
);
const ASSIGNING_NODES: ReadonlySet<SyntaxNode["type"]> = new Set([
  "ArithmeticCommand",
  "ArithmeticFor",
  "Select",
  "Coproc",
  "Function",
] as const);

/**
 * Finds commands that only set variables of the script and certainly run before what follows. In a loop, the variable
 * must be set nowhere else.
 */
export function findCertainAssignments(script: ParsedScript): ReadonlySet<SyntaxNode> {
  const names: string[] = [];
  const inLoops: SyntaxNode[] = [];
  const collectAssignedNames = (node: SyntaxNode) => {
    if (node.type === "Assignment") names.push(node.name);
    if (node.type === "For" || node.type === "While") {
      const set = node.type === "For" ? [node.name.text] : readNames(node)?.names;
      names.push(...(set ?? []));
      if (set !== undefined) inLoops.push(...listUnconditionalCommands(node.body));
    }
    forEachChild(node, collectAssignedNames);
  };
  collectAssignedNames(script);
  const isAssignedOnce = (name: string) => names.filter((other) => other === name).length === 1;
  const isOwn = (node: SyntaxNode) => isOwnAssignment(node);
  return new Set([
    ...listUnconditionalCommands(script).filter(isOwn),
    ...inLoops.filter((one) => isOwnAssignment(one, isAssignedOnce)),
  ]);
}

/** Returns, of consecutive commands, those that must have run before the later ones can. */
function listUnconditionalCommands({ commands }: Pick<ParsedScript, "commands">): SyntaxNode[] {
  return commands.flatMap(({ command, background }) => {
    if (background) return [];
    if (command.type !== "AndOr") return [command];
    const end = command.operators.findIndex((operator) => operator !== "&&");
    return end === -1 ? command.commands : command.commands.slice(0, end + 1);
  });
}

function isOwnAssignment(node: SyntaxNode, isFit = isPlainName): boolean {
  if (node.type !== "Command" || node.name !== undefined || node.prefix.length === 0) return false;
  return node.prefix.every((each) => {
    if (each.type !== "Assignment" || each.value.type !== "Word") return false;
    return isPlainName(each.name) && isFit(each.name) && each.text.startsWith(`${each.name}=`);
  });
}

/** Whether anything except loops and the given commands may set or evaluate a variable, so that no value is certain. */
export function mayAssign(node: SyntaxNode | undefined, own: ReadonlySet<SyntaxNode>): boolean {
  if (node === undefined || ASSIGNING_NODES.has(node.type)) return true;
  if (node.type === "Command" && !own.has(node) && commandAssigns(node)) return true;
  if (node.type === "ParameterExpansion" && expansionEvaluates(node)) return true;
  if (node.type === "ArithmeticExpansion" && /[A-Za-z_]|\$\d/.test(node.text)) return true;
  if (node.type === "Assignment" && node.index !== undefined) return true;
  // Bash evaluates the content of these variables when it prints a prompt or reads it.
  if ((node.type === "Word" || node.type === "Assignment") && /^["']?(?:PS\d|BASH_ENV|ENV)=/.test(node.text))
    return true;
  if ("operator" in node && /^-(?:v|eq|ne|l[te]|g[te])$/.test(String(node.operator))) return true;
  const isRead = node.type === "While" && readNames(node) !== null;
  let assigns = false;
  forEachChild(node, (child) => {
    if (!isRead || child !== node.clause) assigns ||= mayAssign(child, own);
  });
  return assigns;
}

/** Returns the text of its words and here-documents, without the quotes. */
export function listTexts(node: SyntaxNode): string[] {
  const found = node.type === "Word" ? [node.value] : node.type === "HereDocBody" ? [node.text] : [];
  forEachChild(node, (child) => {
    found.push(...listTexts(child));
  });
  return found;
}

/** Bash runs commands inside array subscripts and arithmetic, and in text that is expanded like a prompt. */
function expansionEvaluates({ prefix, index, operation }: ParameterExpansionPart): boolean {
  const numbers = operation?.type === "Slice" ? [operation.offset, operation.length, index] : [index];
  const isNamed = numbers.some((word) => /[A-Za-z_$]/.test(word?.text ?? ""));
  return (
    isNamed || prefix === "!" || operation?.type === "Transform" || operation?.operator.includes("=") === true
  );
}

function commandAssigns({ name, prefix, args }: Command): boolean {
  if (name === undefined) return prefix.some(({ type }) => type === "Assignment");
  const words = [name, ...args].map((word) => (/^[\w.:/+-]+$/.test(word.text) ? word.text : null));
  const [program, first] = words;
  if (program === null || program === undefined) return !/^\[$/.test(name.text);
  if (program === "printf")
    return first === null ? /-/.test(args[0]?.text ?? "") : first?.startsWith("-") === true;
  if (program === "test" || program === "[") return words.includes("-v");
  if (SHELLS.has(program)) return words.some((word) => /^-\w*c/.test(word ?? ""));
  if (program === "set") return !/^[-+][eux]+$/.test(first ?? "");
  if (program === "builtin" || program === "command") return args.length > 0 && !/^-[vV]$/.test(first ?? "");
  return ASSIGNING.has(program);
}

/**
 * Returns the variables that `while read -r a b` sets, from lines or from texts that end in NUL; null for any other
 * loop.
 */
export function readNames(node: While): { names: readonly string[]; isByNul: boolean } | null {
  const [statement, ...more] = node.clause.commands;
  const command = statement?.command;
  if (node.kind !== "while" || more.length > 0 || command?.type !== "Command") return null;
  const isPlain = command.prefix.every(
    (each) => each.type === "Assignment" && each.name === "IFS" && each.value.type === "Word",
  );
  if (!isPlain || command.name?.text !== "read" || command.redirects.length > 0) return null;
  const given = command.args.map(({ text }) => text).join(" ");
  const [, options = "", set = ""] = /^((?:-r |-r?d (?:''|"") )*)([\w ]+)$/.exec(given) ?? [];
  const names = set.split(" ");
  return names.every(isPlainName) ? { names, isByNul: options.includes("d") } : null;
}

const ONLY_BASH: ReadonlySet<SyntaxNode["type"]> = new Set([
  ...ASSIGNING_NODES,
  "TestCommand",
  "HereString",
  "ProcessSubstitution",
  "BraceExpansion",
] as const);

/**
 * Whether another shell than bash may run commands, or open files or folders, for this condition: in some shells, `[[ a
 * > b ]]` writes a file.
 */
export function isOnlyBash(node: SyntaxNode): boolean {
  if (ONLY_BASH.has(node.type)) return true;
  if (node.type === "For" && node.wordlist?.some(({ text }) => text.startsWith("{"))) return true;
  if (node.type === "Pipeline" && node.operators.includes("|&")) return true;
  if (node.type === "Redirect" && node.operator.startsWith("&")) return true;
  if (node.type === "Command" && mayEvaluate(node)) return true;
  if (node.type === "HereDoc" && node.delimiter?.text.includes("$")) return true;
  let isOnly = false;
  forEachChild(node, (child) => {
    isOnly ||= isOnlyBash(child);
  });
  return isOnly;
}

const NUMBER = /^"?(?:-?\d+|\$[?#]|\$\{#\w+\})"?$/;

/** A Korn shell evaluates numeric operands of `test` as arithmetic, and runs commands inside a name's subscript. */
function mayEvaluate({ name, args }: Command): boolean {
  const isTest = /^(?:test|\[)$/.test(name?.value ?? "");
  const isBesideComparison = (at: number) =>
    [args[at - 1], args[at + 1]].some(
      (word) => word?.type === "Word" && /^-(?:eq|ne|lt|le|gt|ge)$/.test(word.value),
    );
  return isTest && args.some(({ text }, at) => isBesideComparison(at) && !NUMBER.test(text));
}

interface Comparison {
  readonly text: string;
  readonly operator: string;
  readonly operands: readonly Word[];
  /** Why the test may do more than compare, or null. */
  readonly problem: string | null;
}

/** Whether the word is a number that `wc` prints. */
function isWcCount({ parts: [only, ...more] = [] }: Word): boolean {
  return (
    only?.type === "CommandExpansion" && more.length === 0 && scriptPrintsOnly(only.script, [/^wc -[clmw]$/])
  );
}

const FILE_TEST = /^-[abcdefghknprstuwxzGLNOS]$/;
const COMPARISONS = new Set(["=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef"]);

/** Lists every comparison in `[[ ]]`. */
export function listComparisons(expression: TestExpression, source: string): Comparison[] {
  switch (expression.type) {
    case "TestLogical":
      return expression.operands.flatMap((operand) => listComparisons(operand, source));
    case "TestNot":
      return listComparisons(expression.operand, source);
    case "TestGroup":
      return listComparisons(expression.expression, source);
    default: {
      const { operator, pos, end } = expression;
      const operands = "operand" in expression ? [expression.operand] : [expression.left, expression.right];
      const isKnown = "operand" in expression ? FILE_TEST.test(operator) : COMPARISONS.has(operator);
      const isNumbers =
        /^-(?:eq|ne|lt|le|gt|ge)$/.test(operator) &&
        operands.every((word) => /^\d+$/.test(word.text) || isWcCount(word));
      const problem = isKnown || isNumbers ? null : `\`${operator}\` can evaluate what it compares`;
      return [{ text: `[[ ${source.slice(pos, end)} ]]`, operator, operands, problem }];
    }
  }
}
