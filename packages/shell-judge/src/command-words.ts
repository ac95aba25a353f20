import type { ShellCommand, SimpleCommand } from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { launchesOf, readsAsBash } from "./programs/launches.ts";

/** The words of one command that would run, as far as they are known; null stands for any number of words. */
export interface CommandWords {
  readonly words: readonly (string | null)[];
  readonly part: string;
  /** It is text, which only may be evaluated. */
  readonly isPossible?: boolean;
}

const UNKNOWN: CommandWords = { words: [null], part: "" };
/** The deepest nesting of shells that is followed; a deeper one counts as unknown. */
const DEEPEST = 8;

/** Every command that a line may run, also in substitutions, after wrappers such as `env`, and in text for a shell. */
export function allCommandWords(line: ShellCommand): CommandWords[] {
  const found = linesWords(line, 0, null);
  return line.problems.some((problem) => !problem.includes("`")) ? [...found, UNKNOWN] : found;
}

function linesWords(line: ShellCommand, depth: number, part: string | null): CommandWords[] {
  const found = line.commands.flatMap((command) => commandWords(command, depth, part ?? command.text));
  const texts = [...new Set(line.evaluated)].filter((text) => /`|\$\(/.test(text));
  // Much such text is not read, and so not known.
  const later =
    texts.join("").length > 20_000
      ? [UNKNOWN]
      : texts.flatMap((text) => evaluatedWords(text, depth, part ?? ""));
  return [...found, ...later];
}

/** A file by its name, in a folder that is not known. */
const NAMED_FILE = /\/(?!stdin)[\w.-]*[a-z][\w.-]*"?$/i;

function commandWords(command: SimpleCommand, depth: number, part: string): CommandWords[] {
  const reads = /^(?:\.|source)$/.test(command.words[0]?.value ?? "");
  const words = command.words.map(({ value, isGlob, text }) => {
    if (isGlob) return null;
    return value === null && reads && NAMED_FILE.test(text) ? text : value;
  });
  if (words.length === 0) return [];
  const fed = command.redirections.filter(({ kind }) => kind === "data").map(({ target }) => target);
  return launchedWords(words, { depth, part, fed });
}

/** The commands that run if a text is evaluated as the body of a here-document is, also those that are quoted. */
function evaluatedWords(text: string, depth: number, part: string): CommandWords[] {
  if (depth > 2) return [];
  const line = parseShellCommand(`: <<E\n${text.replaceAll("\\", "")}\nE`);
  const found = linesWords({ ...line, commands: line.commands.slice(1), evaluated: [] }, depth + 1, part);
  const all = line.isWhole ? found : [...found, { words: [null], part }];
  return all.map((one) => ({ ...one, isPossible: true }));
}

const STARTS = /^(?!git|find|echo)\S+ (?:exec|dlx)$|^(?:poetry|uv|pipenv|pdm|hatch|rye|conda|mamba) run$/;

/** What many programs start behind such a word, some in a container. */
function startedWords(words: readonly (string | null)[], part: string): CommandWords[] {
  const at = words.findIndex((word, index) => index > 0 && STARTS.test(`${words[0]} ${word}`));
  const started = at === -1 ? [] : words.slice(at + 1).filter((word) => !/^-./.test(word ?? ""));
  const inside = /^(?:docker|podman|kubectl|oc)$/.test(words[0] ?? "") ? started.slice(1) : [];
  return [started, inside].map((some) => ({ words: some, part, isPossible: true }));
}

interface Inside {
  readonly depth: number;
  readonly part: string;
  /** Text that the program reads as its input. */
  readonly fed: readonly (string | null)[];
}

function launchedWords(words: readonly (string | null)[], inside: Inside): CommandWords[] {
  const { depth, part, fed } = inside;
  const found: CommandWords[] = [{ words, part }, ...startedWords(words, part)];
  if (depth > DEEPEST) return [...found, { words: [null], part }];
  const deeper = { ...inside, depth: depth + 1 };
  for (const launch of launchesOf(words)) {
    if (launch.kind === "words") {
      const launched = words.slice(launch.from, launch.to);
      // One of them hands what it gets to a shell.
      if (/\s/.test(launched[0] ?? "")) found.push(...scriptWords(launched[0] ?? "", "sh", deeper));
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
