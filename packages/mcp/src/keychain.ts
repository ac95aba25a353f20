import { createRequire } from "node:module";
import { once } from "@burin/contract/async/once";
import type { AsyncEntry } from "@napi-rs/keyring";

const SERVICE = "burin-mcp";
/** How long to wait: a keychain that asks the user, or its service, must not block a session. */
const PATIENCE_MS = 3000;

interface SecretName {
  /** The keychain service for secrets of one kind. Default: that of logins to MCP servers. */
  readonly service?: string | undefined;
  readonly name: string;
}

type Entries = new (service: string, user: string) => AsyncEntry;

/** Loads the optional package, which is native and never bundled. null if it is not installed or fails to load. */
const loadKeyring = once((): Entries | null => {
  try {
    return (createRequire(import.meta.url)("@napi-rs/keyring") as { AsyncEntry: Entries }).AsyncEntry;
  } catch {
    return null;
  }
});

/** Whether the keychain package is installed. Does not test the system's keychain. */
export function hasKeychain(): boolean {
  return loadKeyring() !== null;
}

/** Resolves to undefined if the system's keychain does not work here. */
async function withKeychainEntry<T>(
  { service = SERVICE, name }: SecretName,
  work: (entry: AsyncEntry, patience: AbortSignal) => Promise<T>,
) {
  const Entry = loadKeyring();
  try {
    return Entry ? await work(new Entry(service, name), AbortSignal.timeout(PATIENCE_MS)) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the secret with this name, or null. */
export async function readSecret(name: string, service?: string): Promise<string | null> {
  return (
    (await withKeychainEntry({ name, service }, (entry, patience) => entry.getPassword(patience))) ?? null
  );
}

/** Removes a secret. Returns false when there was none, or the keychain did not answer. */
export async function removeKeychainSecret(name: string, service?: string): Promise<boolean> {
  return (
    (await withKeychainEntry({ name, service }, (entry, patience) => entry.deletePassword(patience))) === true
  );
}

/** Stores a secret. Returns false if it must be stored elsewhere. */
export async function storeSecret(name: string, secret: string, service?: string): Promise<boolean> {
  const isKept = await withKeychainEntry({ name, service }, async (entry, patience) => {
    await entry.setPassword(secret, patience);
    return (await readSecret(name, service)) === secret;
  });
  return isKept === true;
}
