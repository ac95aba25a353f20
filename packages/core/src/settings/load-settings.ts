import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { mergeSettings, type Settings, SettingsError } from "./settings.ts";
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
  const ownFile = join(places.home, "settings.json");
  const own = foundText(ownFile);
  if (own !== null) layers.push(await parsed(ownFile, own));
  const projectFile = join(places.root, ".burin", "settings.json");
  const project = foundText(projectFile);
  if (project !== null) {
    if (isTrusted(places.home, places.root)) layers.push(await parsed(projectFile, project));
    else notices.push(`${projectFile} was not read: this folder is not trusted.`);
  }
  if (places.file !== undefined) {
    const file = resolve(places.file);
    const text = textOf(file);
    if (text === null) throw new SettingsError(`The settings file ${file} does not exist.`);
    layers.push(await parsed(file, text));
  }
  return { settings: mergeSettings(layers), notices };
}

/** Most starts find no settings file; they need not load what judges it. */
async function parsed(file: string, text: string): Promise<object> {
  const { parseLayer } = await import("./parse-layer.ts");
  return parseLayer(file, text);
}

/** Of a file that nobody named: a pipe in its place would be waited for without end. */
function foundText(file: string): string | null {
  if (isPipe(file)) throw new SettingsError(`${file} cannot be read: it is a pipe.`);
  return textOf(file);
}

function isPipe(file: string): boolean {
  try {
    return statSync(file).isFIFO();
  } catch {
    // Reading it says why.
    return false;
  }
}

/** Read at once: a start has nothing else to do meanwhile, and more of Node would have to be loaded for waiting. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new SettingsError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
