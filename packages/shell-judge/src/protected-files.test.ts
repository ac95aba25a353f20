import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { PROTECTED, PROTECTED_IN_GIT, PROTECTED_IN_HOME, protectedFile } from "./protected-files.ts";

const PAGE = fileURLToPath(new URL("../../../docs/tools/run_shell_command.md", import.meta.url));

describe("the one list of protected names", () => {
  it("P21 P53 is on the page, name for name", () => {
    const rows = Object.entries(PROTECTED).map(
      ([what, names]) => `| ${what} | ${names.replace(/\S+/g, "`$&`")} |`,
    );
    const page = readFileSync(PAGE, "utf8");
    const squeezed = page.replace(/ +/g, " ");
    for (const row of rows) expect(squeezed).toContain(row);
    const table = page.slice(page.search(/^\| what +\|/m)).split("\n");
    expect(table.filter((line) => line.startsWith("|")).length).toBe(rows.length + 2);
    for (const name of [...PROTECTED_IN_GIT, ...PROTECTED_IN_HOME]) expect(page).toContain(`\`${name}\``);
  });

  it("P21 P22 means names of several segments only in that order", () => {
    const named = [
      "a/.jj/repo/config.toml",
      ".JJ/Repo/config.toml",
      "a/.github/hooks/x/y.json",
      "tools/bazel",
    ];
    for (const path of named) expect(protectedFile(path), path).not.toBeNull();
    const others = ["repo/config.toml", "jj/repo/config.toml", ".jj/config.toml", ".github/workflows/ci.yml"];
    for (const path of [...others, "hooks/x.json", ".jj/repo/store/config.toml"])
      expect(protectedFile(path), path).toBeNull();
  });

  it("P21 P53 means each of them, at any depth, in any case", () => {
    for (const name of Object.values(PROTECTED).join(" ").split(" ")) {
      const plain = name.replace("*", "x").replace(/\/$/, "");
      for (const path of [plain, `a/b/${plain}`, `a/${plain.toUpperCase()}`]) {
        expect([path, protectedFile(path)]).toEqual([path, expect.any(String)]);
      }
      if (name.endsWith("/")) expect(protectedFile(`a/${name}inside/x`)).not.toBeNull();
    }
  });
});
