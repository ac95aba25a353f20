import { type CommandPlace, CommandReach } from "./command-place.ts";
import { type CommandRule, coveredWords, coversEverything, coversWriting } from "./command-rules.ts";
import type {
  ShellAssignment,
  ShellCommand,
  ShellRedirection,
  ShellWord,
  SimpleCommand,
} from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { printedNames } from "./handed-names.ts";
import { isAlwaysAsked, isProtected, type Judged, partVerdict } from "./part-verdict.ts";
import { TAKES_ANY_WORD, takesAnyText } from "./programs/any-text.ts";
import { handedByFind } from "./programs/find.ts";
import {
  type Argument,
  BEYOND_RULES,
  type Below,
  type Finding,
  launchFinding,
  pathFinding,
  unknownFinding,
} from "./programs/finding.ts";
import {
  isTransparent,
  isWrapper,
  type Launch,
  launchesOf,
  readsAsBash,
  SHELLS,
} from "./programs/launches.ts";
import { deletedPaths } from "./programs/other-programs.ts";
import { readProgram } from "./programs/read-program.ts";
import { attachedValue } from "./programs/simple-programs.ts";
import { beyondWide, wideRowOf } from "./programs/wide-rules.ts";
import { setOf } from "./tables.ts";
import type { PartVerdict } from "./verdict.ts";

/** The deepest nesting of shells that is followed; a deeper one asks. */
const DEEPEST = 5;
/** Variables that may be set without a question: they choose no file and no program. */
const HARMLESS_VARIABLES = setOf(
  "CI NO_COLOR FORCE_COLOR NODE_ENV LANG LC_ALL TZ TERM COLUMNS RUST_BACKTRACE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE",
);
/** The same for some of their values. */
const HARMLESS_SETTINGS = /^(?:(?:GIT_)?PAGER=(?:cat)?|GIT_(?:TERMINAL_PROMPT|OPTIONAL_LOCKS)=0)$/;
interface Judging {
  readonly allow: readonly CommandRule[];
  readonly reach: CommandReach;
  readonly depth: number;
  /** The command whose output this one reads, if known. */
  readonly input?: SimpleCommand | undefined;
}

/** Judges each simple command of a line by the allow rules and by the knowledge of programs, as far as it is asked. */
export function* judgeParts(
  line: ShellCommand,
  allow: readonly CommandRule[],
  place: CommandPlace | undefined,
): Generator<PartVerdict> {
  for (const [command, judged] of judgedCommands(line, { allow, reach: new CommandReach(place), depth: 0 })) {
    const verdict = partVerdict(command, judged);
    if (!command.isRepeat || verdict.verdict !== "allow") yield verdict;
  }
}

function* judgedCommands(line: ShellCommand, judging: Judging): Generator<[SimpleCommand, Judged]> {
  for (const command of judging.reach.inTurn(line.commands)) {
    const isFed = command.redirections.some(({ kind }) => kind === "read" || kind === "data");
    const input = isFed ? undefined : (command.input ?? judging.input);
    yield [command, judgeSimple(command, { ...judging, input })];
  }
}

