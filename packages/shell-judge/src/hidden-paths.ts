import { globCovers, globMatcher } from "@burin/contract/patterns/glob-pattern";
import { type CommandPlace, CommandReach, isIn, matchesAll } from "./command-place.ts";
import { allCommandWords, type CommandWords } from "./command-words.ts";
import type { ShellCommand, SimpleCommand } from "./grammar/command-parts.ts";
import { handedByFind } from "./programs/find.ts";
import { shownByGit } from "./programs/git-shown.ts";
import { baseName } from "./programs/launches.ts";
import { type Rule, SHELL_TOOL } from "./rules.ts";
import type { Verdict } from "./verdict.ts";

interface Hidden {
  readonly text: string;
  /** It is about more than changes, so that what git shows of the path counts. */
  readonly isRead: boolean;
  /** For a word as it is. */
  readonly matches: (path: string) => boolean;
  /** For a path from the root: the path itself or a folder above it. */
  readonly covers: (path: string) => boolean;
}

/** What no other tool may read no command may: as its words are spelled, where they lead, and what is below them. */
export function hiddenPath(
  line: ShellCommand,
  deny: readonly Rule[],
  place: CommandPlace | undefined,
): Verdict | null {
  const hidden = deny.flatMap(({ text, tool, pattern }) => {
    if (pattern === undefined || tool === SHELL_TOOL || pattern.startsWith("domain:")) return [];
    const glob = pattern.replace(/^\.\//, "");
    const matches = globMatcher(glob, { caseSensitive: false });
    const isRead = !/^(?:edit|write_file)$/.test(tool);
    return [{ text, isRead, matches, covers: globCovers(glob, { caseSensitive: false }) }];
  });
  if (hidden.length === 0) return null;
  const reach = new CommandReach(place);
  let found = foundIn(allCommandWords({ ...line, commands: [] }), hidden, reach);
  for (const command of reach.inTurn(line.commands)) {
    const words = allCommandWords({ ...line, commands: [command], problems: [], evaluated: [] });
    found ??= foundIn([...words, ...fed(command)], hidden, reach);
  }
  if (found === undefined) return null;
  const { rule, part } = found;
  const reason = `\`${part}\` may reach a file that the rule deny ${rule.text} keeps from other tools`;
  return { verdict: "ask", reason, part, rule: rule.text, grants: [] };
}

function fed({ text, redirections }: SimpleCommand): CommandWords[] {
  const targets = redirections.filter(({ kind }) => kind === "read" || kind === "write");
  return targets.map(({ target, isGlob }) => ({ words: ["", isGlob ? null : target], part: text }));
}

function foundIn(
  commands: readonly CommandWords[],
  hidden: readonly Hidden[],
  reach: CommandReach,
): { readonly rule: Hidden; readonly part: string } | undefined {
  for (const [index, { words, part, isText }] of commands.entries()) {
    // A nested shell that changes its folder is not followed.
    const isLost = words[0] === "pushd" || (index > 0 && words[0] === "cd");
    // A text has no program before its words.
    const rule = isLost ? hidden[0] : ruleFor(isText ? ["", ...words] : words, hidden, reach);
    if (rule !== undefined) return { rule, part };
  }
  return undefined;
}

function ruleFor(words: CommandWords["words"], hidden: readonly Hidden[], reach: CommandReach) {
  const name = baseName(words[0] ?? "");
  for (const word of words.slice(1)) {
    if (word === null || NAMES_MORE.test(word)) return hidden[0];
    const spelled = spellings(word, name);
    const places = spelled.flatMap((path) => reach.placesOf(path));
    const rule = hidden.find(({ matches, covers }) => spelled.some(matches) || places.some(covers));
    if (rule !== undefined) return rule;
  }
  const given = words.filter((word) => word !== null);
  const below = readBelow(name, given, reach);
  const rule = below === null ? hidden[0] : hidden.find(({ covers }) => below.some(covers));
  const read = hidden.filter(({ isRead }) => isRead);
  if (rule !== undefined || name !== "git" || read.length === 0) return rule;
  const shown = pathsOfGit(given, reach);
  return shown === null ? read[0] : read.find(({ covers }) => shown.some(covers));
}

/** A list of files, or what the system calls the files of a process. */
const NAMES_MORE = /^--(?:files0?-from|pathspec-from|from-file)|^\/proc\//;
/** They print their words, or keep them as a message. */
const TAKES_TEXT = /^(?:echo|printf|git|gh)$/;

/** The parts of a word that may be a path: after `--option=` or `-o`, after `HEAD:` or `@`, in a script. */
function spellings(word: string, program: string): string[] {
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
/** Whatever folder they get, they read what is in it. */
const READS_FOLDERS = /^(?:diff|[bg]?s?d?tar|cp|mv|ln|rsync|scp|zip|7z|cpio|pax|jar|install)$/;
const RECURSES = /^(?:-[A-Za-z]*[rRd]|--(?:d|rec))/;
const GIVES_PATTERN = /^(?:-[A-Za-z]*[ef]$|--regexp|--file)/;
/** The next word is a filter, neither the pattern nor a folder. */
const TAKES_FILTER = /^(?:-[A-Za-z]*[gtT]|--(?:i?glob|type(?:-not)?|(?:in|ex)clude(?:-dir)?))$/;
const SEES_DOT_FILES = /^-(?:[A-Za-z]*[ug.]|-hid|-unr|-i?glob)/;

/** Every file that a program reads without being given its name; null when that is unknown. */
function readBelow(name: string, words: readonly string[], reach: CommandReach): string[] | null {
  if (name === "find") return filesHandedByFind(words, reach);
  if (/^fd(?:find)?$/.test(name))
    return words.some((word) => /^(?:-[xX]|--exec)/.test(word)) ? filesIn(".", true, reach) : [];
  // Otherwise it reads only what it keeps.
  const isGitGrep = name === "git" && words.some((word) => /^--(?:no-i|unt)/.test(word));
  const searches =
    SEARCHERS.test(name) || isGitGrep || (GREPS.test(name) && words.some((word) => RECURSES.test(word)));
  if (!searches && !READS_FOLDERS.test(name)) return [];
  if (isToldByFiles(name, words)) return null;
  const operands = words.slice(isGitGrep ? words.indexOf("grep") + 1 : 1).filter((word) => !/^-./.test(word));
  // A number may be the value of an option, and then the next word the pattern.
  const isUnclear = words.some((word) => GIVES_PATTERN.test(word) || /^\d+$/.test(word));
  const folders = isUnclear || !searches ? operands : operands.slice(1);
  // ripgrep skips names with a leading dot unless an option says otherwise.
  const seesAll = name !== "rg" || words.some((word) => SEES_DOT_FILES.test(word));
  const below = folders.map((folder) => filesIn(folder, seesAll, reach));
  const namesFolder = operands.length > 1 + words.filter((word) => TAKES_FILTER.test(word)).length;
  if (searches && (isUnclear || !namesFolder || below.every((files) => files?.length === 0)))
    below.push(filesIn(".", seesAll, reach));
  return below.includes(null) ? null : below.flatMap((files) => files ?? []);
}

/** The names are in a file or in its input, or count from another folder. */
function isToldByFiles(name: string, [, first = "", ...words]: readonly string[]): boolean {
  if (!name.endsWith("tar")) return name === "cpio" || name === "pax";
  return /^-?[a-zA-Z]*[TC]/.test(first) || words.some((word) => /^-[a-zA-Z]*[TC]|^--dir/.test(word));
}

function filesIn(folder: string, seesAll: boolean, reach: CommandReach): string[] | null {
  const files = reach.pathsBelow(folder);
  if (seesAll || files === null) return files;
  const starts = reach.placesOf(folder).map((place) => place.length);
  return files.filter((path) => starts.some((start) => !/(?:^|\/)\./.test(path.slice(start))));
}

function filesHandedByFind(words: readonly string[], reach: CommandReach): string[] | null {
  const from = words.findLastIndex((word) => /^-(?:exec|ok)(?:dir)?$/.test(word));
  if (from === -1) return [];
  const found = words.map((value) => ({ value, isGlob: false }));
  const { folders, names, hasLinks } = handedByFind(found, from + 1);
  const below = folders.map((folder) => reach.pathsBelow(folder));
  if (below.includes(null)) return null;
  const handed = below.flatMap((files) => files ?? []).filter((path) => matchesAll(baseName(path), names));
  return hasLinks ? handed.flatMap((path) => reach.placesOf(`${reach.top}/${path}`)) : handed;
}

/** Every path whose content git may show; null when that is unknown. */
function pathsOfGit(words: readonly string[], reach: CommandReach): string[] | null {
  const shown = shownByGit(words);
  if (shown === null) return [];
  const { revisions, below, ends } = shown;
  const kept = revisions === null ? null : reach.pathsInGit(revisions);
  if (kept === null) return null;
  const folders = below?.flatMap((path) => reach.placesOf(path));
  if (folders !== undefined) return kept.filter((path) => folders.some((folder) => isIn(path, folder)));
  return ends === undefined
    ? kept
    : kept.filter((path) => ends.some((part) => `/${path}/`.includes(`/${part}/`)));
}
