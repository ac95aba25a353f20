import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { BURIN, burin } from "./burin.ts";

let home: string;

beforeEach(() => {
  home = temporaryFolder();
});
function start(folder = home) {
  return burin(["tools", "--json"], { cwd: home, env: { BURIN_HOME: folder } });
}

function keptFiles(): string[] {
  const all = readdirSync(join(home, "cache"), { recursive: true, encoding: "utf8" });
  return all.map((name) => join(home, "cache", name)).filter((path) => statSync(path).isFile());
}

describe("the code that V8 has made of a start", () => {
  it("is kept by the first start for the next ones, for this person only", async () => {
    const first = await start();
    const kept = keptFiles();
    expect(kept.length).toBeGreaterThan(0);
    expect(statSync(join(home, "cache")).mode & 0o077).toBe(0);
    const times = kept.map((path) => statSync(path).mtimeMs);
    const second = await start();
    expect(first.code).toBe(0);
    expect(second).toEqual(first);
    expect(kept.map((path) => statSync(path).mtimeMs)).toEqual(times);
  });

  it("is kept for one version of Node: another one's V8 would take it and run it wrongly", async () => {
    await start();
    expect(keptFiles().every((path) => path.includes(process.version))).toBe(true);
  });

  it("is made anew where it is broken off, foreign or cannot be read", async () => {
    const { stdout } = await start();
    const kept = keptFiles();
    for (const text of ["", "not made by any V8", "x".repeat(100_000)]) {
      for (const path of kept) writeFileSync(path, text);
      expect(await start()).toMatchObject({ code: 0, stdout });
      expect(keptFiles().every((path) => statSync(path).size !== text.length)).toBe(true);
    }
    for (const path of kept) {
      rmSync(path);
      mkdirSync(path);
    }
    expect(await start()).toMatchObject({ code: 0, stdout });
  });

  it("is made anew where bytes of it have changed, wherever they are", async () => {
    const { stdout } = await start();
    const sound = keptFiles().map((path) => ({ path, bytes: readFileSync(path) }));
    for (const share of [0.1, 0.3, 0.49, 0.8]) {
      for (const { path, bytes } of sound) {
        const place = Math.floor(bytes.length * share);
        writeFileSync(path, Buffer.from(bytes).fill(0xa5, place, place + 64));
      }
      expect(await start()).toMatchObject({ code: 0, stdout, stderr: "" });
    }
  });

  it("leaves no parts where a file cannot be written whole, as on a full disk", async () => {
    mkdirSync(join(home, "cache"));
    const words = ["-c", 'ulimit -f 8; exec "$@"', "sh", process.execPath, BURIN, "tools"];
    const { status } = spawnSync("sh", words, { cwd: home, env: { HOME: home, BURIN_HOME: home } });
    expect([status, keptFiles().filter((path) => statSync(path).size === 4096)]).toEqual([0, []]);
  });

  it("is not kept where there is no home yet, and never for --version", async () => {
    const missing = join(home, "missing");
    expect((await start(missing)).code).toBe(0);
    expect(existsSync(missing)).toBe(false);
    await burin(["--version"], { cwd: home, env: { BURIN_HOME: home } });
    expect(existsSync(join(home, "cache"))).toBe(false);
  });
});
