import { createWordSet } from "@burin/contract/text/words";
import { type CommandLocation, CommandReach } from "./command-place.ts";
import { findNameSources, findPrintedNameSources, type NameSource, readFind } from "./found-names.ts";
import type { ShellWord, SimpleCommand } from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { baseName, listLaunches, SHELLS } from "./programs/launches.ts";
import { hasReader } from "./programs/read-program.ts";

/** What the words of a command line say about the files that it changes. Paths are relative to the root. */
export interface CommandWrites {
  /** Protected paths that the words name, whether they exist or not. */
  readonly paths: readonly string[];
  /** Files and folders that are removed or moved, with everything in them. */
  readonly removed: readonly string[];
  /** Folders whose whole content is changed. */
  readonly changed: readonly string[];
  /** Changes and deletions under names that only the disk knows. `folder` is where the command runs. */
  readonly found: readonly FoundWrite[];
  /** The words of each git command, and the folder that it runs in. */
  readonly git: readonly { readonly folder: string; readonly words: readonly string[] }[];
  /** The files that a shell runs as scripts, or that are run by their path, each with the folder that it runs in. */
  readonly scripts: readonly { readonly folder: string; readonly path: string }[];
  /** true if the line contains a program whose words do not say what it does, such as a script. */
  readonly startsOthers: boolean;
}

export interface FoundWrite {
  readonly folder: string;
  readonly source: NameSource;
  /** true if the name stands for a folder with everything in it. */
  readonly isWhole: boolean;
}

const MAX_DEPTH = 4;
/** Programs that put what the first words name into the folder that the last word names. */
const COPIES = createWordSet("cp mv ln install rsync");
const REMOVES = createWordSet("rm mv rmdir unlink shred trash");
/** Programs that change the mode or the owner of everything in a folder. */
const CHANGES_MODES = createWordSet("chmod chown chgrp");
/** Programs that do exactly what their words say. */
const SELF_CONTAINED = createWordSet(
  "mkdir touch tee dd truncate sync sleep kill pkill curl wget tar zip unzip gzip",
);
/** Subcommands that show what their words name, and write nothing there. */
const ONLY_SHOWS = createWordSet(
  "cat bat head tail less more grep egrep fgrep rg ag ls stat file wc diff cmp test [ echo printf find fd source . md5sum sha256sum jq",
);

/** Finds what a user approves for writing by approving the line. Words that are known only at run time are left out. */
export function findCommandWrites(command: string, place: CommandLocation): CommandWrites {
  const found = new WriteCollector();
  collectLineWrites(command, new CommandReach(place), { found, depth: 0 });
  return {
    paths: [...found.paths],
    removed: [...found.removed],
    changed: [...found.changed],
    found: found.found,
    git: found.git,
    scripts: found.scripts,
    startsOthers: found.startsOthers,
  };
}

class WriteCollector {
  readonly paths = new Set<string>();
  readonly removed = new Set<string>();
  readonly changed = new Set<string>();
  readonly found: FoundWrite[] = [];
  readonly git: { folder: string; words: readonly string[] }[] = [];
  readonly scripts: { folder: string; path: string }[] = [];
  startsOthers = false;
}

interface ReadContext {
  readonly found: WriteCollector;
  readonly depth: number;
  /**
   * The words that another program passes to the command, and the word that they replace; absent if they are added at
   * the end.
   */
  readonly handed?: { readonly sources: readonly NameSource[]; readonly placeholder?: string | undefined };
}

function collectLineWrites(line: string, reach: CommandReach, reading: ReadContext): void {
  const parsed = parseShellCommand(line);
  for (const command of reach.visitCommands(parsed.commands)) {
    for (const { kind, target } of command.redirections)
      if (kind === "write" && target !== null) noteWrite(target, reach, reading.found);
    if (command.words.length > 0) collectCommandWrites(command, reach, reading);
  }
}

function collectCommandWrites(command: SimpleCommand, reach: CommandReach, reading: ReadContext): void {
  const { found, depth } = reading;
  const words = command.words.map(({ value }) => value ?? "");
  const name = baseName(words[0] ?? "");
  const launches = depth > MAX_DEPTH ? [] : listLaunches(words);
  for (const launch of launches) {
    if (launch.kind === "unseen") continue;
    const handed = findPassedNames(name, command, launch) ?? reading.handed;
    const inner: ReadContext = { found, depth: depth + 1, ...(handed && { handed }) };
    if (launch.kind === "words")
      collectCommandWrites({ ...command, words: command.words.slice(launch.from, launch.to) }, reach, inner);
    else if (launch.text !== null) collectLineWrites(launch.text, reach.createInnerReach(), inner);
  }
  if (!isSelfContained(name) && !launches.some(({ kind }) => kind !== "unseen")) found.startsOthers = true;
  noteScript(words, reach, found);
  if (name === "find" && words.includes("-delete"))
    noteFound(readFind(command.words.slice(1), isDelete), { reach, found, isWhole: false });
  if (name === "git") collectGitWrites(words, reach, found);
  else if (!ONLY_SHOWS.has(name) && !launches.some(({ kind }) => kind === "words")) {
    collectOperandWrites(words, reach, found);
    noteUnknown(command.words, reach, reading);
  }
}

