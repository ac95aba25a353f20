import { createRequire } from "node:module";
import { once } from "@burin/contract/async/once";
import type { AsyncEntry } from "@napi-rs/keyring";

const SERVICE = "burin-mcp";
/** A keychain that asks the user or its service must not block a session. */
const PATIENCE_MS = 3000;

type Entries = new (service: string, user: string) => AsyncEntry;

/** The optional package is native and never bundled; null if it is not installed or does not load. */
const loaded = once((): Entries | null => {
  try {
    return (createRequire(import.meta.url)("@napi-rs/keyring") as { AsyncEntry: Entries }).AsyncEntry;
  } catch {
    return null;
  }
});

/** Whether its package is installed; does not test the system's keychain. */
export function hasKeychain(): boolean {
  return loaded() !== null;
}

function entryOf(name: string): AsyncEntry | undefined {
  const Entry = loaded();
  return Entry ? new Entry(SERVICE, name) : undefined;
}

/** The secret with that name; null when there is none or the system's keychain does not work here. */
export async function keychainGet(name: string): Promise<string | null> {
  try {
    return (await entryOf(name)?.getPassword(AbortSignal.timeout(PATIENCE_MS))) ?? null;
  } catch {
    return null;
  }
}

/** Returns false when the secret must be stored elsewhere. */
export async function keychainSet(name: string, secret: string): Promise<boolean> {
  try {
    await entryOf(name)?.setPassword(secret, AbortSignal.timeout(PATIENCE_MS));
    return (await keychainGet(name)) === secret;
  } catch {
    return false;
  }
}

export async function keychainDelete(name: string): Promise<void> {
  await entryOf(name)
    ?.deletePassword(AbortSignal.timeout(PATIENCE_MS))
    .catch(() => {});
}
