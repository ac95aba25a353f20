import { globCovers, globMatcher } from "@burin/contract/patterns/glob-pattern";
import { SHELL_TOOL } from "./command-pattern.ts";
import { type CommandPlace, CommandReach, matchesAll } from "./command-place.ts";
import { allCommandWords, type CommandWords } from "./command-words.ts";
import type { ShellCommand, SimpleCommand } from "./grammar/command-parts.ts";
import { handedByFind } from "./programs/find.ts";
import { baseName } from "./programs/launches.ts";
import type { Rule } from "./rules.ts";
import type { Verdict } from "./verdict.ts";

interface Hidden {
  readonly text: string;
  /** For a word as it is. */
  readonly matches: (path: string) => boolean;
  /** For a path from the root: the path itself or a folder above it. */
  readonly covers: (path: string) => boolean;
}

interface Found {
  readonly rule: Hidden;
  readonly part: string;
}

/**
 * A path that no other tool may read must not be read by a command either, as far as its words show it: as they are
 * spelled, where they lead, and what is below a folder that is searched.
 */
export function hiddenPath(
  line: ShellCommand,
  deny: readonly Rule[],
  place: CommandPlace | undefined,
): Verdict | null {
  const hidden = deny.flatMap(({ text, tool, pattern }) => {
    if (pattern === undefined || tool === SHELL_TOOL || pattern.startsWith("domain:")) return [];
    const glob = pattern.replace(/^\.\//, "");
    const matches = globMatcher(glob, { caseSensitive: false });
    return [{ text, matches, covers: globCovers(glob, { caseSensitive: false }) }];
  });
  if (hidden.length === 0) return null;
  const reach = new CommandReach(place);
  let found = foundIn(allCommandWords({ ...line, commands: [] }), hidden, reach);
  for (const command of reach.inTurn(line.commands)) {
    const words = allCommandWords({ ...line, commands: [command], problems: [] });
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
): Found | undefined {
  for (const [index, { words, part }] of commands.entries()) {
    // A nested shell that changes its folder is not followed.
    const isLost = words[0] === "pushd" || (index > 0 && words[0] === "cd");
    const rule = isLost ? hidden[0] : ruleFor(words, hidden, reach);
    if (rule !== undefined) return { rule, part };
  }
  return undefined;
}

function ruleFor(words: CommandWords["words"], hidden: readonly Hidden[], reach: CommandReach) {
  for (const word of words.slice(1)) {
    if (word === null) return hidden[0];
    const spelled = spellings(word);
    const places = spelled.flatMap((path) => reach.placesOf(path));
    const rule = hidden.find(({ matches, covers }) => spelled.some(matches) || places.some(covers));
    if (rule !== undefined) return rule;
  }
  const read = searchedFiles(words, reach);
  return read === null ? hidden[0] : hidden.find(({ covers }) => read.some(covers));
}

/** The parts of a word that may be a path: after `--option=` or `-o`, after `HEAD:` or `@`. */
function spellings(word: string): string[] {
  const plain = word.replace(/^(?:--?[\w-]+=|\w+=|@|\.\/+)/, "").replace(/\/+$/, "");
  const attached = /^-\w(.+)$/.exec(word)?.[1];
  const inCommit = /:([^:]+)$/.exec(word)?.[1]?.replace(/^\.\/+/, "");
  return [plain, attached, inCommit].filter((path) => path !== undefined && path !== "") as string[];
}

const SEARCHERS: ReadonlySet<string | undefined> = new Set(["rg", "ag", "ack"]);
const GREPS: ReadonlySet<string | undefined> = new Set(["grep", "egrep", "fgrep", "zgrep"]);
const RECURSES = /^(?:-[A-Za-z]*[rR]|-d(?:recurse)?$|--(?:dereference-)?rec|--directories=rec)/;
const GIVES_PATTERN = /^(?:-[A-Za-z]*[ef]$|--regexp|--file)/;
const SEES_DOT_FILES = /^-(?:[A-Za-z]*[ug.]|-hid|-unr|-i?glob)/;

/** Every file that a program reads without being given its name; null when that is unknown. */
function searchedFiles(all: CommandWords["words"], reach: CommandReach): string[] | null {
  const words = all.filter((word) => word !== null);
  const name = words[0]?.split("/").at(-1);
  if (name === "find") return filesHandedByFind(words, reach);
  const isGitGrep = name === "git" && words.includes("grep");
  const recurses = words.some((word) => RECURSES.test(word));
  const searches = SEARCHERS.has(name) || isGitGrep || ((GREPS.has(name) || name === "diff") && recurses);
  if (!searches) return [];
  const operands = words.slice(isGitGrep ? words.indexOf("grep") + 1 : 1).filter((word) => !/^-./.test(word));
  // A number may be the value of an option, and then the next word the pattern.
  const isUnclear = words.some((word) => GIVES_PATTERN.test(word) || /^\d+$/.test(word));
  const folders = isUnclear || name === "diff" ? operands : operands.slice(1);
  const below = folders.map((folder) => reach.pathsBelow(folder));
  if (isUnclear || below.every((files) => files?.length === 0)) below.push(reach.pathsBelow("."));
  if (below.includes(null)) return null;
  const files = below.flatMap((found) => found ?? []);
  // ripgrep skips names with a leading dot unless an option says otherwise.
  const seesAll = name !== "rg" || words.some((word) => SEES_DOT_FILES.test(word));
  return seesAll ? files : files.filter((path) => !/(?:^|\/)\./.test(path));
}

function filesHandedByFind(words: readonly string[], reach: CommandReach): string[] | null {
  const from = words.findIndex((word) => /^-(?:exec|ok)(?:dir)?$/.test(word));
  if (from === -1) return [];
  const found = words.map((value) => ({ value, isGlob: false }));
  const { folders, names } = handedByFind(found, from + 1);
  const below = folders.map((folder) => reach.pathsBelow(folder));
  if (below.includes(null)) return null;
  return below.flatMap((files) => files ?? []).filter((path) => matchesAll(baseName(path), names));
}