/** The findings that no rule covers. */
function judgeSimple(command: SimpleCommand, judging: Judging): Judged {
  const everything = judging.allow.find(coversEverything);
  const words = literalWords(command);
  const around = aroundFindings(command, judging.reach);
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

function isWriteCovered(path: string, { allow, reach }: Judging): boolean {
  const paths = reach.outside(path, false) === null ? reach.placesOf(path) : [];
  return allow.some((rule) => coversWriting(rule, paths));
}

/** null when a word is known only at run time. */
function literalWords(command: SimpleCommand): Argument[] | null {
  const words: Argument[] = [];
  for (const { value, isGlob, isMany = false, lineOf } of command.words) {
    const below = value === null ? printedNames(lineOf) : null;
    if (value === null && below === null) return null;
    if (below === null) words.push({ value: value ?? "", isGlob, isMany });
    else if (isMany) words.push({ ...pathBelow(below), isMany }, { ...pathBelow(below), isMany });
    else words.push(pathBelow(below));
  }
  const [program] = words;
  return program?.isGlob === true || program?.below !== undefined ? null : words;
}

function pathBelow(below: Below): Argument {
  return { value: below.folders[0] ?? ".", isGlob: false, below };
}

/** Unknown words may be passed to a program that only shows or compares them. */
function judgeAnyText(command: SimpleCommand, { reach }: Judging): Judged {
  const isText = command.words.every(({ value, isAnyText }) => value !== null || isAnyText === true);
  if (isText && takesAnyText(command.words.map(({ value }) => value))) {
    return { findings: projectFindings(command.words[0]?.value ?? "", reach) };
  }
  const unseen = command.words.find(({ value }) => value === null)?.text;
  const known = unseen === undefined ? "which program it starts" : `what \`${unseen}\` is`;
  const finding = unknownFinding(command.problems[0] ?? `${known} is known only when it runs`);
  const texts = command.words.map(({ value, text }) => value ?? text);
  const deletes = deletedPaths(texts);
  const found = deletes === null ? [finding, ...lossesOf(command.words, reach)] : [{ ...finding, deletes }];
  return { findings: [...found, ...homeFindings(texts, reach)], reach };
}

/** What is lost for good by the words that are known, whatever the others are. */
function lossesOf(words: readonly ShellWord[], reach: CommandReach): Finding[] {
  const known = words.map(({ value, isGlob }) => ({ value: value ?? "", isGlob }));
  const found = readProgram(known, reach);
  const lost = found.filter(({ nature, isKept, deletes }) =>
    deletes === undefined ? nature === "destructive" && !isKept : true,
  );
  return lost.map(({ what }) => ({ nature: "destructive", what, upTo: BEYOND_RULES }));
}

/** Every home folder is outside. */
function homeFindings(texts: readonly string[], reach: CommandReach): Finding[] {
  return texts.flatMap((text) => {
    const path = text.replace(/^"?\$\{?HOME\}?(?=[/"]|$)/, "~");
    if (!path.startsWith("~")) return [];
    const what = reach.outside(path, false) ?? `\`${text}\` is in a home folder`;
    return [{ nature: "outside" as const, what, upTo: BEYOND_RULES, path: text }];
  });
}

/** A program that only the project provides is not one of the known ones. */
function projectFindings(name: string, reach: CommandReach): Finding[] {
  const folder = name.includes("/") ? null : reach.projectFolderOf(name);
  return folder === null
    ? []
    : [unknownFinding(`\`${name}\` is found only in \`${folder}\`, a folder of the project`)];
}

/** The variables and redirections of a command. Rules do not cover those. */
function aroundFindings(command: SimpleCommand, reach: CommandReach): Finding[] {
  const set = command.assignments.filter((each) => !isHarmlessAssignment(each, command.words));
  return [
    ...folderFindings(command, reach),
    ...set.map(({ text }) => unknownFinding(`\`${text}\` sets a variable`)),
    ...command.redirections.flatMap((redirection) => redirectionFindings(redirection, reach)),
    ...copiedFindings(command.redirections),
  ];
}

