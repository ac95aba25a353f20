import { type CommandLocation, CommandReach } from "./command-place.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { baseName, listLaunches } from "./programs/launches.ts";
import { isKnown } from "./programs/read-program.ts";
import { createSet } from "./tables.ts";

/** What the words of a command line say about the files that it changes. Paths are relative to the root. */
export interface CommandWrites {
  /** Protected paths that the words name, whether they exist or not. */
  readonly paths: readonly string[];
  /** Files and folders that are removed or moved, with everything in them. */
  readonly removed: readonly string[];
  /** Folders whose whole content is changed. */
  readonly changed: readonly string[];
  /** The words of each git command, and the folder that it runs in. */
  readonly git: readonly { readonly folder: string; readonly words: readonly string[] }[];
  /** It contains a program whose words do not say what it does, such as a script. */
  readonly startsOthers: boolean;
}

const MAX_DEPTH = 4;
/** They put what the first words name into the folder that the last one names. */
const COPIES = createSet("cp mv ln install rsync");
const REMOVES = createSet("rm mv rmdir unlink shred trash");
/** They change the mode or the owner of all that is in a folder. */
const CHANGES_MODES = createSet("chmod chown chgrp");
/** They do nothing else than their words say. */
const SELF_CONTAINED = createSet(
  "mkdir touch tee dd truncate sync sleep kill pkill curl wget tar zip unzip gzip",
);
/** They show what they name, and write nothing there. */
const ONLY_SHOWS = createSet(
  "cat bat head tail less more grep egrep fgrep rg ag ls stat file wc diff cmp test [ echo printf find fd source . md5sum sha256sum jq",
);

/** Finds what a user approves for writing by approving the line. Words that are known only at run time are left out. */
export function findCommandWrites(command: string, place: CommandLocation): CommandWrites {
  const found = new WriteCollector();
  readLine(command, new CommandReach(place), { found, depth: 0 });
  return {
    paths: [...found.paths],
    removed: [...found.removed],
    changed: [...found.changed],
    git: found.git,
    startsOthers: found.startsOthers,
  };
}

class WriteCollector {
  readonly paths = new Set<string>();
  readonly removed = new Set<string>();
  readonly changed = new Set<string>();
  readonly git: { folder: string; words: readonly string[] }[] = [];
  startsOthers = false;
}

interface ReadContext {
  readonly found: WriteCollector;
  readonly depth: number;
}

function readLine(line: string, reach: CommandReach, reading: ReadContext): void {
  const parsed = parseShellCommand(line);
  for (const command of reach.eachInOrder(parsed.commands)) {
    for (const { kind, target } of command.redirections)
      if (kind === "write" && target !== null) noteWrite(target, reach, reading.found);
    const words = command.words.map(({ value }) => value ?? "");
    if (words.length > 0) readWords(words, reach, reading);
  }
}

function readWords(words: readonly string[], reach: CommandReach, reading: ReadContext): void {
  const { found, depth } = reading;
  const launches = depth > MAX_DEPTH ? [] : listLaunches(words);
  for (const launch of launches) {
    const inner = { ...reading, depth: depth + 1 };
    if (launch.kind === "words") readWords(words.slice(launch.from, launch.to), reach, inner);
    else if (launch.kind === "script" && launch.text !== null) readLine(launch.text, reach.enter(), inner);
  }
  const name = baseName(words[0] ?? "");
  if (!isSelfContained(name) && !launches.some(({ kind }) => kind !== "unseen")) found.startsOthers = true;
  if (name === "git") readGit(words, reach, found);
  else if (!ONLY_SHOWS.has(name) && !launches.some(({ kind }) => kind === "words"))
    readOperands(words, reach, found);
}

function isSelfContained(name: string): boolean {
  const isListed = [COPIES, REMOVES, CHANGES_MODES, SELF_CONTAINED, ONLY_SHOWS].some((names) =>
    names.has(name),
  );
  return isListed ? !/^(?:\.|source)$/.test(name) : isKnown(name);
}

function readOperands(
  [program = "", ...words]: readonly string[],
  reach: CommandReach,
  found: WriteCollector,
): void {
  const name = baseName(program);
  const operands = words.filter((word) => word !== "" && !word.startsWith("-"));
  const others = operands.slice(0, -1);
  if (REMOVES.has(name))
    for (const path of (name === "mv" ? others : operands).flatMap((one) => reach.listLocations(one)))
      found.removed.add(path);
  if (CHANGES_MODES.has(name) && words.some((word) => /^(?:-\w*R|--recursive)/.test(word)))
    for (const path of operands.slice(1).flatMap((one) => reach.listLocations(one))) found.changed.add(path);
  if (COPIES.has(name))
    for (const source of others) noteWrite(`${operands.at(-1)}/${readLastSegment(source)}`, reach, found);
  const isRead = (word: string) => COPIES.has(name) && name !== "mv" && others.includes(word);
  for (const word of words)
    if (!isRead(word)) for (const path of listPaths(word)) noteWrite(path, reach, found);
}

function readLastSegment(path: string): string {
  return path.split("/").filter(Boolean).at(-1) ?? "";
}

/** The word itself, and the value of an option that is written together with its name. */
function listPaths(word: string): Set<string> {
  const value = word.replace(/^-{0,2}[\w-]+=/, "");
  return new Set([word, value, ...(/^-\w/.test(word) ? [word.slice(2)] : [])].filter((path) => path !== ""));
}

/** A name inside git's own folder stands for the whole repository. */
function noteWrite(path: string, reach: CommandReach, found: WriteCollector): void {
  if (path.startsWith("-") || /(?:^|\/)\.git\/*$/.test(path) || reach.explainProtected(path) === null) return;
  for (const place of reach.listLocations(path)) found.paths.add(place);
}

function readGit(words: readonly string[], reach: CommandReach, found: WriteCollector): void {
  let at = 1;
  let folder = reach;
  for (; at < words.length && words[at]?.startsWith("-"); at += 1) {
    if (words[at] === "-C") folder = folder.moveTo(words[at + 1] ?? ".");
    if (/^-[Cc]$|^--(?:git-dir|work-tree|namespace|exec-path|config-env)$/.test(words[at] ?? "")) at += 1;
  }
  for (const place of folder.listLocations(".")) found.git.push({ folder: place, words: words.slice(at) });
}
