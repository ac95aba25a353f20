import { createWordSet } from "@burin/contract/text/words";
import { type CommandLocation, CommandReach } from "./command-place.ts";
import { type CommandRule, countCoveredWords, coversEverything, coversWrite } from "./command-rules.ts";
import type {
  ShellAssignment,
  ShellCommand,
  ShellRedirection,
  ShellWord,
  SimpleCommand,
} from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { createPartVerdict, isAlwaysAsked, isProtected, type JudgedCommand } from "./part-verdict.ts";
import { findPrintedNames } from "./printed-names.ts";
import { TAKES_ANY_WORD, takesAnyText } from "./programs/any-text.ts";
import { readHandedPaths } from "./programs/find.ts";
import {
  type Argument,
  BEYOND_RULES,
  createLaunch,
  createUnknown,
  type Finding,
  judgePath,
  type PathSet,
} from "./programs/finding.ts";
import {
  isBashLike,
  isTransparent,
  isWrapper,
  type Launch,
  listLaunches,
  SHELLS,
} from "./programs/launches.ts";
import { readProgram } from "./programs/read-program.ts";
import { readAttachedValue } from "./programs/simple-programs.ts";
import { listDeletedPaths } from "./programs/task-programs.ts";
import { findBeyondRow, findWideRow } from "./programs/wide-rules.ts";
import type { PartVerdict } from "./verdict.ts";

/** How deep nested shells are followed; a deeper one makes the line ask. */
const MAX_DEPTH = 5;
/** Variables that may be set without a question: they choose no file and no program. */
const HARMLESS_VARIABLES = createWordSet(
  "CI NO_COLOR FORCE_COLOR NODE_ENV LANG LC_ALL TZ TERM COLUMNS RUST_BACKTRACE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE",
);
/** Variables that may be set without a question only to these values. */
const HARMLESS_SETTINGS = /^(?:(?:GIT_)?PAGER=(?:cat)?|GIT_(?:TERMINAL_PROMPT|OPTIONAL_LOCKS)=0)$/;
interface JudgeContext {
  readonly allow: readonly CommandRule[];
  readonly reach: CommandReach;
  readonly depth: number;
  /** The command whose output this one reads, if known. */
  readonly input?: SimpleCommand | undefined;
}

/**
 * Judges each simple command of a line by the allow rules and by what is known of its program. Lazy: judges only as
 * many commands as the caller reads.
 */
export function* judgeParts(
  line: ShellCommand,
  allow: readonly CommandRule[],
  place: CommandLocation | undefined,
): Generator<PartVerdict> {
  for (const [command, judged] of judgeCommands(line, { allow, reach: new CommandReach(place), depth: 0 })) {
    const verdict = createPartVerdict(command, judged);
    if (!command.isRepeat || verdict.verdict !== "allow") yield verdict;
  }
}

function* judgeCommands(
  line: ShellCommand,
  judging: JudgeContext,
): Generator<[SimpleCommand, JudgedCommand]> {
  for (const command of judging.reach.eachInOrder(line.commands)) {
    const isFed = command.redirections.some(({ kind }) => kind === "read" || kind === "data");
    const input = isFed ? undefined : (command.input ?? judging.input);
    yield [command, judgeSimple(command, { ...judging, input })];
  }
}

/** The findings that no rule covers. */
function judgeSimple(command: SimpleCommand, judging: JudgeContext): JudgedCommand {
  const everything = judging.allow.find(coversEverything);
  const words = readLiteralWords(command);
  const around = judgeSurroundings(command, judging.reach);
  const { findings, rule } = words === null ? judgeAnyText(command, judging) : judgeWords(words, judging);
  const left = around.filter(({ writes }) => writes === undefined || !isWriteCovered(writes, judging));
  const all = [...left, ...findings];
  const judged = {
    words: left.every(({ writes }) => writes !== undefined) ? words : null,
    reach: judging.reach,
  };
  if (everything !== undefined) return { ...judged, findings: all.filter(isAlwaysAsked), rule: everything };
  return { ...judged, findings: all, ...(rule && { rule }) };
}

