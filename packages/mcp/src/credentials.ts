import { rm } from "node:fs/promises";
import { join } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { alone, changeHomeFile, readHomeFile, replaceHomeFile } from "@burin/files/disk/home-file";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { hashOf } from "./definition.ts";
import { keychainGet, keychainSet } from "./keychain.ts";

export interface Credentials {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  /** Scopes that the server asked for and the last login did not give. */
  readonly wantedScope?: string;
}

/** In the keychain, or a file that only the user can read; read each time, so that running sessions see a login. */
export class CredentialStore {
  readonly #name: string;
  readonly #path: string;
  readonly #usesKeychain: boolean;

  constructor(home: string, url: string, environment: NodeJS.ProcessEnv) {
    // A longer part of the hash would be another name than that of logins which are there.
    this.#name = hashOf({ home, url }).slice(0, 16);
    this.#path = join(home, "credentials", `mcp-${hashOf(url).slice(0, 16)}.json`);
    this.#usesKeychain = environment.BURIN_KEYCHAIN !== "off";
  }

  async read(): Promise<Credentials> {
    const text =
      (await readHomeFile(this.#path)) ?? (this.#usesKeychain ? await keychainGet(this.#name) : null);
    if (text === null) return {};
    return orElse({}, () => JSON.parse(text) as Credentials);
  }

  /** Keeps the fields that are not in the change. */
  change(change: Credentials): Promise<void> {
    return alone(`${this.#path}.change`, async () => {
      const text = JSON.stringify({ ...(await this.read()), ...change });
      if (this.#usesKeychain && (await keychainSet(this.#name, text))) await rm(this.#path, { force: true });
      else await changeHomeFile(this.#path, () => `${text}\n`);
    });
  }

  /** Throws SettingsError where nothing can be stored: a token that is good for one use would be lost. */
  async assureRoom(): Promise<void> {
    const text = await readHomeFile(this.#path);
    if (text !== null) await replaceHomeFile(this.#path, text);
  }

  /** Work that no other process may do at the same time, for example using a token that is valid only once. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return alone(`${this.#path}.refresh`, work);
  }
}
