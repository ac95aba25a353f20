import { createGlobExcluder, createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { type CommandLocation, CommandReach, isInFolder, matchesEveryPattern } from "./command-place.ts";
import { type CommandWords, listCommands } from "./command-words.ts";
import type { ShellCommand, SimpleCommand } from "./grammar/command-parts.ts";
import { readHandedPaths } from "./programs/find.ts";
import { findGitOutput } from "./programs/git-shown.ts";
import { baseName } from "./programs/launches.ts";
import { type Rule, SHELL_TOOL } from "./rules.ts";
import type { Verdict } from "./verdict.ts";

interface HiddenRule {
  readonly text: string;
  /** true if the deny rule forbids reading too: then files whose content git prints count as well. */
  readonly isRead: boolean;
  /** Tests a path as it is spelled. */
  readonly matches: (path: string) => boolean;
  /** Tests a path relative to the root, and the folders above it. */
  readonly covers: (path: string) => boolean;
}

/**
 * Denies commands what the deny rules deny to other tools: paths as spelled, the targets of links, and everything
 * below.
 */
export function judgeDeniedPaths(
  line: ShellCommand,
  deny: readonly Rule[],
  place: CommandLocation | undefined,
): Verdict | null {
  const hidden = deny.flatMap(({ text, tool, pattern }) => {
    if (pattern === undefined || tool === SHELL_TOOL || pattern.startsWith("domain:")) return [];
    const glob = pattern.replace(/^\.\//, "");
    const matches = createGlobMatcher(glob, { caseSensitive: false });
    const isRead = !/^(?:edit|write_file)$/.test(tool);
    return [{ text, isRead, matches, covers: createGlobExcluder(glob, { caseSensitive: false }) }];
  });
  if (hidden.length === 0) return null;
  const reach = new CommandReach(place);
  let found = findHiddenPath(listCommands({ ...line, commands: [] }), hidden, reach);
  for (const command of reach.visitCommands(line.commands)) {
    const words = listCommands({ ...line, commands: [command], problems: [], evaluated: [] });
    found ??= findHiddenPath([...words, ...listRedirectionTargets(command)], hidden, reach);
  }
  if (found === undefined) return null;
  const { rule, part } = found;
  const reason = `\`${part}\` may reach a file that the rule deny ${rule.text} keeps from other tools`;
  return { verdict: "ask", reason, part, rule: rule.text, grants: [] };
}

function listRedirectionTargets({ text, redirections }: SimpleCommand): CommandWords[] {
  const targets = redirections.filter(({ kind }) => kind === "read" || kind === "write");
  return targets.map(({ target, isGlob }) => ({ words: ["", isGlob ? null : target], part: text }));
}

function findHiddenPath(
  commands: readonly CommandWords[],
  hidden: readonly HiddenRule[],
  reach: CommandReach,
): { readonly rule: HiddenRule; readonly part: string } | undefined {
  for (const [index, { words, part, isText }] of commands.entries()) {
    // Changes of folder inside a nested shell are not followed.
    const isLost = words[0] === "pushd" || (index > 0 && words[0] === "cd");
    // A text of commands does not begin with a program's name.
    const rule = isLost ? hidden[0] : findMatchingHiddenRule(isText ? ["", ...words] : words, hidden, reach);
    if (rule !== undefined) return { rule, part };
  }
  return undefined;
}

function findMatchingHiddenRule(
  words: CommandWords["words"],
  hidden: readonly HiddenRule[],
  reach: CommandReach,
) {
  const name = baseName(words[0] ?? "");
  for (const word of words.slice(1)) {
    if (word === null || LISTS_FILES.test(word)) return hidden[0];
    const spelled = listSpellings(word, name);
    const places = spelled.flatMap((path) => reach.listLocations(path));
    const rule = hidden.find(({ matches, covers }) => spelled.some(matches) || places.some(covers));
    if (rule !== undefined) return rule;
  }
  const given = words.filter((word) => word !== null);
  const below = listReadFiles(name, given, reach);
  const rule = below === null ? hidden[0] : hidden.find(({ covers }) => below.some(covers));
  const read = hidden.filter(({ isRead }) => isRead);
  if (rule !== undefined || name !== "git" || read.length === 0) return rule;
  const shown = listGitPaths(given, reach);
  return shown === null ? read[0] : read.find(({ covers }) => shown.some(covers));
}

/** Options that name a list of files; and /proc, where a process's files have other names. */
const LISTS_FILES = /^--(?:files0?-from|pathspec-from|from-file)|^\/proc\//;
/** Programs that print their words, or store them as a message. */
const TAKES_TEXT = /^(?:echo|printf|git|gh)$/;

/** The parts of a word that may be a path: after `--option=` or `-o`, after `HEAD:` or `@`, in a script. */
function listSpellings(word: string, program: string): string[] {
  const plain = word.replace(/^(?:--?[\w-]+=|\w+=|@|\.\/+)/, "").replace(/(?<!\/)\/+$/, "");
  const attached = /^-\w(.+)$/.exec(word)?.[1];
  const inCommit = /:([^:]+)$/.exec(word)?.[1]?.replace(/^\.\/+/, "");
  const inScript = TAKES_TEXT.test(program) ? [] : word.split(/[\s"'`()[\]{}<>=,;|&@:]+/);
  return [plain, attached, inCommit, ...inScript].filter(
    (path) => path !== undefined && path !== "",
  ) as string[];
}

const SEARCHERS = /^(?:rga?|ag|ack|[ru]grep)$/;
const GREPS = /^[a-z]{0,2}grep$/;
/** These programs read everything inside any folder that they are given. */
const READS_FOLDERS = /^(?:diff|[bg]?s?d?tar|cp|mv|ln|rsync|scp|zip|7z|cpio|pax|jar|install)$/;
const RECURSES = /^(?:-[A-Za-z]*[rRd]|--(?:d|rec))/;
const GIVES_PATTERN = /^(?:-[A-Za-z]*[ef]$|--regexp|--file)/;
/** Options whose next word is a filter, neither the pattern nor a folder. */
const TAKES_FILTER = /^(?:-[A-Za-z]*[gtT]|--(?:i?glob|type(?:-not)?|(?:in|ex)clude(?:-dir)?))$/;
const SEES_DOT_FILES = /^-(?:[A-Za-z]*[ug.]|-hid|-unr|-i?glob)/;

/** Lists the files that a program reads without being given their names; null if that is unknown. */
function listReadFiles(name: string, words: readonly string[], reach: CommandReach): string[] | null {
  if (name === "find") return listFindFiles(words, reach);
  if (/^fd(?:find)?$/.test(name))
    return words.some((word) => /^(?:-[xX]|--exec)/.test(word)) ? listFiles(".", true, reach) : [];
  // Without such a word, git reads only its own store.
  const isGitGrep = name === "git" && words.some((word) => /^--(?:no-i|unt)/.test(word));
  const searches =
    SEARCHERS.test(name) || isGitGrep || (GREPS.test(name) && words.some((word) => RECURSES.test(word)));
  if (!searches && !READS_FOLDERS.test(name)) return [];
  if (readsNamesFromFile(name, words)) return null;
  const operands = words.slice(isGitGrep ? words.indexOf("grep") + 1 : 1).filter((word) => !/^-./.test(word));
  // A number may be the value of an option; then the next word is the pattern.
  const isUnclear = words.some((word) => GIVES_PATTERN.test(word) || /^\d+$/.test(word));
  const folders = isUnclear || !searches ? operands : operands.slice(1);
  // ripgrep skips names with a leading dot unless an option says otherwise.
  const seesAll = name !== "rg" || words.some((word) => SEES_DOT_FILES.test(word));
  const below = folders.map((folder) => listFiles(folder, seesAll, reach));
  const namesFolder = operands.length > 1 + words.filter((word) => TAKES_FILTER.test(word)).length;
  if (searches && (isUnclear || !namesFolder || below.every((files) => files?.length === 0)))
    below.push(listFiles(".", seesAll, reach));
  return below.includes(null) ? null : below.flatMap((files) => files ?? []);
}

/** The names come from a file or from standard input, or are relative to another folder. */
function readsNamesFromFile(name: string, [, first = "", ...words]: readonly string[]): boolean {
  if (!name.endsWith("tar")) return name === "cpio" || name === "pax";
  return /^-?[a-zA-Z]*[TC]/.test(first) || words.some((word) => /^-[a-zA-Z]*[TC]|^--dir/.test(word));
}

function listFiles(folder: string, seesAll: boolean, reach: CommandReach): string[] | null {
  const files = reach.listPathsBelow(folder);
  if (seesAll || files === null) return files;
  const starts = reach.listLocations(folder).map((place) => place.length);
  return files.filter((path) => starts.some((start) => !/(?:^|\/)\./.test(path.slice(start))));
}

function listFindFiles(words: readonly string[], reach: CommandReach): string[] | null {
  const from = words.findLastIndex((word) => /^-(?:exec|ok)(?:dir)?$/.test(word));
  if (from === -1) return [];
  const found = words.map((value) => ({ value, isGlob: false }));
  const { folders, names, hasLinks } = readHandedPaths(found, from + 1);
  const below = folders.map((folder) => reach.listPathsBelow(folder));
  if (below.includes(null)) return null;
  const handed = below
    .flatMap((files) => files ?? [])
    .filter((path) => matchesEveryPattern(baseName(path), names));
  return hasLinks ? handed.flatMap((path) => reach.listLocations(`${reach.top}/${path}`)) : handed;
}

/** Returns every path whose content git may show; null when that is unknown. */
function listGitPaths(words: readonly string[], reach: CommandReach): string[] | null {
  const shown = findGitOutput(words);
  if (shown === null) return [];
  const { revisions, below, ends } = shown;
  const kept = revisions === null ? null : reach.listGitPaths(revisions);
  if (kept === null) return null;
  const folders = below?.flatMap((path) => reach.listLocations(path));
  if (folders !== undefined) return kept.filter((path) => folders.some((folder) => isInFolder(path, folder)));
  return ends === undefined
    ? kept
    : kept.filter((path) => ends.some((part) => `/${path}/`.includes(`/${part}/`)));
}