function isWriteCovered(path: string, { allow, reach }: JudgeContext): boolean {
  const paths = reach.explainOutside(path, false) === null ? reach.listLocations(path) : [];
  return allow.some((rule) => coversWrite(rule, paths));
}

/** null when a word is known only at run time. */
function readLiteralWords(command: SimpleCommand): Argument[] | null {
  const words: Argument[] = [];
  for (const { value, isGlob, isMany = false, lineOf } of command.words) {
    const below = value === null ? findPrintedNames(lineOf) : null;
    if (value === null && below === null) return null;
    if (below === null) words.push({ value: value ?? "", isGlob, isMany });
    else if (isMany)
      words.push({ ...createPathArgument(below), isMany }, { ...createPathArgument(below), isMany });
    else words.push(createPathArgument(below));
  }
  const [program] = words;
  return program?.isGlob === true || program?.below !== undefined ? null : words;
}

function createPathArgument(below: PathSet): Argument {
  return { value: below.folders[0] ?? ".", isGlob: false, below };
}

/** A word with unknown text may go to a program that only prints or compares it. */
function judgeAnyText(command: SimpleCommand, { reach }: JudgeContext): JudgedCommand {
  const isText = command.words.every(({ value, isAnyText }) => value !== null || isAnyText === true);
  if (isText && takesAnyText(command.words.map(({ value }) => value))) {
    return { findings: findProjectProgram(command.words[0]?.value ?? "", reach) };
  }
  const unseen = command.words.find(({ value }) => value === null)?.text;
  const known = unseen === undefined ? "which program it starts" : `what \`${unseen}\` is`;
  const finding = createUnknown(command.problems[0] ?? `${known} is known only when it runs`);
  const texts = command.words.map(({ value, text }) => value ?? text);
  const deletes = listDeletedPaths(texts);
  const found = deletes === null ? [finding, ...findLosses(command.words, reach)] : [{ ...finding, deletes }];
  return { findings: [...found, ...findHomeAccess(texts, reach)], reach };
}

/** Finds what the known words would destroy for good, whatever the unknown words are. */
function findLosses(words: readonly ShellWord[], reach: CommandReach): Finding[] {
  const known = words.map(({ value, isGlob }) => ({ value: value ?? "", isGlob }));
  const found = readProgram(known, reach);
  const lost = found.filter(({ nature, isKept, deletes }) =>
    deletes === undefined ? nature === "destructive" && !isKept : true,
  );
  return lost.map(({ what }) => ({ nature: "destructive", what, upTo: BEYOND_RULES }));
}

/** Every home folder counts as outside. */
function findHomeAccess(texts: readonly string[], reach: CommandReach): Finding[] {
  return texts.flatMap((text) => {
    const path = text.replace(/^"?\$\{?HOME\}?(?=[/"]|$)/, "~");
    if (!path.startsWith("~")) return [];
    const what = reach.explainOutside(path, false) ?? `\`${text}\` is in a home folder`;
    return [{ nature: "outside" as const, what, upTo: BEYOND_RULES, path: text }];
  });
}

/** A program that only the project provides is not the known program of that name. */
function findProjectProgram(name: string, reach: CommandReach): Finding[] {
  const folder = name.includes("/") ? null : reach.findProjectFolder(name);
  return folder === null
    ? []
    : [createUnknown(`\`${name}\` is found only in \`${folder}\`, a folder of the project`)];
}

/** The variables and redirections of a command. Rules do not cover those. */
function judgeSurroundings(command: SimpleCommand, reach: CommandReach): Finding[] {
  const set = command.assignments.filter((each) => !isHarmlessAssignment(each, command.words));
  return [
    ...judgeFolder(command, reach),
    ...set.map(({ text }) => createUnknown(`\`${text}\` sets a variable`)),
    ...command.redirections.flatMap((redirection) => judgeRedirection(redirection, reach)),
    ...judgeCopiedDescriptors(command.redirections),
  ];
}

