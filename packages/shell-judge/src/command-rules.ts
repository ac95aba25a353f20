import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { runsTextAsCode } from "./programs/bare-launchers.ts";
import type { Argument } from "./programs/finding.ts";
import { findGitSubcommand, mayBeAlias } from "./programs/git.ts";
import { baseName } from "./programs/launches.ts";
import { expandWordings } from "./programs/same-commands.ts";
import {
  type CommandPattern,
  parseCommandPattern,
  parseRule,
  type Rule,
  type Rules,
  SHELL_TOOL,
} from "./rules.ts";

export interface CommandRule extends CommandPattern {
  readonly text: string;
  /** The pattern is more than plain words: it allows nothing, and denies anything that it could mean. */
  readonly isUnclear: boolean;
  /** The rule comes from an "always", which never covers anything destructive. */
  readonly isGrant: boolean;
}

/** The rules that allow commands, first those of the settings, then those of "always". */
export function listAllowRules({ allow, granted = [] }: Rules): CommandRule[] {
  const grants = parseCommandRules(granted).filter(
    ({ words }) => words.length === 0 || !runsTextAsCode(words),
  );
  return [...parseCommandRules(allow), ...grants.map((rule) => ({ ...rule, isGrant: true }))];
}

export function parseCommandRules(rules: readonly Rule[]): CommandRule[] {
  return rules
    .filter(({ tool }) => createGlobMatcher(tool, { caseSensitive: true })(SHELL_TOOL))
    .map(({ text, pattern = "" }) => {
      const read = parseCommandPattern(pattern);
      const unclear = { words: [], isExact: false, isWide: false };
      return { text, ...(read ?? unclear), isUnclear: read === null, isGrant: false };
    });
}

/**
 * Returns the program that such a rule would let run with any arguments, if it is one that runs any code; or null. A
 * rule for all commands is not reported.
 */
export function findCodeRunnerInRule(text: string): string | null {
  const [rule] = parseCommandRules([parseRule(text)]);
  if (rule === undefined || rule.isUnclear || rule.words.length === 0 || !runsTextAsCode(rule.words))
    return null;
  return rule.words[0] ?? null;
}

/** Describes a rule for messages: the user finds one kind in the settings and the other with `burin grants`. */
export function describeRule({ text, isGrant }: CommandRule): string {
  return isGrant ? `the grant ${text}` : `the rule allow ${text}`;
}

/** A rule for every command, whatever its words. */
export function isRuleForEveryCommand({ words, isUnclear, writes }: CommandRule): boolean {
  return words.length === 0 && !isUnclear && writes === undefined;
}

/**
 * An address, or a bare name that programs treat as an address. A rule that names an address covers no other address.
 */
