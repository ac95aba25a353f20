import { createWordSet } from "@burin/contract/text/words";
import { findRow } from "../tables.ts";
import { UNNAMED_FOLDER } from "./builtins.ts";
import {
  type Argument,
  BEYOND_RULES,
  createLaunchFinding,
  createUnknownFinding,
  type Finding,
  judgePath,
  type ProgramReader,
  type Reach,
} from "./finding.ts";
import { findDestructiveWord, isRestorable } from "./git-destructive.ts";
import { READING_SUBCOMMANDS, type ReadingSubcommand } from "./git-reading.ts";
import { isOneOf, type Options, readOptions } from "./options.ts";
import { hasPatternOption, readAttachedValue } from "./simple-programs.ts";

export const HARMLESS_GLOBALS = new Set(["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"]);
const GLOBALS_WITH_VALUE = createWordSet(
  "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source",
);

/** Subcommands that change the repository; an unknown one may be an alias. */
const CHANGING_SUBCOMMANDS = createWordSet(`
  add am apply archive bundle checkout checkout-index cherry-pick clean clone commit commit-tree fetch
  format-patch fsck gc init ls-remote merge mv notes prune pull push read-tree rebase reset restore
  revert rm sparse-checkout switch update-index update-ref write-tree`);

/** The other commands of git itself, which no alias can replace. */
const OTHER_SUBCOMMANDS = createWordSet(`
  bisect bugreport check-mailmap check-ref-format column commit-graph credential diagnose difftool
  fast-export fast-import fetch-pack filter-branch fmt-merge-msg for-each-repo hash-object help hook
  index-pack instaweb interpret-trailers maintenance merge-file merge-tree mergetool mktag mktree
  multi-pack-index pack-objects pack-refs patch-id prune-packed repack replace request-pull rerere
  send-pack show-branch show-index stage stripspace submodule subtree unpack-file unpack-objects
  update-server-info var verify-commit verify-pack verify-tag`);

/** Whether this subcommand may be an alias in git's settings, or another program. */
export function mayBeAlias(subcommand: string): boolean {
  return (
    !OTHER_SUBCOMMANDS.has(subcommand) &&
    !CHANGING_SUBCOMMANDS.has(subcommand) &&
    !Object.hasOwn(READING_SUBCOMMANDS, subcommand)
  );
}

/** Options of any subcommand that start or write something else. */
const LAUNCHING_LONG = `
    --upload-pack --receive-pack --exec --config --output --output-directory --ext-diff --textconv
    --open-files-in-pager --template --separate-git-dir --extcmd --tool --show-signature --filters
    --edit-description --interactive`;
const LAUNCHING_LETTERS: Readonly<Record<string, string>> = {
  clone: "uc",
  archive: "o",
  "format-patch": "o",
  rebase: "xi",
  grep: "O",
  difftool: "x",
};

/** Options whose next word is a command line. */
const LAUNCHING_WORDS = /^(?:bisect|hook|submodule)(?: -\S+)* (?:run|foreach)(?: |$)/;

/** Reading subcommands that read the files, and so submodules, in which they start git again. */
const READS_FILES = createWordSet("status diff diff-files diff-index describe grep submodule apply clean");

/** The index of the subcommand, after the options of git itself. */
export function findGitSubcommand(words: readonly (string | null)[]): number {
  let index = 1;
  while (index < words.length) {
    const word = words[index];
    if (word === null || word === undefined || !word.startsWith("-")) return index;
    index += GLOBALS_WITH_VALUE.has(word) ? 2 : 1;
  }
  return index;
}