/** A descriptor that the command does not open itself may be one that Burin was started with. */
function copiedFindings(redirections: readonly ShellRedirection[]): Finding[] {
  const opened = new Set(["0", "1", "2"]);
  return redirections.flatMap(({ text, kind, target }) => {
    const copied = kind === "copy" ? /^\d+/.exec(target ?? "")?.[0] : undefined;
    const isOpen = copied === undefined || opened.has(copied);
    opened.add(/^\d+/.exec(text)?.[0] ?? "");
    return isOpen ? [] : [unknownFinding(`what \`${text}\` names is known only when it runs`)];
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

function redirectionFindings(
  { text, kind, target, isGlob, isAnyText, lineOf }: ShellRedirection,
  reach: CommandReach,
): readonly Finding[] {
  const below = kind === "read" ? printedNames(lineOf) : null;
  if (below !== null) return pathFinding(pathBelow(below), 0, reach);
  if (isAnyText || kind === "copy" || (kind === "data" && target !== null)) return [];
  if (target === null) return [unknownFinding(`what \`${text}\` names is known only when it runs`)];
  if (kind === "write") {
    if (/^\/dev\/(?:null|stdout|stderr)$/.test(target)) return [];
    const [finding] = protectedFindings(target, reach);
    return [finding ?? { ...unknownFinding(`\`${text}\` writes a file`), writes: target }];
  }
  return pathFinding({ value: target, isGlob: isGlob === true }, 0, reach);
}

/** Its working directory, and the folders that the shell itself reads for a pattern. */
function folderFindings({ words }: SimpleCommand, reach: CommandReach): Finding[] {
  const isElsewhere = words.length > 0 && reach.outside(".", false) !== null;
  const patterns = words.map(({ value, isGlob }) => (isGlob ? (value ?? "") : ""));
  const looks = patterns.flatMap((pattern) => {
    const folder = pattern.slice(0, pattern.lastIndexOf("/") + 1);
    return folder === "" ? [] : (reach.outside(folder, true) ?? []);
  });
  const all = [...(isElsewhere ? ["it would run in a folder outside the root"] : []), ...looks];
  // What is split into words may hold a pattern too.
  const split = words.flatMap(({ isMany, lineOf }) => (isMany ? (printedNames(lineOf) ?? []) : []));
  return [
    ...all.map((what) => ({ nature: "outside" as const, what, upTo: 0 })),
    ...split.flatMap((below) => pathFinding(pathBelow(below), 0, reach)),
  ];
}

function protectedFindings(path: string, reach: CommandReach, isGlob = false): Finding[] {
  const what = reach.protectedBy(path, isGlob);
  const reason = `\`${path}\` is protected (${what}), so only the user can allow a change`;
  return what === null ? [] : [{ nature: "protected", what: reason, upTo: 0, path }];
}

/** The findings that no rule covers: a rule covers the words that it spells out, and what program it is. */
function judgeWords(words: readonly Argument[], judging: Judging): Judged {
  if (words.length === 0) return { findings: [] };
  const launches = launchesOf(words.map(({ value, below }) => (below === undefined ? value : null)));
  const findings = [
    ...ownFindings(words, launches, judging),
    ...launches.flatMap((launch) => {
      if (launch.kind === "words") return launchedWordsFindings(words, launch, judging);
      return launch.kind === "script" ? scriptFindings(launch, words[0]?.value ?? "", judging) : [];
    }),
    ...projectFindings(words[0]?.value ?? "", judging.reach),
  ];
  if (findings.some(({ nature }) => nature !== "outside")) {
    findings.push(...writableFindings(words, judging.reach));
  }
  let best: Judged = { findings };
  for (const rule of judging.allow) {
    const spelled = coveredWords(rule, words);
    const isNeverExcused = rule.isGrant ? isAlwaysAsked : isProtected;
    const kept = findings.filter((finding) => isNeverExcused(finding) || finding.upTo >= spelled);
    const left = spelled === 0 ? kept : [...kept, ...beyondRule(rule, words, judging.reach)];
    const isBetter = best.rule === undefined || left.length < best.findings.length;
    if (spelled > 0 && isBetter) best = { findings: left, rule };
  }
  return best;
}

/** What a rule that ends in `*` does not cover although its first words are the same. */
function beyondRule(rule: CommandRule, words: readonly Argument[], reach: CommandReach): Finding[] {
  const { isGrant, isWide, address } = rule;
  if (!isWide || (!isGrant && address === undefined)) return [];
  const count = rule.words.length;
  const found = wideRowOf(rule.words.concat(address ?? []));
  return beyondWide({ row: found?.row, count, address }, words, reach);
}

function ownFindings(
  words: readonly Argument[],
  launches: readonly Launch[],
  { reach }: Judging,
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
    return [unknownFinding(what), ...(SHELLS.has(name) ? [] : [launchFinding(what, last)])];
  }
  const isWhole = launch?.kind !== "script" || launch.at === last;
  if (isSeen && isWhole && isTransparent(name, own)) return [];
  const odd = `\`${[name, ...own].join(" ")}\` changes how it is run`;
  const settings = isSeen && isWrapper(name) ? [launchFinding(odd, Math.max(end - 1, 1))] : [];
  return [...readProgram(words, reach), ...settings];
}

function launchedWordsFindings(
  words: readonly Argument[],
  launch: Extract<Launch, { kind: "words" }>,
  judging: Judging,
): Finding[] {
  const { from, to } = launch;
  const name = words[from]?.value ?? "";
  const inner = { ...judging, depth: judging.depth + 1, reach: judging.reach.inner() };
  const handed = handedWords(words, launch, judging);
  if (judging.depth > DEEPEST || words[from]?.isGlob === true || name === "cd" || handed === "program") {
    return [launchFinding(`\`${words[0]?.value}\` launches \`${name}\``, to - 1)];
  }
  const launched = words.slice(from, to);
  // Without input the program runs all the same, and some then read the current folder.
  const wordings = handed === null ? [launched] : launch.isOpen ? [handed, launched] : [handed];
  const findings = wordings.flatMap((wording) =>
    judgeWords(wording, inner).findings.map((finding) => ({
      ...finding,
      upTo: finding.upTo === BEYOND_RULES ? BEYOND_RULES : Math.min(finding.upTo + from, to - 1),
    })),
  );
  if (handed === null && !TAKES_ANY_WORD.has(name)) {
    findings.push(
      launchFinding(`\`${words[0]?.value}\` hands words to \`${name}\` that are not known`, to - 1),
    );
  }
  return findings;
}

/** With what is passed to it in place, twice if that may be several; `program` when it would be that or part of a word. */
function handedWords(
  words: readonly Argument[],
  { from, to, isOpen, placeholder }: Extract<Launch, { kind: "words" }>,
  { input }: Judging,
): readonly Argument[] | "program" | null {
  const launched = words.slice(from, to);
  if (!isOpen && placeholder === undefined) return launched;
  const isPart = ({ value }: Argument) =>
    placeholder !== undefined && value !== placeholder && value.includes(placeholder);
  const takesAny = TAKES_ANY_WORD.has(launched[0]?.value ?? "");
  if (launched[0]?.value === placeholder || (launched.some(isPart) && !takesAny)) return "program";
  const own = words.slice(1, from).map(({ value }) => value);
  const byNul = words[0]?.value === "xargs" && own.some((word) => /^(?:-0|--null)$/.test(word));
  const below = isOpen ? printedNames(input, byNul) : handedByFind(words, from);
  if (below === null) return null;
  const isWhole = byNul && input?.words[0]?.value === "find";
  const word = pathBelow(isWhole ? { ...below, isText: false } : below);
  if (placeholder === undefined) return [...launched, word, word];
  const isMany = words[to]?.value === "+";
  return launched.flatMap((each) => (each.value !== placeholder ? [each] : isMany ? [word, word] : [word]));
}

function scriptFindings(
  { text, at }: Extract<Launch, { kind: "script" }>,
  shell: string,
  judging: Judging,
): Finding[] {
  if (text === null || judging.depth > DEEPEST)
    return [launchFinding("it runs a command line that is not known", at)];
  const line = parseShellCommand(text, readsAsBash(shell));
  const inner = { ...judging, depth: judging.depth + 1, reach: judging.reach.inner() };
  const found = [...judgedCommands(line, inner)].flatMap(([, { findings }]) => findings);
  return [...line.problems.map((problem) => launchFinding(problem, at)), ...found.map(inScript)];

  /** The rule must spell out the whole script, and covers no more than it would outside. */
  function inScript(finding: Finding): Finding {
    const nature = isAlwaysAsked(finding) ? finding.nature : "launch";
    const { writes: _writes, ...others } = finding;
    return { ...others, nature, upTo: finding.upTo === BEYOND_RULES ? BEYOND_RULES : at };
  }
}

/** Longer names of protected files begin with a dot, or with a folder. */
const MOST_LETTERS = 64;

/** Behind one letter or several, as in `-omise.toml` and `-Dtmise.toml`: which of them are the path's is not known. */
function attachedPaths(word: Argument): (string | undefined)[] {
  const { length } = /^-\w*/.exec(word.value)?.[0] ?? "";
  const inLetters = Array.from({ length: Math.min(length - 2, MOST_LETTERS) }, (_, index) => length - index);
  return [attachedValue(word)?.value, ...[2, ...inLetters].map((from) => word.value.slice(from))];
}

/** Any word may be a file that a program writes, unless the program is known to only read. */
function writableFindings(words: readonly Argument[], reach: CommandReach): Finding[] {
  return words.flatMap((word, index) => {
    const option = word.value.startsWith("-") ? word.value : (words[index - 1]?.value ?? "");
    if (index === 0 || /^--?[\w-]*(?:exclude|ignore)/.test(option)) return [];
    const isOption = word.value.startsWith("-");
    const paths = isOption ? new Set(attachedPaths(word)) : [word.value.replace(/^\w+=/, "")];
    return [...paths].flatMap((path) => (path ? protectedFindings(path, reach, word.isGlob) : []));
  });
}