const ADDRESS =
  /^(?:-(?=\w)[\w+.-]*|(?:--[\w-]+=)?[a-z][a-z0-9+.-]*):\/\/|^(?!\d+(?:\.\d+)?$)(?:[^\s/@]+@)?[\w-]+(?:\.[\w-]+)+\.?(?::\d+)?(?:[/?#]|$)/i;

/** How many words of the command the rule spells out; 0 when it does not cover it. */
export function countCoveredWords(rule: CommandRule, command: readonly Argument[]): number {
  const { words, isExact, isUnclear } = rule;
  if (isUnclear) return 0;
  if (isExact && words.length !== command.length) return 0;
  const more = command.slice(words.length);
  if (words.some((word) => word.includes("://")) && more.some(({ value }) => ADDRESS.test(value))) return 0;
  const agrees = words.every((word, index) => command[index]?.value === word && !command[index]?.isGlob);
  return agrees ? words.length : 0;
}

/** Whether a deny or ask rule matches a command; `maybe` when a word is known only at run time. */
export function matchRule(rule: CommandRule, command: readonly (string | null)[]): "yes" | "maybe" | "no" {
  if (rule.isUnclear) return "maybe";
  if (rule.writes !== undefined) return "no";
  if (rule.words.length === 0) return "yes";
  const [program, ...rest] = dropGlobalOptions(command);
  if (program === undefined) return "no";
  if (program === null) return "maybe";
  const answers = expandWordings([normalizeProgram(program), ...rest]).map((words) =>
    matchRuleWords(rule, words),
  );
  return answers.find((answer) => answer === "yes") ?? answers.find((answer) => answer === "maybe") ?? "no";
}

function matchRuleWords(
  rule: CommandRule,
  [called, ...given]: readonly (string | null)[],
): "yes" | "maybe" | "no" {
  const [name = "", ...wanted] = dropGlobalOptions(rule.words);
  if (typeof called !== "string" || called !== normalizeProgram(name)) return "no";
  const meant = given.map((word) => normalizeOption(called, word));
  const options = wanted.map((word) => normalizeOption(called, word)).filter(isOption);
  const missing = options.some((option) => !hasOption(option, meant));
  const names = wanted.filter((word) => !isOption(word));
  const plain = matchWords(names, called === "npm" ? expandAbbreviation(given, names[0] ?? "") : given);
  if (plain === "no" && called === "git" && mayBeAlias(given[0] ?? "status")) return "maybe";
  if (plain === "no" || (missing && !given.includes(null))) return "no";
  return missing ? "maybe" : plain;
}

/** Whether a rule about written files covers this path. Its pattern is relative to the root. */
export function coversWrite({ writes }: CommandRule, paths: readonly string[]): boolean {
  if (writes === undefined || paths.length === 0) return false;
  return paths.every(createGlobMatcher(writes, { caseSensitive: true }));
}

/** In a text, a command may begin after these characters, whatever program reads the text. */
const COMMAND_START =
  /(?:[\n"'`(!;|&=*{[,]|\b\d*e |\b(?:\w*command|do|else|env|exec|run|sh|shell|spawn|sudo|system|then|xargs)[ :])[ \t]*(?:[.~]?(?:\/[\w.-]+)+\/)?$/i;

/** Whether the rule's words appear in a text one after the other, as in a list or a command line. */
export function doWordsOccur(rule: CommandRule, text: string): boolean {
  const [name = ""] = rule.words;
  if (name === "" || rule.isUnclear) return false;
  const all = `\n${text}`;
  for (let at = all.indexOf(name); at !== -1; at = all.indexOf(name, at + 1)) {
    const given = all.slice(at, at + 300);
    const isKey = /^["']\s*[\]:]/.test(given.slice(name.length));
    const begins = !isKey && COMMAND_START.test(all.slice(Math.max(at - 100, 0), at));
    if (begins && matchRule(rule, given.split(/[^\w.+/@:%=-]+/)) === "yes") return true;
  }
  return false;
}

function normalizeProgram(program: string): string {
  return baseName(program)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat)$/, "");
}

function dropGlobalOptions<Word extends string | null>(words: readonly Word[]): readonly Word[] {
  const [program] = words;
  if (program === null || program === undefined || normalizeProgram(program) !== "git") return words;
  return [program, ...words.slice(findGitSubcommand(words))];
}

function isOption(word: string | null): word is string {
  return word !== null && word.length > 1 && word.startsWith("-");
}

/**
 * Normalizes other spellings of `-f` and `-r` for rm and git: the long names, `-R`, and a `+` before a ref that is
 * pushed.
 */
function normalizeOption(program: string, word: string | null): string | null {
  if (word === null || !/^(?:rm|git)$/.test(program)) return word;
  const long = /^--[a-z]{2,}(?==|$)/.exec(word)?.[0] ?? "";
  if (long !== "" && "--force".startsWith(long)) return "-f";
  if (long !== "" && "--recursive".startsWith(long)) return "-r";
  if (program === "git") return word.startsWith("+") ? "-f" : word;
  return /^-\w/.test(word) ? word.toLowerCase() : word;
}

/** npm accepts abbreviated subcommands, and `add` for `install`. */
function expandAbbreviation(words: readonly (string | null)[], command: string): readonly (string | null)[] {
  const at = words.findIndex((word) => !isOption(word));
  const word = words[at] ?? "";
  const isMeant = word !== "" && (command.startsWith(word) || (command === "install" && word === "add"));
  return isMeant ? words.with(at, command) : words;
}

/** `-rf` matches `-fr` and `-r -f`; `--force` matches `--force=x` and the abbreviation `--forc`. */
function hasOption(wanted: string, given: readonly (string | null)[]): boolean {
  const options = given.filter(isOption);
  if (options.includes(wanted)) return true;
  if (wanted.startsWith("--")) {
    const names = options.map((option) => option.replace(/=.*/s, ""));
    return names.some((name) => name.length > 3 && wanted.startsWith(name));
  }
  const letters = options.filter((option) => !option.startsWith("--")).join("");
  return [...wanted].every((letter) => letters.includes(letter));
}

/**
 * The rule's plain words must come first and in order; options, with or without a value, may stand between them. Tries
 * all combinations at once.
 */
function matchWords(wanted: readonly string[], given: readonly (string | null)[]): "yes" | "maybe" | "no" {
  let starts = new Set([0]);
  for (const word of wanted) {
    const ends = new Set<number>();
    for (let at = Math.min(...starts); at < given.length; at += 1) {
      if (!starts.has(at)) continue;
      const next = given[at];
      if (next === null) return "maybe";
      if (next === word) ends.add(at + 1);
      if (isOption(next ?? null)) starts.add(at + 1).add(at + 2);
    }
    if (ends.size === 0) return "no";
    starts = ends;
  }
  return "yes";
}
