import { describe, expect, it } from "vitest";
import { judgeCommand } from "./command-policy.ts";

/** The effects of each part, as words that are easy to compare: `!` for what leaves the project. */
function effects(command: string): string[] {
  const place = { root: "/home/me/project", directory: "/home/me/project" };
  const rules = { allow: [], ask: [], deny: [], granted: [] };
  const { parts = [] } = judgeCommand({ command, mode: "default", rules, place });
  return parts.map(({ effects: all }) =>
    all.map(({ kind, on, isOutside }) => [`${isOutside ? "!" : ""}${kind}`, ...on].join(" ")).join("; "),
  );
}

describe("what the parts of a command line would do", () => {
  it.each([
    ["rm -rf build dist && rm -rf ~/old-notes", ["deletes build dist", "!deletes ~/old-notes"]],
    ["rm notes.txt", ["deletes notes.txt"]],
    ["sudo rm -rf /var/lib/old", ["!deletes /var/lib/old"]],
    ["rm -- -odd", ["deletes -odd"]],
    ["find src -name '*.orig' -delete", ["deletes src"]],
    ["npm install left-pad", ["network"]],
    ["git push origin main", ["!sends origin"]],
    ["git push --force origin main", ["discards; !sends origin"]],
    ["git reset --hard", ["discards"]],
    ["git clean -fdx && git status", ["discards", ""]],
    ["cp a.txt ~/a.txt", ["!changes ~/a.txt"]],
    ["cat /etc/hostname", ["!reads /etc/hostname"]],
    ["echo x > ../out.txt", ["!writes ../out.txt"]],
    ["echo x > out.txt", ["writes out.txt"]],
    ["echo hook > .git/hooks/pre-commit", ["protected .git/hooks/pre-commit"]],
    ["curl -sS https://example.org/x", ["network example.org"]],
    ["npx prettier --check .", ["may_network"]],
    ["touch made.txt; ls", ["unknown", ""]],
    ["bash -c 'rm -rf ~/x'", ["!deletes ~/x"]],
    ['rm -rf "$HOME/x"', ['!deletes "$HOME/x"']],
    ['rm -rf "$DIR"', ['deletes "$DIR"']],
    ["ls src", [""]],
  ])("P22 says of `%s` what is worst in each part", (command, wanted) => {
    expect(effects(command)).toEqual(wanted);
  });
});
