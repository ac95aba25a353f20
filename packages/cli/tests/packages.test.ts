import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

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
    const code = readFileSync(`${folderOf("core")}/dist/index.js`, "utf8");
    expect(Math.max(...code.split("\n").map((line) => line.length))).toBeLessThan(8000);
    const map = JSON.parse(readFileSync(`${folderOf("core")}/dist/index.js.map`, "utf8"));
    expect(map.sources.some((source: string) => source.endsWith("src/create-session.ts"))).toBe(true);
  });
});