/** Reading subcommands are allowed when nothing in them or in the repository can start a program. */
export const git: ProgramReader = (words, reach) => {
  if (isReadOnlyInOtherFolder(words, reach)) return [];
  const at = findGitSubcommand(words.map(({ value }) => value));
  const findings = judgeGlobalOptions(words.slice(0, at));
  const name = words[at]?.value;
  if (name === undefined) {
    const isHarmless = words.length === 2 && words[1]?.value === "--version";
    return isHarmless ? [] : [...findings, createUnknownFinding("`git` has no subcommand here")];
  }
  const rest = words.slice(at);
  const reading = findRow(READING_SUBCOMMANDS, name);
  const isReading =
    reading !== undefined && (reading.mostlyChanges !== true || onlyReads(rest, reading, reach));
  const destructive = findDestructiveWord(rest.map(({ value }) => value));
  if (destructive !== -1 && !(isReading && reading.mostlyChanges)) {
    const text = rest.slice(0, destructive + 1).map(({ value }) => value);
    const what = `\`git ${text.join(" ")}\` can destroy work that is not committed or not pushed`;
    const isKept = isRestorable(rest.map(({ value }) => value));
    findings.push({ nature: "destructive", what, upTo: at + destructive, isKept });
  }
  const own = isReading ? judgeReadingSubcommand(rest, reading, reach) : judgeChangingSubcommand(rest, reach);
  const changes = own.some(({ nature }) => nature !== "outside");
  const fault = reach.repositoryFault({ changes, readsFiles: READS_FILES.has(name), subcommand: name });
  if (fault !== null) {
    const nature = fault.nature === "outside" ? "outside" : "launch";
    findings.push({ nature, what: fault.what, upTo: BEYOND_RULES });
  }
  const shiftFinding = (finding: Finding) =>
    finding.nature === "unknown" ? finding : { ...finding, upTo: finding.upTo + at };
  return [...findings, ...own.map(shiftFinding)];
};

/** Whether git with `-C` only reads, judged as after a `cd` into that folder. */
function isReadOnlyInOtherFolder(words: readonly Argument[], reach: Reach): boolean {
  const at = words.findIndex(({ value }, index) => index > 0 && !HARMLESS_GLOBALS.has(value));
  const [program, folder] = [words[0], words[at + 1]];
  if (words[at]?.value !== "-C" || program === undefined || folder === undefined) return false;
  // The shell expands patterns in its own folder, and other programs print names relative to theirs.
  const isPlain = words.every(({ isGlob, below }) => !isGlob && below === undefined);
  if (!isPlain || UNNAMED_FOLDER.test(folder.value) || judgePath(folder, at, reach).length > 0) return false;
  return git([program, ...words.slice(at + 2)], reach.moveTo(folder.value)).length === 0;
}

/** Settings that only say how something is shown. */
const HARMLESS_SETTING =
  /^(?:color\.[\w.]+=(?:true|false|always|never|auto)|core\.(?:pager=(?:cat)?|quotepath=\w+)|advice\.\w+=\w+)$/i;

/** A rule must spell out the value too. */
function judgeGlobalOptions(words: readonly Argument[]): Finding[] {
  const findings: Finding[] = [];
  for (let index = 1; index < words.length; index += 1) {
    const option = words[index]?.value ?? "";
    if (HARMLESS_GLOBALS.has(option)) continue;
    if (GLOBALS_WITH_VALUE.has(option)) index += 1;
    if (option === "-c" && HARMLESS_SETTING.test(words[index]?.value ?? "")) continue;
    findings.push(createLaunchFinding(`\`git ${option}\` can make git run any program`, index));
  }
  return findings;
}

