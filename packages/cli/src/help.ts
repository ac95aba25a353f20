import { findNearNames } from "@burin/core/internal";
import { findOwnCommand } from "./commands/slash-commands.ts";
import { formatOptionsHelp, OPTIONS } from "./request/option-table.ts";
import { ENVIRONMENT, FORMS, findHelp, type Usage } from "./request/usages.ts";
import { FOREIGN_COMMANDS, isForeignCommand } from "./request/words-elsewhere.ts";
import { isSubcommand, SUBCOMMANDS, type SubcommandName } from "./subcommands.ts";
import { UsageError } from "./terminal/exit-code.ts";
import { fitRows } from "./terminal/styled-line.ts";

const COLUMN = 31;

/** Returns the help text, or the help for one command. Throws UsageError for an unknown command. */
export function formatHelp(topic: string | undefined, isTerminal: boolean): string {
  return fitRows(formatWholeHelp(topic).split("\n"), isTerminal).join("\n");
}

function formatWholeHelp(topic: string | undefined): string {
  if (topic === undefined) {
    const forms: Usage = [
      ['["prompt"]', "opens the app at a terminal, with a first prompt if one is given"],
      ['-p [options] "prompt"', "one prompt, no screen; text on stdin is added to it"],
      ["help [command]", "this text, or the help on one command"],
      ...FORMS,
    ];
    const lines = forms.map(([form, meaning]) => `       burin ${padForm(form)}${meaning}\n`);
    return `Usage: burin [options] [prompt]\n${lines.join("")}\n${formatOptionsHelp(OPTIONS)}\n${ENVIRONMENT}`;
  }
  if (!isSubcommand(topic)) throw createUnknownCommandError(topic);
  const { forms, options } = findHelp(topic);
  const lines = forms.map(([form, meaning]) => `  burin ${form}\n      ${meaning}\n`);
  return `Usage:\n${lines.join("")}\n${options}`;
}

/** Pads a form to the column's width; puts a form that is too long on a line of its own. */
function padForm(form: string): string {
  return form.length < COLUMN
    ? form.padEnd(COLUMN)
    : `${form}\n${" ".repeat("       burin ".length + COLUMN)}`;
}

/** Throws UsageError for words that were probably meant as a command, ours or another agent's, and not as a prompt. */
export async function assertNoMistypedCommand([word = "", ...more]: readonly string[]): Promise<void> {
  const inApp = more.length === 0 && (await import("./commands/screen-commands.ts")).findCommand(word);
  const [near] = findSimilarCommands(word);
  const there = isForeignCommand(word, more) && findOwnCommand(word, FOREIGN_COMMANDS);
  const meant = there || (inApp && `/${inApp} in the app`) || (near && `burin ${near}`);
  if (!meant) return;
  const fault =
    near === word
      ? `burin ${word} takes fewer words.`
      : `there is no command "${word}"; did you mean ${meant}?`;
  throw new UsageError(`${fault} If it is a prompt, say so: burin -p "${word} ..."`);
}

/** Says what to write instead of an unknown option or one without its value. */
export function createOptionError(message: string, command: SubcommandName | null): UsageError {
  const see = `See burin ${command === null ? "--help" : `help ${command}`}.`;
  const [, unknown, lacking] =
    /^Unknown option '(.+?)'|^Option '(?:-\w, )?(-[\w-]+).*' argument/.exec(message) ?? [];
  if (unknown !== undefined) {
    const own = Object.keys((command && SUBCOMMANDS[command].ownOptions) ?? {}).map((name) => `--${name}`);
    const isLong = unknown.startsWith("--");
    const [near] = isLong
      ? findNearNames(unknown, [...OPTIONS.map(({ long }) => long), ...own])
      : own.filter((name) => name.startsWith(`-${unknown.toLowerCase()}`));
    const prompt = command === null && !isLong && "-- before a prompt that begins with -";
    const meant = (!isLong && near) || (findOwnCommand(unknown, FOREIGN_COMMANDS) ?? (near || prompt));
    const quoted = command === "explain" ? " If it is one of the command's, quote the command: '...'." : "";
    return new UsageError(
      `there is no option ${unknown}${meant ? `; did you mean ${meant}?` : "."}${quoted} ${see}`,
    );
  }
  const known = OPTIONS.find(({ long, short }) => long === lacking || short === lacking);
  if (known?.value === undefined) return new UsageError(`${message}. ${see}`);
  return new UsageError(`${lacking} needs a value: ${lacking} ${known.value}  ${known.meaning}. ${see}`);
}

function createUnknownCommandError(name: string): UsageError {
  const [near] = findSimilarCommands(name);
  const meant = near === undefined ? findOwnCommand(name, FOREIGN_COMMANDS) : `burin help ${near}`;
  const hint = meant === undefined ? "See burin --help." : `Did you mean ${meant}?`;
  return new UsageError(`there is no command "${name}". ${hint}`);
}

/** Finds similar command names. Lengths may differ by two at most, so that "callback" does not suggest "call". */
function findSimilarCommands(word: string): string[] {
  const near = findNearNames(word, ["help", "version", ...Object.keys(SUBCOMMANDS)]);
  return near.filter((name) => Math.abs(name.length - word.length) <= 2);
}
