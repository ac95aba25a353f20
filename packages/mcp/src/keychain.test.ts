import { createRequire } from "node:module";
import { afterAll, expect, it } from "vitest";
import { storeSecret } from "./keychain.ts";

const require = createRequire(import.meta.url);
const place = require.resolve("@napi-rs/keyring");
const asked: string[] = [];

/** A keychain that someone has locked. */
class LockedEntry {
  async setPassword(): Promise<void> {
    asked.push("set");
    throw new Error("locked");
  }
  async getPassword(): Promise<string> {
    asked.push("get");
    throw new Error("locked");
  }
}

require.cache[place] = { exports: { AsyncEntry: LockedEntry } } as NodeJS.Module;
afterAll(() => {
  delete require.cache[place];
});

it("P51 a keychain that does not take a login is not waited for a second time", async () => {
  expect({ isKept: await storeSecret("name", "secret"), asked }).toEqual({ isKept: false, asked: ["set"] });
});
