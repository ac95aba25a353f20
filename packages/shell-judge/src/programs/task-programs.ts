import { createWordSet, splitWords } from "@burin/contract/text/words";
import { findRow, repeatRow } from "../tables.ts";
import {
  type Argument,
  createLaunchFinding,
  createUnknownFinding,
  type Finding,
  judgePath,
  type ProgramReader,
  type Reach,
} from "./finding.ts";
import { baseName } from "./launches.ts";
import { isOneOf, type OptionTable, readOptions } from "./options.ts";
import { readAttachedValue } from "./simple-programs.ts";
import { STARTING_OPTIONS, TASK_PROGRAMS, type TaskProgram } from "./task-rows.ts";

export function isStartingOption(word: string): boolean {
  return STARTING_OPTIONS.some(([option]) => option.test(word));
}

/** Version queries of programs that a project cannot make run something else first. */
const VERSIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  "-v": createWordSet("node npm gcc make perl php ruby"),
  "-version": createWordSet("java"),
  "--version": createWordSet(`
    bun clang cmake curl deno docker gcc gh java make node npm perl php pip pip3 python python3 ruby`),
};

/** Programs that a project cannot make run something else before they print `--version` or `--help`. */
const SELF_DESCRIBING = createWordSet(`
  ar as black c++ cc clang++ clang-format clang-tidy ctest ffmpeg ffprobe flake8 g++ gdb go gofmt
  isort java javac ld lldb meson mypy mysql ninja nm objdump pandoc patch pdftotext podman psql
  qemu-img redis-cli rsync ruff shellcheck sqlite3 strace tar tmux unzip valgrind wget zip`);
/** What else is shown: packages that are installed, and the scripts of a project. */
const LISTINGS: Readonly<Record<string, OptionTable>> = {
  ...repeatRow("npm.ls npm.list npm.ll", {
    flags: "alp",
    texts: "",
    long: "all json long parseable depth= omit= include= link package-lock-only workspaces",
  }),
  ...repeatRow("npm.run npm.run-script", { long: "json" }),
  ...repeatRow("pip.list pip.freeze pip.check pip3.list pip3.freeze pip3.check", {
    flags: "l",
    long: "format= local not-required verbose exclude-editable all",
  }),
  ...repeatRow("pip.show pip3.show", { flags: "f", long: "files verbose" }),
};

/** What it shows is about the program itself, or about what is installed. */
function isSelfDescription(words: readonly Argument[], reach: Reach): boolean {
  const [program = "", option = ""] = words.map(({ value }) => value);
  const isAlone = words.length === 2;
  if (isAlone && findRow(VERSIONS, option)?.has(program)) return true;
  if (isAlone && /^--(?:version|help)$/.test(option) && SELF_DESCRIBING.has(program)) return true;
  if (isAlone && option === "version" && program === "go") return true;
  // A file of the project can choose another toolchain, a program of its own included.
  if (isAlone && /^(?:cargo|rustc|rustdoc) (?:--version|-V)$/.test(`${program} ${option}`)) {
    return !reach.hasFileAbove("rust-toolchain*");
  }
  const table = findRow(LISTINGS, `${program}.${option}`);
  if (table === undefined) return false;
  const { operands, findings } = readOptions(words, table, reach);
  const isPlain = operands.every(
    ({ value, isGlob, below }) => !isGlob && !below && /^[\w@/.-]+$/.test(value),
  );
  // The first one is the subcommand; any more would be a script to run.
  return findings.length === 0 && isPlain && (operands.length === 1 || /^(?:ls|list|ll|show)$/.test(option));
}

/** A program about which nothing is known, so it may do anything. */
export const judgeOtherProgram: ProgramReader = (words, reach) => {
  const program = words[0]?.value ?? "";
  const name = baseName(program);
  if (isSelfDescription(words, reach)) return [];
  const unknown = createUnknownFinding(`\`${program}\` is not known to be read-only`);
  const deletes = listDeletedPaths(words.map(({ value }) => value));
  const findings: Finding[] = [deletes === null ? unknown : { ...unknown, deletes }];
  const deleting = name === "rm" ? words.findIndex(({ value }) => /^-(?:[a-zA-Z]*[rR]|-r)/.test(value)) : -1;
  // After this, nothing of the folder is left to check.
  if (deleting !== -1) {
    const what = "`rm -r` deletes whole folders";
    findings.push({ nature: "destructive", what, upTo: deleting, ...(deletes && { deletes }) });
  }
  return [...findings, ...judgeTaskWords(words, reach)];
};