/** A descriptor that the command does not open itself may be one that Burin inherited. */
function judgeCopiedDescriptors(redirections: readonly ShellRedirection[]): Finding[] {
  const opened = new Set(["0", "1", "2"]);
  return redirections.flatMap(({ text, kind, target }) => {
    const copied = kind === "copy" ? /^\d+/.exec(target ?? "")?.[0] : undefined;
    const isOpen = copied === undefined || opened.has(copied);
    opened.add(/^\d+/.exec(text)?.[0] ?? "");
    return isOpen ? [] : [createUnknown(`what \`${text}\` names is known only when it runs`)];
  });
}

function isHarmlessAssignment(
  { text, name, value, isOwn }: ShellAssignment,
  [program]: readonly ShellWord[],
): boolean {
  if (isOwn === true || program === undefined) return isOwn === true;
  if (name === "IFS") return program.value === "read" && value !== null;
  const isPlain = HARMLESS_VARIABLES.has(name) && value !== null && /^[\w.-]*$/.test(value);
  return isPlain || HARMLESS_SETTINGS.test(text);
}

function judgeRedirection(
  { text, kind, target, isGlob, isAnyText, lineOf }: ShellRedirection,
  reach: CommandReach,
): readonly Finding[] {
  const below = kind === "read" ? findPrintedNames(lineOf) : null;
  if (below !== null) return judgePath(createPathArgument(below), 0, reach);
  if (isAnyText || kind === "copy" || (kind === "data" && target !== null)) return [];
  if (target === null) return [createUnknown(`what \`${text}\` names is known only when it runs`)];
  if (kind === "write") {
    if (/^\/dev\/(?:null|stdout|stderr)$/.test(target)) return [];
    const [finding] = judgeProtected(target, reach);
    return [finding ?? { ...createUnknown(`\`${text}\` writes a file`), writes: target }];
  }
  return judgePath({ value: target, isGlob: isGlob === true }, 0, reach);
}

/** Judges the command's working directory, and the folders that the shell itself reads for a pattern. */
function judgeFolder({ words }: SimpleCommand, reach: CommandReach): Finding[] {
  const isElsewhere = words.length > 0 && reach.explainOutside(".", false) !== null;
  const patterns = words.map(({ value, isGlob }) => (isGlob ? (value ?? "") : ""));
  const looks = patterns.flatMap((pattern) => {
    const folder = pattern.slice(0, pattern.lastIndexOf("/") + 1);
    return folder === "" ? [] : (reach.explainOutside(folder, true) ?? []);
  });
  const all = [...(isElsewhere ? ["it would run in a folder outside the root"] : []), ...looks];
  // A value that the shell splits into words may contain a pattern too.
  const split = words.flatMap(({ isMany, lineOf }) => (isMany ? (findPrintedNames(lineOf) ?? []) : []));
  return [
    ...all.map((what) => ({ nature: "outside" as const, what, upTo: 0 })),
    ...split.flatMap((below) => judgePath(createPathArgument(below), 0, reach)),
  ];
}

function judgeProtected(path: string, reach: CommandReach, isGlob = false): Finding[] {
  const what = reach.explainProtected(path, isGlob);
  const reason = `\`${path}\` is protected (${what}), so only the user can allow a change`;
  return what === null ? [] : [{ nature: "protected", what: reason, upTo: 0, path }];
}

