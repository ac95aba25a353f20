import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { ParseError } from "jsonc-parser";
import { schemaError } from "../messages/check-schema.ts";
import { mergeSettings, type Settings, SettingsError } from "./settings.ts";
import { SETTINGS_SCHEMA } from "./settings-schema.ts";
import { isTrusted } from "./trust.ts";

export interface SettingsPlaces {
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  /** The project's folder; its settings count only when it is trusted. */
  readonly root: string;
  /** A file named on the command line; it must exist. */
  readonly file?: string;
}

export interface LoadedSettings {
  readonly settings: Settings;
  /** What the person should know, e.g. that a file was not read. */
  readonly notices: readonly string[];
}

/** Where Burin keeps what belongs to the person. */
export function burinHome(environment: NodeJS.ProcessEnv): string {
  return environment.BURIN_HOME || join(homedir(), ".burin");
}

/** Reads the person's, the project's and the named settings; later ones win. Throws SettingsError. */
export async function loadSettings(places: SettingsPlaces): Promise<LoadedSettings> {
  const layers: object[] = [];
  const notices: string[] = [];
  layers.push((await readLayer(join(places.home, "settings.json"))) ?? {});
  const projectFile = join(places.root, ".burin", "settings.json");
  const project = await readLayerText(projectFile);
  if (project !== null) {
    if (await isTrusted(places.home, places.root)) layers.push(await parseLayer(projectFile, project));
    else notices.push(`${projectFile} was not read: this folder is not trusted.`);
  }
  if (places.file !== undefined) {
    const named = await readLayer(resolve(places.file));
    if (named === null) throw new SettingsError(`The settings file ${resolve(places.file)} does not exist.`);
    layers.push(named);
  }
  return { settings: mergeSettings(layers), notices };
}

async function readLayer(file: string): Promise<object | null> {
  const text = await readLayerText(file);
  return text === null ? null : parseLayer(file, text);
}

async function readLayerText(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new SettingsError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function parseLayer(file: string, source: string): Promise<object> {
  // Most starts find no settings file; they need not load the parser.
  const { parse, printParseErrorCode } = await import("jsonc-parser");
  const text = source.replace(/^\uFEFF/, "");
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true }) ?? {};
  const first = errors[0];
  if (first !== undefined) {
    const what = printParseErrorCode(first.error)
      .replace(/(?<=[a-z])(?=[A-Z])/g, " ")
      .toLowerCase();
    throw new SettingsError(
      `${file}:${placeOf(text, first.offset)}: not valid JSON (${what}). The file was left as it is.`,
    );
  }
  const fault = schemaError(SETTINGS_SCHEMA, value);
  if (fault !== null) throw new SettingsError(`${file}: ${fault}. The file was left as it is.`);
  return value as object;
}

/** Line and column, both counted from 1. */
function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}
