import { join } from "node:path";
import { tryReadBytes } from "@burin/files/disk/disk-looks";

/** A file in which git has noted its next steps, and which now makes it do something else. */
export interface StepFault {
  readonly path: string;
  readonly why: string;
  /** Its content without those lines; null if nothing useful is left. */
  readonly rest: string | null;
}

const MAX_BYTES = 16 * 1024 * 1024;

const QUOTED = String.raw`'(?:[^']|'\\['!]')*'`;

/** A line that does not begin with a letter is blank or a comment. Only `exec` runs a program. */
const STEP_LINE =
  /^[ \t]*(?:$|[^A-Za-z \t]|(?:pick|p|reword|r|edit|e|squash|s|fixup|f|drop|d|label|l|reset|t|merge|m|update-ref|u|noop|break|b|revert)(?:\s|$))/;
/** Any other strategy names a program. */
const STRATEGY = /^(?:ort|recursive|resolve|octopus|ours|subtree|)$/;
const AUTHOR = new RegExp(`^(?:GIT_AUTHOR_(?:NAME|EMAIL|DATE)=${QUOTED})?$`);
const BISECT_LINE = new RegExp(
  String.raw`^(?:#.*|git[ -]bisect [\w-]+(?:\s+(?:${QUOTED}|[\w./~^@-]+))*\s*)?$`,
);
const QUOTED_NAMES = new RegExp(String.raw`^(?:\s*${QUOTED})*\s*$`);

interface StepFile {
  readonly name: string;
  readonly isHarmless: (line: string) => boolean;
  /** Without the bad lines, the rest of the file is still a valid list of steps. */
  readonly isList?: boolean;
}

const matchLines = (pattern: RegExp) => (line: string) => pattern.test(line);

const STEP_FILES: readonly StepFile[] = [
  { name: "rebase-merge/git-rebase-todo", isHarmless: matchLines(STEP_LINE), isList: true },
  { name: "rebase-merge/git-rebase-todo.backup", isHarmless: matchLines(STEP_LINE), isList: true },
  { name: "sequencer/todo", isHarmless: matchLines(STEP_LINE), isList: true },
  { name: "rebase-merge/strategy", isHarmless: matchLines(STRATEGY) },
  {
    name: "sequencer/opts",
    isHarmless: (line) => STRATEGY.test(/^\s*strategy\s*=\s*"?(.*?)"?\s*$/i.exec(line)?.[1] ?? ""),
  },
  { name: "rebase-merge/author-script", isHarmless: matchLines(AUTHOR) },
  { name: "rebase-apply/author-script", isHarmless: matchLines(AUTHOR) },
  { name: "BISECT_NAMES", isHarmless: matchLines(QUOTED_NAMES) },
  { name: "BISECT_LOG", isHarmless: matchLines(BISECT_LINE), isList: true },
];

/** Lists the lines with which git would run a program when a stopped rebase, or similar work, continues. */
export function listProgramSteps(folder: string): string[] {
  return STEP_FILES.flatMap(({ name, isHarmless }) =>
    readLines(join(folder, name)).filter((line) => !isHarmless(line)),
  );
}

/** `known`: program lines that were there before the command. */
export function findStepFaults(folder: string, known: ReadonlySet<string>): StepFault[] {
  return STEP_FILES.flatMap(({ name, isHarmless, isList }) => {
    const path = join(folder, name);
    const all = readLines(path);
    const isWanted = (line: string) => isHarmless(line) || known.has(line);
    const strange = all.find((line) => !isWanted(line));
    if (strange === undefined) return [];
    const rest = isList === true ? all.filter(isWanted).join("\n") : null;
    return [{ path, why: `git would act on a line that a command put there: ${strange.trim()}`, rest }];
  });
}

function readLines(path: string): string[] {
  return tryReadBytes(path, MAX_BYTES)?.toString().split("\n") ?? [];
}
