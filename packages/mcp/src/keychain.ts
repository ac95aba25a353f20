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

/** Resolves to undefined when the system's keychain does not work here. */
async function withEntry<T>(name: string, work: (entry: AsyncEntry, patience: AbortSignal) => Promise<T>) {
  const Entry = loaded();
  try {
    return Entry ? await work(new Entry(SERVICE, name), AbortSignal.timeout(PATIENCE_MS)) : undefined;
  } catch {
    return undefined;
  }
}

/** The secret with that name; null when there is none. */
export async function keychainGet(name: string): Promise<string | null> {
  return (await withEntry(name, (entry, patience) => entry.getPassword(patience))) ?? null;
}

/** Returns false when the secret must be stored elsewhere. */
export async function keychainSet(name: string, secret: string): Promise<boolean> {
  const isKept = await withEntry(name, async (entry, patience) => {
    await entry.setPassword(secret, patience);
    return (await keychainGet(name)) === secret;
  });
  return isKept === true;
}