/** Programs that delete what their operands name. */
const DELETING = createWordSet("rm rmdir unlink shred del erase");

/** What a program of these words deletes, as written; null if it is none that deletes. */
export function listDeletedPaths([program = "", ...words]: readonly string[]): string[] | null {
  if (!DELETING.has(baseName(program))) return null;
  const end = words.indexOf("--");
  return words.filter((word, at) => at !== end && (!word.startsWith("-") || (end !== -1 && at > end)));
}

/** The words with which a program does another task than the one that its first words say. */
function judgeTaskWords(words: readonly Argument[], reach: Reach): Finding[] {
  const findings: Finding[] = [];
  const name = baseName(words[0]?.value ?? "");
  // `python -m pytest` does what `pytest` does.
  const isModule = /^python[\d.]*$/.test(name) && words[1]?.value === "-m";
  const own = isModule ? (words[2]?.value ?? "") : name;
  const task = findRow(TASK_PROGRAMS, own.replace(/-?[\d.]+$/, "")) ?? findRow(TASK_PROGRAMS, own);
  let isEnded = false;
  let isOfScript = false;
  for (const [index, word] of addDashToTarLetters(words, own).entries()) {
    if (index < (isModule ? 3 : 1)) continue;
    if (word.value === "--") isEnded = true;
    if (!isOfScript && changesTask(word.value, isEnded, task)) {
      findings.push(createLaunchFinding(`\`${name} ${word.value}\` can make it do something else`, index));
    }
    findings.push(...judgeOtherPath(word, index, reach));
    isOfScript ||= task?.hasScript === true && !word.value.startsWith("-");
  }
  return findings;
}

/** The letters in the first word of `tar` need none. */
function addDashToTarLetters(words: readonly Argument[], name: string): readonly Argument[] {
  const [program, letters, ...rest] = words;
  if (!name.endsWith("tar") || program === undefined || letters === undefined) return words;
  return [program, { ...letters, value: letters.value.replace(/^(?!-)/, "-") }, ...rest];
}

function judgeOtherPath(word: Argument, index: number, reach: Reach): Finding[] {
  if (/^file:/i.test(word.value))
    return [{ nature: "outside", what: `\`${word.value}\` is a file`, upTo: index, path: word.value }];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word.value)) return [];
  // Behind a `=` or an `@` there may be a file, and behind `--option=@` too.
  const named = /^(?:[\w.-]*[=@])*((?:~|\.\.|\/).*)$/s.exec(word.value)?.[1];
  const value =
    named === undefined
      ? (readAttachedValue(word) ?? { ...word, value: word.value.replace(/^\w+=/, "") })
      : { ...word, value: named };
  return judgePath(value, index, reach);
}

/** Perl, ImageMagick and others take such a file's name for a command. */
const OPENS_A_PIPE = /^\s*\||\|\s*$/;

function changesTask(word: string, isEnded: boolean, task: TaskProgram = {}): boolean {
  const { letters = "", long = "", only } = task;
  if (OPENS_A_PIPE.test(word)) return true;
  // After `--` there are no more options, but a setting of make is one there too.
  if (isEnded) return !word.startsWith("-") && isOtherTask(word, task);
  if (isStartingOption(word) || isOtherTask(word, task)) return true;
  if (only !== undefined && /^-./.test(word) && !isHarmlessTaskWord(word, task)) return true;
  const name = word.replace(/=.*/s, "");
  return (name !== "" && splitWords(long).includes(name)) || isOneOf(word, letters, long);
}

function isOtherTask(word: string, { words, schemes = "" }: TaskProgram): boolean {
  const [, scheme = ""] = /^([\w-]+):/.exec(word) ?? [];
  return words?.test(word) === true || splitWords(schemes).includes(scheme.toLowerCase());
}

function isHarmlessTaskWord(word: string, { only, harmless = "" }: TaskProgram): boolean {
  const name = word.startsWith("--") ? word.replace(/=.*/s, "") : word;
  return only?.test(word) === true || splitWords(harmless).includes(name);
}
