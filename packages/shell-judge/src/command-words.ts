import type { ShellCommand, SimpleCommand } from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { launchesOf, readsAsBash } from "./programs/launches.ts";

/** The words of one command that would run, as far as they are known; null stands for any number of words. */
export interface CommandWords {
  readonly words: readonly (string | null)[];
  /** The part of the line that contains it. */
  readonly part: string;
}

/** The deepest nesting of shells that is followed; a deeper one counts as unknown. */
const DEEPEST = 8;

/**
 * Every command that a line may run, also those in substitutions, after wrappers such as `env` or `xargs`, and in
 * the text that is passed to another shell.
 */
export function allCommandWords(line: ShellCommand): CommandWords[] {
  const found = linesWords(line, 0, null);
  return line.problems.some((problem) => !problem.includes("`"))
    ? [...found, { words: [null], part: "" }]
    : found;
}

function linesWords(line: ShellCommand, depth: number, part: string | null): CommandWords[] {
  return line.commands.flatMap((command) => commandWords(command, depth, part ?? command.text));
}

/** What stands quoted in one of their words may run later: see LATER. */
const EVALUATES =
  /^(?:let|declare|typeset|local|readonly|export|unset|read|printf|test|\[|wait|mapfile|readarray)$/;
/** A command in the brackets of a name runs when the name is calculated, one in these variables when bash reads them. */
const LATER = /^(?:[^[]*\[|(?:PS\d|BASH_ENV|ENV)=)[\s\S]*?(?:`|\$\()/;

/** The same in the text of an assignment behind `declare` and the like: quoted, so that it does not run at once. */
const QUOTED_LATER = /^(?=[\s\S]*\[)[\s\S]*?(?:'[^']*|\\)(?:`|\$\()/;

function commandWords(command: SimpleCommand, depth: number, part: string): CommandWords[] {
  const words = command.words.map(({ value, isGlob }) => (isGlob ? null : value));
  const evaluated = EVALUATES.test(words[0] ?? "") ? words.slice(1) : [];
  const kept = [...evaluated, ...command.assignments.map(({ name, value }) => `${name}=${value}`)];
  const assigned = evaluated.length > 0 ? command.words.filter(({ value }) => value === null) : [];
  const isLater =
    kept.some((text) => LATER.test(text ?? "")) || assigned.some(({ text }) => QUOTED_LATER.test(text));
  const later = isLater ? [{ words: [null], part }] : [];
  if (words.length === 0) return later;
  const fed = command.redirections.filter(({ kind }) => kind === "data").map(({ target }) => target);
  return [...later, ...launchedWords(words, { depth, part, fed })];
}

interface Inside {
  readonly depth: number;
  readonly part: string;
  /** Text that the program reads as its input. */
  readonly fed: readonly (string | null)[];
}

function launchedWords(words: readonly (string | null)[], inside: Inside): CommandWords[] {
  const { depth, part, fed } = inside;
  const found: CommandWords[] = [{ words, part }];
  if (depth > DEEPEST) return [...found, { words: [null], part }];
  const deeper = { ...inside, depth: depth + 1 };
  for (const launch of launchesOf(words)) {
    if (launch.kind === "words") {
      const launched = words.slice(launch.from, launch.to);
      found.push(...launchedWords(launch.isOpen ? [...launched, null] : launched, deeper));
    } else {
      const texts = launch.kind === "script" ? [launch.text] : fed.length > 0 ? fed : [null];
      found.push(...texts.flatMap((text) => scriptWords(text, words[0] ?? "", deeper)));
    }
  }
  return found;
}

function scriptWords(text: string | null, shell: string, { depth, part }: Inside): CommandWords[] {
  if (text === null) return [{ words: [null], part }];
  const line = parseShellCommand(text, readsAsBash(shell));
  return [...linesWords(line, depth, part), ...(line.isWhole ? [] : [{ words: [null], part }])];
}