/** Returns the findings that no rule covers. A rule covers the words that it spells out, and the program itself. */
function judgeWords(words: readonly Argument[], judging: JudgeContext): JudgedCommand {
  if (words.length === 0) return { findings: [] };
  const launches = listLaunches(words.map(({ value, below }) => (below === undefined ? value : null)));
  const findings = [
    ...judgeProgram(words, launches, judging),
    ...launches.flatMap((launch) => {
      if (launch.kind === "words") return judgeLaunchedWords(words, launch, judging);
      return launch.kind === "script" ? judgeScript(launch, words[0]?.value ?? "", judging) : [];
    }),
    ...findProjectProgram(words[0]?.value ?? "", judging.reach),
  ];
  if (findings.some(({ nature }) => nature !== "outside")) {
    findings.push(...judgeWrites(words, judging.reach));
  }
  let best: JudgedCommand = { findings };
  for (const rule of judging.allow) {
    const spelled = countCoveredWords(rule, words);
    const isNeverExcused = rule.isGrant ? isAlwaysAsked : isProtected;
    const kept = findings.filter((finding) => isNeverExcused(finding) || finding.upTo >= spelled);
    const left = spelled === 0 ? kept : [...kept, ...findBeyondRule(rule, words, judging.reach)];
    const isBetter = best.rule === undefined || left.length < best.findings.length;
    if (spelled > 0 && isBetter) best = { findings: left, rule };
  }
  return best;
}

/** Finds what a rule that ends in `*` does not cover, although the command begins with the rule's words. */
function findBeyondRule(rule: CommandRule, words: readonly Argument[], reach: CommandReach): Finding[] {
  const { isGrant, isWide, address } = rule;
  if (!isWide || (!isGrant && address === undefined)) return [];
  const count = rule.words.length;
  const found = findWideRow(rule.words.concat(address ?? []));
  return findBeyondRow({ row: found?.row, count, address }, words, reach);
}

function judgeProgram(
  words: readonly Argument[],
  launches: readonly Launch[],
  { reach }: JudgeContext,
): readonly Finding[] {
  const [launch] = launches;
  const name = words[0]?.value ?? "";
  if (name === "find" || (launch === undefined && !isWrapper(name))) return readProgram(words, reach);
  const last = words.length - 1;
  const isSeen = launch !== undefined && launch.kind !== "unseen";
  const end = isSeen ? (launch.kind === "words" ? launch.from : launch.at) : last + 1;
  const own = words.slice(1, end).map(({ value }) => value);
  if (!isSeen && name !== "command") {
    const what = `what \`${name}\` runs is not in its arguments`;
    return [createUnknown(what), ...(SHELLS.has(name) ? [] : [createLaunch(what, last)])];
  }
  const isWhole = launch?.kind !== "script" || launch.at === last;
  if (isSeen && isWhole && isTransparent(name, own)) return [];
  const odd = `\`${[name, ...own].join(" ")}\` changes how it is run`;
  const settings = isSeen && isWrapper(name) ? [createLaunch(odd, Math.max(end - 1, 1))] : [];
  return [...readProgram(words, reach), ...settings];
}

function judgeLaunchedWords(
  words: readonly Argument[],
  launch: Extract<Launch, { kind: "words" }>,
  judging: JudgeContext,
): Finding[] {
  const { from, to } = launch;
  const name = words[from]?.value ?? "";
  const inner = { ...judging, depth: judging.depth + 1, reach: judging.reach.createInnerReach() };
  const handed = resolveHandedWords(words, launch, judging);
  if (judging.depth > MAX_DEPTH || words[from]?.isGlob === true || name === "cd" || handed === "program") {
    return [createLaunch(`\`${words[0]?.value}\` launches \`${name}\``, to - 1)];
  }
  const launched = words.slice(from, to);
  // Without input the program still runs, and some programs then read the current folder.
  const wordings = handed === null ? [launched] : launch.isOpen ? [handed, launched] : [handed];
  const findings = wordings.flatMap((wording) =>
    judgeWords(wording, inner).findings.map((finding) => ({
      ...finding,
      upTo: finding.upTo === BEYOND_RULES ? BEYOND_RULES : Math.min(finding.upTo + from, to - 1),
    })),
  );
  if (handed === null && !TAKES_ANY_WORD.has(name)) {
    findings.push(
      createLaunch(`\`${words[0]?.value}\` hands words to \`${name}\` that are not known`, to - 1),
    );
  }
  return findings;
}

