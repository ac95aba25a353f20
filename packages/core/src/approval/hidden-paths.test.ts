import type { ApprovalMode } from "@burin/contract/approval-mode";
import type { CommandPlace } from "@burin/shell-judge";
import { parseRule } from "@burin/shell-judge";
import { describe, expect, it } from "vitest";
import { judge } from "./approval-policy.ts";

const FILES = ["/project/.env", "/project/src/a.ts", "/project/secrets/key", "/project/docs/secrets.md"];
const PLACE: CommandPlace = {
  root: "/project",
  realPaths: (path) => [path.replace(/\/link\b/, "/secrets/key")],
  filesBelow: (folder) => (folder.endsWith("/huge") ? null : FILES.filter((file) => file.startsWith(folder))),
};

function judged(command: string, mode: ApprovalMode, place = PLACE) {
  const confirmation = { kind: "exec", title: "", command, parts: [], grants: [] } as const;
  const request = { tool: "run_shell_command", kind: "execute", confirmation, subjects: [] } as const;
  const deny = [parseRule("read_file(.env*)"), parseRule("edit(secrets/**)")];
  return judge({ ...request, place }, mode, { allow: [], ask: [], deny });
}

describe("paths that another tool may not touch", () => {
  it.each([
    ["by its name", "cat .env"],
    ["by its name", "cat ./.env.local"],
    ["by its name", "grep x sub/.env"],
    ["by its name", "cat < .env"],
    ["in a pattern", "cat .e*"],
    ["in another shell", "sh -c 'cat .env'"],
    ["in a variable", "cat $x"],
    ["by its whole path", "cat /project/secrets/key"],
    ["with too many slashes", "cat .//secrets/key"],
    ["through a link", "head -1 link"],
    ["from another folder", "cd src && cat ../secrets/key"],
    ["from another folder in a shell inside", "sh -c 'cd src && cat ../x'"],
    ["in a commit", "git show HEAD:secrets/key"],
    ["behind the letter of an option", "grep -f.env x"],
    ["in a search of everything", "grep -rn needle ."],
    ["in a search that names no folder", "grep -r -A 3 needle"],
    ["in a search by other words", "grep -d recurse needle ."],
    ["in a search of git", "git grep needle"],
    ["in a search of ripgrep", "rg needle"],
    ["in a search of ripgrep with all files", "cd docs; rg -uu needle .."],
    ["in a comparison", "diff -r src ."],
    ["handed over by find", "find . -type f -exec cat {} +"],
    ["handed over by find", "find . -name '.E*' -exec cat {} ';'"],
    ["handed over by find", "timeout 5 find docs/../secrets -ok cat {} ';'"],
    ["handed over by find", "find . ! -name '*.ts' -execdir cat {} +"],
    ["handed over by find", "find huge -exec cat {} +"],
    ["in a folder too large to look through", "grep -r needle huge"],
  ])("P19 read %s ask, also in yolo: %s", (_how, command) => {
    expect(judged(command, "yolo")).toMatchObject({ verdict: "ask", grants: [] });
    expect(judged(command, "default")).toMatchObject({ verdict: "ask", grants: [] });
  });

  it("P19 a search asks where nothing is known of the files", () => {
    expect(judged("grep -r needle src", "yolo", { root: "/project" }).verdict).toBe("ask");
  });

  it.each([
    "cat src/env.ts && ls",
    "cat src/a.ts",
    "grep -rn needle src docs",
    "rg needle src",
    "cd docs && rg x",
    "find . -type f -name '*.ts' -exec cat {} +",
    "find src docs -type f -exec cat {} +",
  ])("P19 P22 other files are as they were: %s", (command) =>
    expect(judged(command, "default").verdict).toBe("allow"),
  );

  it("P19 P22 names may be seen", () => {
    expect(judged("find . -name '*.ts'", "yolo").verdict).toBe("allow");
    expect(judged("ls -a", "default").verdict).toBe("allow");
  });
});
