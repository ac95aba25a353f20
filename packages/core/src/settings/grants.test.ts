import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { GrantStore } from "./grants.ts";

let home: string;
let store: GrantStore;
let file: string;

beforeEach(() => {
  home = createTemporaryFolder();
  store = new GrantStore(join(home, "new"));
  file = join(home, "new", "grants.json");
});

const names = async (from = store) =>
  (await from.readItems()).map(({ rule, project = "*" }) => `${rule} ${project}`);

describe("stored grants", () => {
  it("P22 are there for the next process, each once, in a file that only the person can read", async () => {
    await store.add(["edit", "run_shell_command(npm test)"], "/a");
    await store.add(["edit"], undefined);
    await store.add(["edit"], "/a");
    expect(await names(new GrantStore(join(home, "new")))).toEqual([
      "edit /a",
      "run_shell_command(npm test) /a",
      "edit *",
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, "new")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(home, "new"))).toEqual(["grants.json"]);
  });

  it("P22 what another process stores or takes back counts at once", async () => {
    expect(await names()).toEqual([]);
    const other = new GrantStore(join(home, "new"));
    await other.add(["edit"], undefined);
    expect(await names()).toEqual(["edit *"]);
    expect(await other.revoke(({ rule }) => rule === "edit")).toHaveLength(1);
    expect(await names()).toEqual([]);
  });

  it.each(["{", "", "[]", "null", '{"grants":[{"rule":1,"when":""}]}', '{"grants":[{"rule":"edit"}]}'])(
    "a broken file (%j) grants nothing, takes nothing and keeps its bytes",
    async (text) => {
      mkdirSync(join(home, "new"));
      writeFileSync(file, text);
      await expect(store.readItems()).rejects.toThrow("grants.json is not valid, so no stored grant counts");
      await expect(store.add(["edit"], undefined)).rejects.toThrow("left as it is");
      await expect(store.revoke(() => true)).rejects.toThrow("left as it is");
      expect(readFileSync(file, "utf8")).toBe(text);
      expect(readdirSync(join(home, "new"))).toEqual(["grants.json"]);
    },
  );

  it("P22 answers given at the same time are all kept", async () => {
    const stores = ["a", "b", "c", "d", "e", "f"].map((name) => ({
      name,
      own: new GrantStore(join(home, "new")),
    }));
    const all = stores.flatMap(({ name, own }) => [1, 2, 3].map((n) => own.add([`${name}_${n}`], undefined)));
    await Promise.all(all);
    expect(await names()).toHaveLength(18);
    expect(readdirSync(join(home, "new"))).toEqual(["grants.json"]);
  });
});
