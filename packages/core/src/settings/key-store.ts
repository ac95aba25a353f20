import { join } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { SettingsError } from "@burin/contract/settings/settings";
import { changeHomeFile, readHomeFile } from "@burin/files/disk/home-file";
import { hashText } from "@burin/mcp/definition";
import { readSecret, removeKeychainSecret, storeSecret } from "@burin/mcp/keychain";

const SERVICE = "burin-keys";
/** The only variables that are set from the file. */
const OF_A_KEY = /^(?:[A-Z][A-Z0-9_]*_API_KEY|KEY_OF_[A-Z0-9_]+)$/;

/** A service's key that the user has stored for all starts. */
export interface KeptKey {
  /** The environment variable that the key replaces. */
  readonly variable: string;
  /** The only host that may get the key: the user has confirmed it. */
  readonly host: string;
  readonly place: "keychain" | "file";
  readonly keptAt: string;
}

interface Entry {
  readonly host: string;
  readonly keptAt: string;
  /** The key itself; absent where the keychain has it. */
  readonly key?: string;
}

/** Stores keys in the system's keychain where it works, otherwise in a file that only the user can read. */
export class KeyStore {
  readonly #home: string;
  readonly #usesKeychain: boolean;
  readonly file: string;

  constructor(home: string, environment: NodeJS.ProcessEnv) {
    this.#home = home;
    this.file = join(home, "credentials", "keys.json");
    this.#usesKeychain = environment.BURIN_KEYCHAIN !== "off";
  }

  async list(): Promise<readonly KeptKey[]> {
    const all = parseEntries(await readHomeFile(this.file), this.file);
    return Object.entries(all).map(([variable, { host, keptAt, key }]) => {
      return { variable, host, place: key === undefined ? "keychain" : "file", keptAt };
    });
  }

  /** Returns the stored keys for variables that the environment does not have. A broken file gives none. */
  async readVariables(environment: NodeJS.ProcessEnv): Promise<Readonly<Record<string, string>>> {
    const text = await readHomeFile(this.file).catch(() => null);
    if (text === null) return {};
    const all = isRecord(parseJson(text)) ? parseEntries(text, this.file) : {};
    const missing = Object.entries(all).filter(([variable]) => !environment[variable]);
    const found = await Promise.all(
      missing.map(async ([variable, { key }]) => {
        const kept = key ?? (this.#usesKeychain ? await readSecret(this.#hashName(variable), SERVICE) : null);
        return [variable, kept] as const;
      }),
    );
    return Object.fromEntries(found.filter((one): one is [string, string] => one[1] !== null));
  }

  /** Stores a key. Resolves to the place where it is. Throws SettingsError where nothing can be written. */
  async storeKey(variable: string, host: string, key: string): Promise<KeptKey["place"]> {
    const isInKeychain = this.#usesKeychain && (await storeSecret(this.#hashName(variable), key, SERVICE));
    const entry: Entry = { host, keptAt: new Date().toISOString(), ...(isInKeychain ? {} : { key }) };
    await this.#changeEntries((all) => ({ ...all, [variable]: entry }));
    return isInKeychain ? "keychain" : "file";
  }

  /** Removes a key. Returns false when no such key is stored. */
  async remove(variable: string): Promise<boolean> {
    const known = (await this.list()).find((one) => one.variable === variable);
    if (known === undefined) return false;
    if (known.place === "keychain") await removeKeychainSecret(this.#hashName(variable), SERVICE);
    await this.#changeEntries(({ [variable]: _gone, ...others }) => others);
    return true;
  }

  #changeEntries(
    change: (all: Readonly<Record<string, Entry>>) => Readonly<Record<string, Entry>>,
  ): Promise<void> {
    return changeHomeFile(this.file, (text) => {
      return `${JSON.stringify(change(parseEntries(text, this.file)), null, 2)}\n`;
    });
  }

  /** Returns the name of the keychain's entry: each home has its own keys. */
  #hashName(variable: string): string {
    return hashText({ home: this.#home, variable });
  }
}

/** Reads the file. Throws if it is not valid, because changing it would lose the keys in it. */
function parseEntries(text: string | null, file: string): Readonly<Record<string, Entry>> {
  if (text === null || text.trim() === "") return {};
  const value = parseJson(text);
  if (!isRecord(value)) throw new SettingsError(`${file} is not valid JSON; fix or remove it.`);
  const entries = Object.entries(value).flatMap(([variable, entry]): [string, Entry][] => {
    if (!isRecord(entry) || !OF_A_KEY.test(variable)) return [];
    const { host, keptAt, key } = entry;
    if (typeof host !== "string" || typeof keptAt !== "string") return [];
    return [[variable, { host, keptAt, ...(typeof key === "string" ? { key } : {}) }]];
  });
  return Object.fromEntries(entries);
}
