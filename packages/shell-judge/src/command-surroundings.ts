import { createWordSet } from "@burin/contract/text/words";
import { createPathArgument } from "./command-arguments.ts";
import type { CommandReach } from "./command-place.ts";
import type { ShellAssignment, ShellRedirection, ShellWord, SimpleCommand } from "./grammar/command-parts.ts";
import { findPrintedNames } from "./printed-names.ts";
import { createUnknownFinding, type Finding, judgePath } from "./programs/finding.ts";
import { judgeProtectedPath } from "./protected-words.ts";

/** Variables that may be set without a question: they choose no file and no program. */
const HARMLESS_VARIABLES = createWordSet(
  "CI NO_COLOR FORCE_COLOR NODE_ENV LANG LC_ALL TZ TERM COLUMNS RUST_BACKTRACE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE",
);
/** Variables that may be set without a question only to these values. */
const HARMLESS_SETTINGS = /^(?:(?:GIT_)?PAGER=(?:cat)?|GIT_(?:TERMINAL_PROMPT|OPTIONAL_LOCKS)=0)$/;

/** The variables and redirections of a command. Rules do not cover those. */
export function judgeSurroundings(command: SimpleCommand, reach: CommandReach): Finding[] {
  const set = command.assignments.filter((each) => !isHarmlessAssignment(each, command.words));
  return [
    ...judgeFolder(command, reach),
    ...set.map(({ text }) => createUnknownFinding(`\`${text}\` sets a variable`)),
    ...command.redirections.flatMap((redirection) => judgeRedirection(redirection, reach)),
    ...judgeCopiedDescriptors(command.redirections),
  ];
}

/** A descriptor that the command does not open itself may be one that Burin inherited. */
function judgeCopiedDescriptors(redirections: readonly ShellRedirection[]): Finding[] {
  const opened = new Set(["0", "1", "2"]);
  return redirections.flatMap(({ text, kind, target }) => {
    const copied = kind === "copy" ? /^\d+/.exec(target ?? "")?.[0] : undefined;
    const isOpen = copied === undefined || opened.has(copied);
    opened.add(/^\d+/.exec(text)?.[0] ?? "");
    return isOpen ? [] : [createUnknownFinding(`what \`${text}\` names is known only when it runs`)];
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

function judgeRedirection(
  { text, kind, target, isGlob, isAnyText, lineOf }: ShellRedirection,
  reach: CommandReach,
): readonly Finding[] {
  const below = kind === "read" ? findPrintedNames(lineOf) : null;
  if (below !== null) return judgePath(createPathArgument(below), 0, reach);
  if (isAnyText || kind === "copy" || (kind === "data" && target !== null)) return [];
  if (target === null) return [createUnknownFinding(`what \`${text}\` names is known only when it runs`)];
  if (kind === "write") {
    if (/^\/dev\/(?:null|stdout|stderr)$/.test(target)) return [];
    const [finding] = judgeProtectedPath(target, reach);
    return [finding ?? { ...createUnknownFinding(`\`${text}\` writes a file`), writes: target }];
  }
  return judgePath({ value: target, isGlob: isGlob === true }, 0, reach);
}

/** Judges the command's working directory, and the folders that the shell itself reads for a pattern. */
function judgeFolder({ words }: SimpleCommand, reach: CommandReach): Finding[] {
  const isElsewhere = words.length > 0 && reach.explainOutside(".", false) !== null;
  const patterns = words.map(({ value, isGlob }) => (isGlob ? (value ?? "") : ""));
  const looks = patterns.flatMap((pattern) => {
    const folder = pattern.slice(0, pattern.lastIndexOf("/") + 1);
    return folder === "" ? [] : (reach.explainOutside(folder, true) ?? []);
  });
  const all = [...(isElsewhere ? ["it would run in a folder outside the root"] : []), ...looks];
  // A value that the shell splits into words may contain a pattern too.
  const split = words.flatMap(({ isMany, lineOf }) => (isMany ? (findPrintedNames(lineOf) ?? []) : []));
  return [
    ...all.map((what) => ({ nature: "outside" as const, what, upTo: 0 })),
    ...split.flatMap((below) => judgePath(createPathArgument(below), 0, reach)),
  ];
}
