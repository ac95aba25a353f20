import type { ApprovalMode } from "@burin/contract/approval-mode";
import { explainProtectedFile, parseRule } from "@burin/shell-judge";
import { describe, expect, it } from "vitest";
import { judge } from "./approval-policy.ts";

const NAMES = [
  ...".git/config .git/hooks/pre-commit sub/.git/config .GIT/config .git git~1/config .burin/settings.json".split(
    " ",
  ),
  ...".vscode/tasks.json .idea/workspace.xml .husky/pre-commit .env .env.local .ENV .envrc .bashrc .zshenv".split(
    " ",
  ),
  ...".npmrc .gitconfig .mcp.json .claude/settings.json .ssh/config .config/git/config x.code-workspace".split(
    " ",
  ),
  ...".dir-locals-2.el My.sublime-project .jj/repo/config.toml .mvn/extensions.xml .iex.exs .ocamlinit sub/.ghci".split(
    " ",
  ),
  ...".tool-versions rust-toolchain.toml tools/bazel .yarn/releases/yarn.cjs .lefthook/pre-commit/x .RData".split(
    " ",
  ),
  ...".pi/extensions/x.ts .junie/mcp/mcp.json .bazelrc .corepack.env .rdbgrc".split(" "),
  ...".pre-commit-config.yaml .yarnrc.yml /home/ada/.profile C:\\x\\.git\\config .git./config .env::$DATA".split(
    " ",
  ),
];

function verdictOf(path: string, mode: ApprovalMode, isNamedBySubject: boolean) {
  const diff = { kind: "file_diff", fileName: "", fileDiff: "", originalContent: null } as const;
  const full = { ...diff, newContent: "", addedLines: 0, removedLines: 0 };
  const subject = isNamedBySubject ? path : "harmless.txt";
  return judge(
    {
      tool: "edit",
      kind: "edit",
      confirmation: {
        kind: "edit",
        title: "",
        grants: ["edit"],
        path: isNamedBySubject ? "a" : path,
        diff: full,
      },
      subjects: [subject],
    },
    mode,
    { allow: [parseRule("edit"), parseRule("edit(**)")], ask: [], deny: [] },
  );
}

describe("protected files", () => {
  it.each(NAMES)("P21 %s is asked about in every mode but yolo, with no always", (path) => {
    expect(explainProtectedFile(path)).not.toBeNull();
    for (const byName of [true, false]) {
      for (const mode of ["default", "auto-edit"] as const) {
        expect(verdictOf(path, mode, byName)).toMatchObject({ verdict: "ask", grants: [] });
      }
      expect(verdictOf(path, "yolo", byName).verdict).toBe("allow");
      expect(verdictOf(path, "plan", byName).verdict).toBe("deny");
    }
  });

  it.each(
    ".gitignore .github/workflows/ci.yml src/git/config.ts .env.example environment.ts a.env.ts bashrc.md .gitattributes src/.envoy".split(
      " ",
    ),
  )("%s is a file like any other", ordinary);

  it.each(
    "Makefile conftest.py tox.ini .nvmrc .python-version .bazelversion gradlew tools/bazel.md hooks/x .yarn/cache/x.zip sublime-project.md rust-toolchain.md iex.exs mvn/x".split(
      " ",
    ),
  )("P21 %s runs when someone builds or tests, or names no program", ordinary);
});

function ordinary(path: string): void {
  expect(explainProtectedFile(path)).toBeNull();
  expect(verdictOf(path, "default", true).verdict).toBe("allow");
}
