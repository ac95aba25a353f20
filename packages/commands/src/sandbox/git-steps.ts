import { join } from "node:path";
import { bytesOf } from "@burin/files/disk/disk-looks";

/** A file in which git has noted what it will do next, and which by now makes it do something else. */
export interface StepFault {
  readonly path: string;
  readonly why: string;
  /** Its content without that; null when nothing of it is of use. */
  readonly rest: string | null;
}

const MOST_BYTES = 16 * 1024 * 1024;

const QUOTED = String.raw`'(?:[^']|'\\['!]')*'`;

/** A line that begins with no letter is empty or a comment. Only `exec` runs a program. */
const STEP =
  /^[ \t]*(?:$|[^A-Za-z \t]|(?:pick|p|reword|r|edit|e|squash|s|fixup|f|drop|d|label|l|reset|t|merge|m|update-ref|u|noop|break|b|revert)(?:\s|$))/;
/** Any other one is a program. */
const STRATEGY = /^(?:ort|recursive|resolve|octopus|ours|subtree|)$/;
const AUTHOR = new RegExp(`^(?:GIT_AUTHOR_(?:NAME|EMAIL|DATE)=${QUOTED})?$`);
const BISECTED = new RegExp(String.raw`^(?:#.*|git[ -]bisect [\w-]+(?:\s+(?:${QUOTED}|[\w./~^@-]+))*\s*)?$`);
const NAMES = new RegExp(String.raw`^(?:\s*${QUOTED})*\s*$`);

interface StepFile {
  readonly name: string;
  readonly isHarmless: (line: string) => boolean;
  /** Without the other lines the rest of the file still says what was meant. */
  readonly isList?: boolean;
}

const lines = (pattern: RegExp) => (line: string) => pattern.test(line);

const STEP_FILES: readonly StepFile[] = [
  { name: "rebase-merge/git-rebase-todo", isHarmless: lines(STEP), isList: true },
  { name: "rebase-merge/git-rebase-todo.backup", isHarmless: lines(STEP), isList: true },
  { name: "sequencer/todo", isHarmless: lines(STEP), isList: true },
  { name: "rebase-merge/strategy", isHarmless: lines(STRATEGY) },
  {
    name: "sequencer/opts",
    isHarmless: (line) => STRATEGY.test(/^\s*strategy\s*=\s*"?(.*?)"?\s*$/i.exec(line)?.[1] ?? ""),
  },
  { name: "rebase-merge/author-script", isHarmless: lines(AUTHOR) },
  { name: "rebase-apply/author-script", isHarmless: lines(AUTHOR) },
  { name: "BISECT_NAMES", isHarmless: lines(NAMES) },
  { name: "BISECT_LOG", isHarmless: lines(BISECTED), isList: true },
];

/** The lines with which git would run a program, of a rebase or another work that has stopped halfway. */
export function runningSteps(folder: string): string[] {
  return STEP_FILES.flatMap(({ name, isHarmless }) =>
    linesOf(join(folder, name)).filter((line) => !isHarmless(line)),
  );
}

/** `known`: such lines that were there before. */
export function findStepFaults(folder: string, known: ReadonlySet<string>): StepFault[] {
  return STEP_FILES.flatMap(({ name, isHarmless, isList }) => {
    const path = join(folder, name);
    const all = linesOf(path);
    const isWanted = (line: string) => isHarmless(line) || known.has(line);
    const strange = all.find((line) => !isWanted(line));
    if (strange === undefined) return [];
    const rest = isList === true ? all.filter(isWanted).join("\n") : null;
    return [{ path, why: `git would act on a line that a command put there: ${strange.trim()}`, rest }];
  });
}

function linesOf(path: string): string[] {
  return bytesOf(path, MOST_BYTES)?.toString().split("\n") ?? [];
}
