import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KeyStore } from "./key-store.ts";

const OFF = { BURIN_KEYCHAIN: "off" };
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "keys-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe("kept keys", () => {
  it("P19 are in a file for the user alone where there is no keychain, and count where no variable is set", async () => {
    const store = new KeyStore(home, OFF);
    expect(await store.storeKey("ANTHROPIC_API_KEY", "api.anthropic.com", "secret-one")).toBe("file");
    await store.storeKey("GROQ_API_KEY", "api.groq.com", "secret-two");
    expect(statSync(store.file).mode & 0o777).toBe(0o600);
    const other = new KeyStore(home, OFF);
    expect(await other.readVariables({ GROQ_API_KEY: "own" })).toEqual({ ANTHROPIC_API_KEY: "secret-one" });
    expect(await other.list()).toMatchObject([
      { variable: "ANTHROPIC_API_KEY", host: "api.anthropic.com", place: "file" },
      { variable: "GROQ_API_KEY", host: "api.groq.com", place: "file" },
    ]);
    expect(JSON.stringify(await other.list())).not.toContain("secret");
  });

  it("P19 are gone when they are removed, and only they", async () => {
    const store = new KeyStore(home, OFF);
    await store.storeKey("ANTHROPIC_API_KEY", "api.anthropic.com", "secret-one");
    await store.storeKey("GROQ_API_KEY", "api.groq.com", "secret-two");
    expect([await store.remove("GROQ_API_KEY"), await store.remove("GROQ_API_KEY")]).toEqual([true, false]);
    expect(await store.readVariables({})).toEqual({ ANTHROPIC_API_KEY: "secret-one" });
  });

  it("P54 a broken file stops no start, and is not written over", async () => {
    const store = new KeyStore(home, OFF);
    await store.storeKey("GROQ_API_KEY", "api.groq.com", "secret");
    writeFileSync(store.file, "{ broken");
    expect(await store.readVariables({})).toEqual({});
    await expect(store.storeKey("XAI_API_KEY", "api.x.ai", "other")).rejects.toThrow("is not valid JSON");
  });

  it("P19 name no variable that does more than hold a key", async () => {
    const store = new KeyStore(home, OFF);
    await store.storeKey("GROQ_API_KEY", "api.groq.com", "secret");
    const sneaked = { host: "x", keptAt: "now", key: "--require /tmp/evil.cjs" };
    writeFileSync(store.file, JSON.stringify({ NODE_OPTIONS: sneaked, PATH: sneaked }));
    expect(await store.readVariables({})).toEqual({});
  });
});
