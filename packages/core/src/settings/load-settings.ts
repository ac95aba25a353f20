import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parseLayer, readLayer, readLayerText } from "./read-layer.ts";
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