/**
 * Inserts the words that are passed to the launched command, twice if there may be several. Returns `program` if they
 * would be the program itself or a part of a word.
 */
function resolveHandedWords(
  words: readonly Argument[],
  { from, to, isOpen, placeholder }: Extract<Launch, { kind: "words" }>,
  { input }: JudgeContext,
): readonly Argument[] | "program" | null {
  const launched = words.slice(from, to);
  if (!isOpen && placeholder === undefined) return launched;
  const isPart = ({ value }: Argument) =>
    placeholder !== undefined && value !== placeholder && value.includes(placeholder);
  const takesAny = TAKES_ANY_WORD.has(launched[0]?.value ?? "");
  if (launched[0]?.value === placeholder || (launched.some(isPart) && !takesAny)) return "program";
  const own = words.slice(1, from).map(({ value }) => value);
  const byNul = words[0]?.value === "xargs" && own.some((word) => /^(?:-0|--null)$/.test(word));
  const below = isOpen ? findPrintedNames(input, byNul) : readHandedPaths(words, from);
  if (below === null) return null;
  const isWhole = byNul && input?.words[0]?.value === "find";
  const word = createPathArgument(isWhole ? { ...below, isText: false } : below);
  if (placeholder === undefined) return [...launched, word, word];
  const isMany = words[to]?.value === "+";
  return launched.flatMap((each) => (each.value !== placeholder ? [each] : isMany ? [word, word] : [word]));
}

function judgeScript(
  { text, at }: Extract<Launch, { kind: "script" }>,
  shell: string,
  judging: JudgeContext,
): Finding[] {
  if (text === null || judging.depth > MAX_DEPTH)
    return [createLaunch("it runs a command line that is not known", at)];
  const line = parseShellCommand(text, isBashLike(shell));
  const inner = { ...judging, depth: judging.depth + 1, reach: judging.reach.createInnerReach() };
  const found = [...judgeCommands(line, inner)].flatMap(([, { findings }]) => findings);
  return [...line.problems.map((problem) => createLaunch(problem, at)), ...found.map(toScriptFinding)];

  /** The rule must spell out the whole script, and covers no more than it would outside the script. */
  function toScriptFinding(finding: Finding): Finding {
    const nature = isAlwaysAsked(finding) ? finding.nature : "launch";
    const { writes: _writes, ...others } = finding;
    return { ...others, nature, upTo: finding.upTo === BEYOND_RULES ? BEYOND_RULES : at };
  }
}

/** Longer names of protected files contain a dot or a folder anyway. */
const MAX_LETTERS = 64;

/**
 * Paths may be attached to one or more option letters, as in `-omise.toml` and `-Dtmise.toml`; where the path begins is
 * not known.
 */
function splitAttachedPaths(word: Argument): (string | undefined)[] {
  const { length } = /^-\w*/.exec(word.value)?.[0] ?? "";
  const inLetters = Array.from({ length: Math.min(length - 2, MAX_LETTERS) }, (_, index) => length - index);
  return [readAttachedValue(word)?.value, ...[2, ...inLetters].map((from) => word.value.slice(from))];
}

/** Any word may be a file that a program writes, unless the program is known to only read. */
function judgeWrites(words: readonly Argument[], reach: CommandReach): Finding[] {
  return words.flatMap((word, index) => {
    const option = word.value.startsWith("-") ? word.value : (words[index - 1]?.value ?? "");
    if (index === 0 || /^--?[\w-]*(?:exclude|ignore)/.test(option)) return [];
    const isOption = word.value.startsWith("-");
    const paths = isOption ? new Set(splitAttachedPaths(word)) : [word.value.replace(/^\w+=/, "")];
    return [...paths].flatMap((path) => (path ? judgeProtected(path, reach, word.isGlob) : []));
  });
}