const SHOWS_SIGNATURE = /%[-+ ]?G|%\(\*?(?:signature|raw)|^-?(?:v(?:ersion)?:)?\*?signature/;

function judgeReadingSubcommand(
  words: readonly Argument[],
  reading: ReadingSubcommand,
  reach: Reach,
): Finding[] {
  const read = readOptions(words, reading, reach);
  const findings = [...read.findings];
  const skipped = reading.operands === "pattern then paths" && !hasPatternOption(read) ? 1 : 0;
  for (const [place, operand] of read.operands.entries()) {
    if (place >= skipped) findings.push(...judgePath(operand, operand.index, reach));
  }
  for (const { name, value, index } of read.options) {
    if (/^--(?:format|pretty|sort)$/.test(name) && SHOWS_SIGNATURE.test(value ?? "")) {
      findings.push(createLaunchFinding("showing signatures starts the program that checks them", index));
    }
  }
  if (!isReadOnly(words[0]?.value ?? "", read, reading)) {
    findings.push(createUnknownFinding(`\`git ${words[0]?.value}\` changes the repository here`));
  }
  if (words[0]?.value !== "config") return findings;
  if (findings.length > 0) findings.push(createLaunchFinding("settings of git can name programs to run", 0));
  return [...findings, ...judgeShownSettings(read)];
}

/** Settings about the user and how git works. The others may contain passwords. */
const PLAIN_SETTINGS =
  /^(?:user|author|committer|core|init|branch|remote|pull|push|fetch|merge|rebase|diff|commit|tag|color|log|status|format)\./i;

/** Besides the repository's own settings git prints those of the user and of the machine. */
function judgeShownSettings({ options, operands }: Options): Finding[] {
  if (options.some(({ name }) => name === "--local" || name === "--worktree")) return [];
  const wide = options.find(({ name }) => /^(?:-l|--list|--get-regexp|--global|--system)$/.test(name));
  const named = operands.find(({ value }) => value !== "get" && !PLAIN_SETTINGS.test(value));
  const index = wide?.index ?? named?.index;
  if (index === undefined) return [];
  const what = "settings of git outside the root would be shown, which may hold passwords";
  return [{ nature: "outside", what, upTo: index }];
}

/** Whether every word is known, and the words change nothing. */
function onlyReads(words: readonly Argument[], reading: ReadingSubcommand, reach: Reach): boolean {
  const read = readOptions(words, reading, reach);
  return (
    read.findings.every(({ nature }) => nature === "outside") &&
    isReadOnly(words[0]?.value ?? "", read, reading)
  );
}

function isReadOnly(subcommand: string, { options, operands }: Options, reading: ReadingSubcommand): boolean {
  const { actions, needs, freeOperands = 0 } = reading;
  // After an option or `--`, git may treat the action as a file name.
  if (actions !== undefined)
    return actions.includes(operands[0]?.value ?? "") && (operands[0]?.index ?? 1) === 1;
  if (needs === undefined || options.some(({ name }) => needs.includes(name))) return true;
  const [first] = operands;
  if (subcommand !== "config") return operands.length <= freeOperands;
  // In newer versions any other word without a dot is an action: edit, set, unset.
  return (
    /^(?:get|list)$/.test(first?.value ?? "") ||
    (operands.length === 1 && first?.value.includes(".") === true)
  );
}

function judgeChangingSubcommand(words: readonly Argument[], reach: Reach): Finding[] {
  const name = words[0]?.value ?? "";
  const findings: Finding[] = [createUnknownFinding(`\`git ${name}\` changes the repository`)];
  if (!CHANGING_SUBCOMMANDS.has(name)) {
    findings.push(createLaunchFinding(`\`git ${name}\` can run other programs, or is an alias`, 0));
  }
  if (LAUNCHING_WORDS.test(words.map(({ value }) => value).join(" "))) {
    findings.push(createLaunchFinding(`\`git ${name}\` launches another program`, words.length - 1));
  }
  const letters = LAUNCHING_LETTERS[name] ?? "";
  for (const [index, word] of words.entries()) {
    if (index === 0) continue;
    if (/^[a-z0-9+.-]+::/i.test(word.value) || isOneOf(word.value, letters, LAUNCHING_LONG)) {
      findings.push(
        createLaunchFinding(`\`git ${name} ${word.value}\` can start or write something else`, index),
      );
    }
    const path = word.value.startsWith("-") ? readAttachedValue(word) : word;
    if (path !== null && !takesTextValue(name, words[index - 1]?.value ?? "")) {
      findings.push(...judgePath(dropFileScheme(path), index, reach));
    }
  }
  return findings;
}

/** Subcommands for which the word after `-m` is a message. For others, `-m` means something else and takes no word. */
const WITH_MESSAGE = createWordSet("commit commit-tree merge tag notes stash");

/** Whether the word after this one is text. */
function takesTextValue(subcommand: string, option: string): boolean {
  if (/^-[a-zA-Z]*m$|^--message$/.test(option)) return WITH_MESSAGE.has(subcommand);
  return /^--(?:author|date)$/.test(option) && subcommand === "commit";
}

/** Returns the folder that an address on this machine names, `file://host/x` included. */
function dropFileScheme(word: Argument): Argument {
  const path = /^(?:[\w-]+=)?file:(?:\/\/[^/]*)?(.*)$/is.exec(word.value)?.[1];
  if (path === undefined) return word;
  // A dot may be written as `%2e`.
  return { ...word, value: path.includes("%") ? "/" : path };
}
