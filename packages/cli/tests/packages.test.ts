import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { burin } from "./burin.ts";

const folderOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

function packedFiles(name: string): string[] {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const told = execFileSync("npm", args, { cwd: folderOf(name), encoding: "utf8", stdio: "pipe" });
  const packed: unknown = JSON.parse(told);
  const [first] = Object.values(packed as Record<string, { files: { path: string }[] }>);
  return (first?.files ?? []).map(({ path }) => path);
}

describe.each(["core", "cli"])("the package %s", (name) => {
  it("holds its README, its licence and the notices of what is bundled", () => {
    const files = packedFiles(name);
    for (const file of ["README.md", "LICENSE", "dist/THIRD-PARTY-NOTICES.txt"])
      expect(files).toContain(file);
    const notices = readFileSync(`${folderOf(name)}/dist/THIRD-PARTY-NOTICES.txt`, "utf8");
    expect(notices).toMatch(/^diff \d/m);
    expect(notices).toContain("Permission is hereby granted");
  });
});

describe("the library", () => {
  it("is readable where an error shows a line of it, with maps to its sources", () => {
    const dist = `${folderOf("core")}/dist`;
    const door = readFileSync(`${dist}/index.js`, "utf8");
    const chunks = [...door.matchAll(/"\.\/(chunks\/[^"]+)"/g)].map(([, name = ""]) => name);
    expect(chunks.length).toBeGreaterThan(0);
    for (const name of ["index.js", ...chunks]) {
      const lines = readFileSync(`${dist}/${name}`, "utf8").split("\n");
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(8000);
    }
    const sources = chunks.flatMap((name) => mapOf(`${dist}/${name}`).sources);
    expect(sources.some((source) => source.endsWith("src/create-session.ts"))).toBe(true);
  });
});

describe("the command line", () => {
  it("has a manual page that names every command and option of its help", async () => {
    const { man } = JSON.parse(readFileSync(`${folderOf("cli")}/package.json`, "utf8"));
    const page = readFileSync(`${folderOf("cli")}/${man}`, "utf8");
    expect(page).toMatch(/^\.TH BURIN 1 /);
    const shown = page.replaceAll("\\-", "-").replace(/\\f[BIR]/g, "");
    const { stdout: help } = await burin(["--help"], { cwd: folderOf("cli") });
    const commands = [...help.matchAll(/^ {7}(burin [a-z]+)/gm)].map(([, form = ""]) => form);
    const options = [...help.matchAll(/^ {2}.{0,6}(--[a-z-]+)/gm)].map(([, name = ""]) => name);
    const named = [...commands, ...options].filter((one) => one !== "burin help");
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((one) => !new RegExp(`^(-\\w, )?${one}\\b`, "m").test(shown))).toEqual([]);
    expect(shown).toContain("BURIN_HOME moves ~/.burin");
  });

  it("has maps that lead from a place in its code to the file and line it was written in", () => {
    const dist = `${folderOf("cli")}/dist`;
    const source = readFileSync(`${folderOf("cli")}/src/main.ts`, "utf8").split("\n");
    const written = "it cannot be loaded; reinstall it";
    const code = readFileSync(`${dist}/burin.cjs`, "utf8").split("\n");
    const line = code.findIndex((text) => text.includes(written));
    const map = new SourceMap(JSON.parse(readFileSync(`${dist}/burin.cjs.map`, "utf8")));
    const found = map.findEntry(line, code[line]?.indexOf(written) ?? 0);
    expect(found).toMatchObject({ originalSource: "../src/main.ts" });
    expect(source["originalLine" in found ? found.originalLine : 0]).toContain(written);
  });
});

/** A chunk that only binds others together has none. */
function mapOf(file: string): { readonly sources: readonly string[] } {
  return existsSync(`${file}.map`) ? JSON.parse(readFileSync(`${file}.map`, "utf8")) : { sources: [] };
}
