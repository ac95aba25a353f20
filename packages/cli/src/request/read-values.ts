import { statSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../terminal/exit-code.ts";

/** The parsed options by name, as given on the command line. */
export type OptionValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export function readText(value: OptionValues[string]): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Returns the values of a repeatable option. */
export function readTexts(value: OptionValues[string]): string[] {
  return [value ?? []].flat().filter((one) => typeof one === "string");
}

/** Returns the value of an option that accepts only certain words; undefined if it was not given. */
export function readChoice<T extends string>(
  values: OptionValues,
  option: string,
  known: readonly T[],
): T | undefined {
  const value = readText(values[option]);
  const found = known.find((name) => name === value);
  if (value !== undefined && found === undefined)
    throw new UsageError(`--${option} must be one of ${known.join(", ")}, not "${value}".`);
  return found;
}

/** Returns the absolute path of a folder that the command line names. */
export function resolveFolder(path: string): string {
  const folder = resolvePath(path);
  const found = path === "" ? undefined : statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return folder;
  if (folder.includes("\ufffd")) throw new UsageError(`${folder} has a name that is not valid UTF-8.`);
  throw new UsageError(found ? `${folder} is not a folder.` : `${(path && folder) || '""'} does not exist.`);
}

function resolvePath(path: string): string {
  try {
    return resolve(path);
  } catch {
    throw new UsageError("the current folder was removed, or may not be entered. Change to another one.");
  }
}

export function readWholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`${option} must be a whole number above 0, not "${text}".`);
}

const MAX_PORT = 65_535;

/** Parses the value of `--port`. */
export function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return Number(text);
  throw new UsageError(`--port must be a whole number up to ${MAX_PORT}, not "${text}".`);
}