function noteScript([program = "", ...words]: readonly string[], reach: CommandReach, found: WriteCollector) {
  const isShell = SHELLS.has(baseName(program));
  const script = isShell ? words.find((word) => !/^[-+]/.test(word)) : program.includes("/") ? program : "";
  if (!script || (isShell && words.some((word) => /^-[a-zA-Z]*c/.test(word)))) return;
  const [folder = "."] = reach.listLocations(".");
  for (const path of reach.listLocations(script)) found.scripts.push({ folder, path });
}

const isDelete = (value: string) => value === "-delete";

/** Returns the names that find or xargs pass to the command that they launch. */
function findPassedNames(
  name: string,
  command: SimpleCommand,
  launch: ReturnType<typeof listLaunches>[number],
): ReadContext["handed"] {
  if (launch.kind !== "words") return undefined;
  const { from, placeholder } = launch;
  const own = command.words.slice(1, from);
  if (name === "find") {
    const isThis = (_: string, at: number) => at === from - 2;
    return { sources: readFind(command.words.slice(1), isThis), placeholder };
  }
  if (name !== "xargs") return undefined;
  const file = own.find((_, at) => /^(?:-a|--arg-file)$/.test(own[at - 1]?.value ?? ""))?.value;
  const read = command.redirections.find(({ kind }) => kind === "read");
  const path = file ?? read?.target;
  const sources = path ? [{ kind: "file", path } as const] : findPrintedNameSources(command.input);
  return { sources, placeholder };
}

/**
 * Returns what the command changes under names that come from patterns, from another command's output, or from a
 * launcher.
 */
function noteUnknown(all: readonly ShellWord[], reach: CommandReach, { found, handed }: ReadContext): void {
  const [program, ...words] = all;
  const name = baseName(program?.value ?? "");
  const operands = words.filter(({ value }) => value === null || !value.startsWith("-"));
  const changed = COPIES.has(name) && name !== "mv" ? [] : operands;
  const isRecursive = words.some(({ value }) => /^(?:-[a-zA-Z]*[rR]|--recursive)/.test(value ?? ""));
  const isWhole = name === "mv" || (isRecursive && (REMOVES.has(name) || CHANGES_MODES.has(name)));
  const sources = changed.flatMap((word) =>
    word.isGlob || word.value === null ? findNameSources(word) : [],
  );
  const isPlaceholderOrUnknown = ({ value }: ShellWord) =>
    value === null || value.includes(handed?.placeholder ?? "\0");
  const isHanded =
    handed !== undefined && (handed.placeholder === undefined || operands.some(isPlaceholderOrUnknown));
  noteFound([...sources, ...(isHanded ? handed.sources : [])], { reach, found, isWhole });
}

function noteFound(
  sources: readonly NameSource[],
  {
    reach,
    found,
    isWhole,
  }: { readonly reach: CommandReach; readonly found: WriteCollector; readonly isWhole: boolean },
): void {
  for (const folder of reach.listLocations("."))
    for (const source of sources) found.found.push({ folder, source, isWhole });
}

function isSelfContained(name: string): boolean {
  const isListed = [COPIES, REMOVES, CHANGES_MODES, SELF_CONTAINED, ONLY_SHOWS].some((names) =>
    names.has(name),
  );
  return isListed ? !/^(?:\.|source)$/.test(name) : hasReader(name);
}

function collectOperandWrites(
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
  const isCopySource = (word: string) => COPIES.has(name) && name !== "mv" && others.includes(word);
  for (const word of words)
    if (!isCopySource(word)) for (const path of listPaths(word)) noteWrite(path, reach, found);
}

function readLastSegment(path: string): string {
  return path.split("/").filter(Boolean).at(-1) ?? "";
}

/** Returns the word itself, and the value of an option that is attached to its name. */
function listPaths(word: string): Set<string> {
  const value = word.replace(/^-{0,2}[\w-]+=/, "");
  return new Set([word, value, ...(/^-\w/.test(word) ? [word.slice(2)] : [])].filter((path) => path !== ""));
}

/** A name inside git's own folder stands for the whole repository. */
function noteWrite(path: string, reach: CommandReach, found: WriteCollector): void {
  if (path.startsWith("-") || /(?:^|\/)\.git\/*$/.test(path) || reach.explainProtected(path) === null) return;
  for (const place of reach.listLocations(path)) found.paths.add(place);
}

function collectGitWrites(words: readonly string[], reach: CommandReach, found: WriteCollector): void {
  let at = 1;
  let folder = reach;
  for (; at < words.length && words[at]?.startsWith("-"); at += 1) {
    if (words[at] === "-C") folder = folder.moveTo(words[at + 1] ?? ".");
    if (/^-[Cc]$|^--(?:git-dir|work-tree|namespace|exec-path|config-env)$/.test(words[at] ?? "")) at += 1;
  }
  for (const place of folder.listLocations(".")) found.git.push({ folder: place, words: words.slice(at) });
}
