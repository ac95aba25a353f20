import { rm } from "node:fs/promises";
import { join } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import {
  changeHomeFile,
  readHomeFile,
  replaceHomeFile,
  withExclusiveLock,
} from "@burin/files/disk/home-file";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { hashText } from "./definition.ts";
import { readSecret, storeSecret } from "./keychain.ts";

export interface Credentials {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  /** Scopes that the server asked for but the last login did not grant. */
  readonly wantedScope?: string;
}

/** Stores credentials in the keychain or a private file. Reads them each time, so that sessions notice a login. */
export class CredentialStore {
  readonly #name: string;
  readonly #path: string;
  readonly #usesKeychain: boolean;

  constructor(home: string, url: string, environment: NodeJS.ProcessEnv) {
    // With more digits of the hash, existing logins would not be found.
    this.#name = hashText({ home, url }).slice(0, 16);
    this.#path = join(home, "credentials", `mcp-${hashText(url).slice(0, 16)}.json`);
    this.#usesKeychain = environment.BURIN_KEYCHAIN !== "off";
  }

  async read(): Promise<Credentials> {
    const text =
      (await readHomeFile(this.#path)) ?? (this.#usesKeychain ? await readSecret(this.#name) : null);
    if (text === null) return {};
    return withFallback({}, () => JSON.parse(text) as Credentials);
  }

  /** Changes some fields and keeps the others. */
  change(change: Credentials): Promise<void> {
    return withExclusiveLock(`${this.#path}.change`, async () => {
      const text = JSON.stringify({ ...(await this.read()), ...change });
      if (this.#usesKeychain && (await storeSecret(this.#name, text))) await rm(this.#path, { force: true });
      else await changeHomeFile(this.#path, () => `${text}\n`);
    });
  }

  /** Throws a SettingsError if nothing can be stored. A refresh token that is valid only once could be lost. */
  async assertCanStore(): Promise<void> {
    const text = await readHomeFile(this.#path);
    if (text !== null) await replaceHomeFile(this.#path, text);
  }

  /** Does work that no other process may do at the same time, for example using a token that is valid only once. */
  runExclusively<T>(work: () => Promise<T>): Promise<T> {
    return withExclusiveLock(`${this.#path}.refresh`, work);
  }
}
