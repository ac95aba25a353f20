import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";

/** Node 20 keeps no compiled code. */
const CAN_KEEP = "enableCompileCache" in module;

let home: string;

beforeEach(() => {
  home = createTemporaryFolder();
});
function start(folder = home) {
  return burin(["tools", "--json"], { cwd: home, env: { BURIN_HOME: folder } });
}

function keptFiles(): string[] {
  if (!existsSync(join(home, "cache"))) return [];
  const all = readdirSync(join(home, "cache"), { recursive: true, encoding: "utf8" });
  return all.map((name) => join(home, "cache", name)).filter((path) => statSync(path).isFile());
}

describe("the code that V8 has made of a start", () => {
  it("P45 is kept by the first start for the next ones where Node can keep it", async () => {
    const first = await start();
    expect(keptFiles().length > 0).toBe(CAN_KEEP);
    expect(first.code).toBe(0);
    expect(await start()).toEqual(first);
  });

  it("P45 is made anew where it is broken off, foreign or gone", async () => {
    const { stdout } = await start();
    const kept = keptFiles();
    for (const text of ["", "not made by any V8", "x".repeat(100_000)]) {
      for (const path of kept) writeFileSync(path, text);
      expect(await start()).toMatchObject({ code: 0, stdout });
    }
    for (const path of kept) rmSync(path, { force: true });
    expect(await start()).toMatchObject({ code: 0, stdout });
  });

  it("P45 is not kept where there is no home yet, and never for --version", async () => {
    const missing = join(home, "missing");
    expect((await start(missing)).code).toBe(0);
    expect(existsSync(missing)).toBe(false);
    await burin(["--version"], { cwd: home, env: { BURIN_HOME: home } });
    expect(existsSync(join(home, "cache"))).toBe(false);
  });
});
