import { type CommandPlace, CommandReach } from "./command-place.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { baseName, launchesOf } from "./programs/launches.ts";
import { isKnown } from "./programs/read-program.ts";
import { setOf } from "./tables.ts";

/** What the words of a command line say about the files that it changes. Paths are relative to the root. */
export interface NamedWrites {
  /** Protected paths that the words name, whether they exist or not. */
  readonly paths: readonly string[];
  /** What is removed or moved away with all that is in it. */
  readonly removed: readonly string[];
  /** Folders of which all that is in them is changed. */
  readonly changed: readonly string[];
  /** The words of each git command, and the folder that it runs in. */
  readonly git: readonly { readonly folder: string; readonly words: readonly string[] }[];
  /** It has a program whose words do not say what it does, such as a script. */
  readonly startsOthers: boolean;
}

const DEEPEST = 4;
/** They put what the first words name into the folder that the last one names. */
const COPIES = setOf("cp mv ln install rsync");
const REMOVES = setOf("rm mv rmdir unlink shred trash");
/** They change the mode or the owner of all that is in a folder. */
const CHANGES_MODES = setOf("chmod chown chgrp");
/** They do nothing else than their words say. */
const SAYS_ALL = setOf("mkdir touch tee dd truncate sync sleep kill pkill curl wget tar zip unzip gzip");
/** They show what they name, and write nothing there. */
const ONLY_SHOWS = setOf(
  "cat bat head tail less more grep egrep fgrep rg ag ls stat file wc diff cmp test [ echo printf find fd source . md5sum sha256sum jq",
);

/** What a user who approves the line approves it to write. Words that are known only when it runs are not in it. */
export function namedWrites(command: string, place: CommandPlace): NamedWrites {
  const found = new Found();
  readLine(command, new CommandReach(place), { found, depth: 0 });
  return {
    paths: [...found.paths],
    removed: [...found.removed],
    changed: [...found.changed],
    git: found.git,
    startsOthers: found.startsOthers,
  };
}

class Found {
  readonly paths = new Set<string>();
  readonly removed = new Set<string>();
  readonly changed = new Set<string>();
  readonly git: { folder: string; words: readonly string[] }[] = [];
  startsOthers = false;
}

interface Reading {
  readonly found: Found;
  readonly depth: number;
}

function readLine(line: string, reach: CommandReach, reading: Reading): void {
  const parsed = parseShellCommand(line);
  for (const command of reach.inTurn(parsed.commands)) {
    for (const { kind, target } of command.redirections)
      if (kind === "write" && target !== null) note(target, reach, reading.found);
    const words = command.words.map(({ value }) => value ?? "");
    if (words.length > 0) readWords(words, reach, reading);
  }
}

function readWords(words: readonly string[], reach: CommandReach, reading: Reading): void {
  const { found, depth } = reading;
  const launches = depth > DEEPEST ? [] : launchesOf(words);
  for (const launch of launches) {
    const inner = { ...reading, depth: depth + 1 };
    if (launch.kind === "words") readWords(words.slice(launch.from, launch.to), reach, inner);
    else if (launch.kind === "script" && launch.text !== null) readLine(launch.text, reach.inner(), inner);
  }
  const name = baseName(words[0] ?? "");
  if (!saysAll(name) && !launches.some(({ kind }) => kind !== "unseen")) found.startsOthers = true;
  if (name === "git") readGit(words, reach, found);
  else if (!ONLY_SHOWS.has(name) && !launches.some(({ kind }) => kind === "words"))
    readOperands(words, reach, found);
}

function saysAll(name: string): boolean {
  const isListed = [COPIES, REMOVES, CHANGES_MODES, SAYS_ALL, ONLY_SHOWS].some((names) => names.has(name));
  return isListed ? !/^(?:\.|source)$/.test(name) : isKnown(name);
}

function readOperands([program = "", ...words]: readonly string[], reach: CommandReach, found: Found): void {
  const name = baseName(program);
  const operands = words.filter((word) => word !== "" && !word.startsWith("-"));
  const others = operands.slice(0, -1);
  if (REMOVES.has(name))
    for (const path of (name === "mv" ? others : operands).flatMap((one) => reach.placesOf(one)))
      found.removed.add(path);
  if (CHANGES_MODES.has(name) && words.some((word) => /^(?:-\w*R|--recursive)/.test(word)))
    for (const path of operands.slice(1).flatMap((one) => reach.placesOf(one))) found.changed.add(path);
  if (COPIES.has(name))
    for (const source of others) note(`${operands.at(-1)}/${lastSegment(source)}`, reach, found);
  const isRead = (word: string) => COPIES.has(name) && name !== "mv" && others.includes(word);
  for (const word of words) if (!isRead(word)) for (const path of pathsIn(word)) note(path, reach, found);
}

function lastSegment(path: string): string {
  return path.split("/").filter(Boolean).at(-1) ?? "";
}

/** The word itself, and the value of an option that is written together with its name. */
function pathsIn(word: string): Set<string> {
  const value = word.replace(/^-{0,2}[\w-]+=/, "");
  return new Set([word, value, ...(/^-\w/.test(word) ? [word.slice(2)] : [])].filter((path) => path !== ""));
}

/** A name of git's own folder stands for the repository, not for what is changed in it. */
function note(path: string, reach: CommandReach, found: Found): void {
  if (path.startsWith("-") || /(?:^|\/)\.git\/*$/.test(path) || reach.protectedBy(path) === null) return;
  for (const place of reach.placesOf(path)) found.paths.add(place);
}

function readGit(words: readonly string[], reach: CommandReach, found: Found): void {
  let at = 1;
  let folder = reach;
  for (; at < words.length && words[at]?.startsWith("-"); at += 1) {
    if (words[at] === "-C") folder = folder.from(words[at + 1] ?? ".");
    if (/^-[Cc]$|^--(?:git-dir|work-tree|namespace|exec-path|config-env)$/.test(words[at] ?? "")) at += 1;
  }
  for (const place of folder.placesOf(".")) found.git.push({ folder: place, words: words.slice(at) });
}
