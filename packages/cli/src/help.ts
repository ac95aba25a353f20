import { nearNames } from "@burin/core";
import {
  ENVIRONMENT,
  OPTIONS,
  optionsOf,
  type SubcommandName,
  USAGES,
  type Usage,
} from "./request/usages.ts";
import { SUBCOMMANDS } from "./subcommands.ts";
import { UsageError } from "./terminal/exit-code.ts";

const COLUMN = 31;

/** The help on everything, or on one command. Throws UsageError for a command that does not exist. */
export function helpText(topic?: string): string {
  if (topic === undefined) {
    const forms: Usage = [
      ['["prompt"]', "opens the app at a terminal, with a first prompt if one is given"],
      ['-p [options] "prompt"', "one prompt, no screen; text on stdin is added to it"],
      ["help [command]", "this text, or the help on one command"],
      ...Object.values(USAGES).flat(),
    ];
    const lines = forms.map(([form, meaning]) => `       burin ${inColumn(form)}${meaning}\n`);
    return `Usage: burin [options] [prompt]\n${lines.join("")}\n${OPTIONS}\n${ENVIRONMENT}`;
  }
  if (!isSubcommand(topic)) throw unknownCommand(topic);
  const lines = USAGES[topic].map(([form, meaning]) => `  burin ${form}\n      ${meaning}\n`);
  return `Usage:\n${lines.join("")}\n${optionsOf(topic)}`;
}

/** A form that is too long for its column has a line of its own. */
function inColumn(form: string): string {
  return form.length < COLUMN
    ? form.padEnd(COLUMN)
    : `${form}\n${" ".repeat("       burin ".length + COLUMN)}`;
}

function isSubcommand(name: string): name is SubcommandName {
  return Object.hasOwn(SUBCOMMANDS, name);
}

/** A word that is almost the name of a command was meant as the command, not as a prompt. Throws UsageError. */
export function assertNoMistypedCommand(word: string): void {
  const [near] = commandsLike(word);
  if (near === undefined) return;
  const fault =
    near === word
      ? `burin ${word} takes fewer words.`
      : `there is no command "${word}"; did you mean burin ${near}?`;
  throw new UsageError(`${fault} If it is a prompt, say so: burin -p "${word} ..."`);
}

function unknownCommand(name: string): UsageError {
  const [near] = commandsLike(name);
  const hint = near === undefined ? "See burin --help." : `Did you mean burin help ${near}?`;
  return new UsageError(`there is no command "${name}". ${hint}`);
}

/** "callback" is not almost "call": only typos of one or two letters count. */
function commandsLike(word: string): string[] {
  const near = nearNames(word, ["help", "version", ...Object.keys(SUBCOMMANDS)]);
  return near.filter((name) => Math.abs(name.length - word.length) <= 2);
}
