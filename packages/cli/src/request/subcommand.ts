import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { ParseArgsConfig } from "node:util";
import { type ExitCode, UsageError } from "../terminal/exit-code.ts";
import type { Output } from "../terminal/output.ts";
import type { CommonOptions } from "./options.ts";

export interface Io {
  readonly output: Output;
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal;
}

/** The words after the name of a subcommand, and the options around it. */
export interface SubcommandRequest {
  readonly words: readonly string[];
  readonly options: CommonOptions;
  /** The subcommand's own options, as given. */
  readonly own: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
}

type OptionValue = SubcommandRequest["own"][string];

export function textOf(value: OptionValue): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The values of an option that may be repeated. */
export function textsOf(value: OptionValue): string[] {
  return [value ?? []].flat().filter((one) => typeof one === "string");
}

/** One subcommand: `burin <name> ...`. Its code is loaded when it is called. */
export interface Subcommand {
  readonly ownOptions?: NonNullable<ParseArgsConfig["options"]>;
  /** False: only options can follow its name. */
  readonly takesWords?: false;
  /** How many words come before the command line of another program, which is kept literally with its options. */
  readonly ownWords?: (first: string) => number;
  load(): Promise<{ run(request: SubcommandRequest, io: Io): Promise<ExitCode> }>;
}

/** The whole path of a folder that the command line names. */
export function existingFolder(path: string): string {
  const folder = wholePath(path);
  const found = path === "" ? undefined : statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return folder;
  if (folder.includes("\ufffd")) throw new UsageError(`${folder} has a name that is not valid UTF-8.`);
  throw new UsageError(found ? `${folder} is not a folder.` : `${(path && folder) || '""'} does not exist.`);
}

function wholePath(path: string): string {
  try {
    return resolve(path);
  } catch {
    throw new UsageError("the current folder was removed, or may not be entered. Change to another one.");
  }
}

export function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`${option} must be a whole number above 0, not "${text}".`);
}

const MOST_PORT = 65_535;

/** The port that `--port` names. */
export function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MOST_PORT) return Number(text);
  throw new UsageError(`--port must be a whole number up to ${MOST_PORT}, not "${text}".`);
}
