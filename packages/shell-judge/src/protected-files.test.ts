import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { judgeCommand } from "./command-policy.ts";
import {
  explainProtectedFile,
  FORMS_WRITTEN_BY_GIT,
  isWrittenByGit,
  PROTECTED,
  PROTECTED_IN_GIT,
  PROTECTED_IN_HOME,
} from "./protected-files.ts";
import { parseRule, type Rule } from "./rules.ts";

const PAGE = fileURLToPath(new URL("../../../docs/tools/run_shell_command.md", import.meta.url));

describe("the one list of protected names", () => {
  it("P21 P53 is on the page, name for name", () => {
    const rows = Object.entries(PROTECTED).map(
      ([what, names]) => `| ${what} | ${names.map((name) => `\`${name}\``).join(" ")} |`,
    );
    const page = readFileSync(PAGE, "utf8");
    const squeezed = page.replace(/ +/g, " ");
    for (const row of rows) expect(squeezed).toContain(row);
    const table = page.slice(page.search(/^\| what +\|/m)).split("\n");
    expect(table.filter((line) => line.startsWith("|")).length).toBe(rows.length + 2);
    for (const name of [...PROTECTED_IN_GIT, ...PROTECTED_IN_HOME]) expect(page).toContain(`\`${name}\``);
  });

  it("P21 P18 a name of many spaces is read once", () => {
    expect(explainProtectedFile(`${" .".repeat(500_000)}x`)).toBeNull();
    expect(explainProtectedFile(`.bashrc${" .".repeat(500_000)}`)).not.toBeNull();
  });

  it("P21 P22 means names of several segments only in that order", () => {
    const named = [
      "a/.jj/repo/config.toml",
      ".JJ/Repo/config.toml",
      "a/.github/hooks/x/y.json",
      "tools/bazel",
    ];
    for (const path of named) expect(explainProtectedFile(path), path).not.toBeNull();
    const others = ["repo/config.toml", "jj/repo/config.toml", ".jj/config.toml", ".github/workflows/ci.yml"];
    for (const path of [...others, "hooks/x.json", ".jj/repo/store/config.toml"])
      expect(explainProtectedFile(path), path).toBeNull();
  });

  it("P21 P53 means what other agents run from a project, and not what only speaks to a model", () => {
    // Where the crate agent-config 0.3 and the pages of these agents say that hooks, servers and code are.
    const published =
      ".claude/settings.json .mcp.json .cursor/hooks.json .gemini/settings.json .codex/hooks.json .codex/config.toml .github/hooks/a-rewrite.json .opencode/plugins/a.ts opencode.json .clinerules/hooks/PreToolUse .roo/mcp.json .windsurf/hooks.json kilo.jsonc .kilo/kilo.jsonc .agent/mcp_config.json .agents/mcp_config.json .amp/settings.json .codebuddy/settings.json crush.json .iflow/settings.json .junie/mcp/mcp.json .pi/mcp.json .qwen/settings.json .tabnine/agent/settings.json .openhands/setup.sh .openhands/hooks.json .qoder/settings.local.json .augment/settings.json .agents/plugins/a/hooks/hooks.json .github/agents/a.agent.md .github/extensions/a/extension.mjs .github/copilot/settings.json .github/hooks.json";
    for (const path of published.split(" ")) expect(explainProtectedFile(path), path).not.toBeNull();
    const spoken =
      "AGENTS.md .clinerules/a.md .agents/skills/a/SKILL.md .agents/rules/a.md .github/copilot-instructions.md .github/prompts/a.prompt.md .github/workflows/ci.yml";
    for (const path of spoken.split(" ")) expect(explainProtectedFile(path), path).toBeNull();
  });

  it("P21 P53 means the settings of programs for hooks in every form that their pages name", () => {
    const forms = ["yml", "yaml", "toml", "json", "jsonc"];
    const places = ["", ".", ".config/"].flatMap((place) =>
      ["lefthook", "lefthook-local"].map((name) => place + name),
    );
    for (const place of places)
      for (const form of forms) expect(explainProtectedFile(`a/${place}.${form}`), place).not.toBeNull();
    for (const form of ["js", "cjs", "mjs", "json"])
      for (const name of ["simple-git-hooks", ".simple-git-hooks"])
        expect(explainProtectedFile(`${name}.${form}`), form).not.toBeNull();
    for (const name of [".flaskenv", ".dev.vars", ".git-credentials", ".sl/config", "_darcs/prefs/defaults"])
      expect(explainProtectedFile(name), name).not.toBeNull();
  });

  it("P21 P53 means the same name for a disk that leaves case or invisible signs aside", () => {
    for (const name of [".\u017f\u017fh/config", ".v\u017fcode/x", ".g\u200cit/config", ".\u212aube/x"])
      expect(explainProtectedFile(name), name).not.toBeNull();
    for (const name of [".envé", ".gït/config", "ﬁle"]) expect(explainProtectedFile(name), name).toBeNull();
  });

  it("P21 P53 means each of them, at any depth, in any case", () => {
    for (const name of Object.values(PROTECTED).flat()) {
      const plain = name.replace("*", "x").replace(/\/$/, "");
      for (const path of [plain, `a/b/${plain}`, `a/${plain.toUpperCase()}`]) {
        expect([path, explainProtectedFile(path)]).toEqual([path, expect.any(String)]);
      }
      if (name.endsWith("/")) expect(explainProtectedFile(`a/${name}inside/x`)).not.toBeNull();
    }
  });
});

describe("what git itself writes in its folder", () => {
  it.each(FORMS_WRITTEN_BY_GIT)("P21 P53 %s is written, such as %s", (form, example) => {
    expect(form.test(example)).toBe(true);
  });

  it("P21 P53 is no hook and no setting", () => {
    expect(["index", "refs", "gitk.cache", "ORIG_HEAD"].filter((name) => !isWrittenByGit(name))).toEqual([]);
    expect([...PROTECTED_IN_GIT, "hooks2", "x.sh"].filter(isWrittenByGit)).toEqual([]);
  });
});

describe("commands that write such a file", () => {
  const verdictOf = (command: string, lists: { readonly allow?: Rule[]; readonly granted?: Rule[] }) => {
    const realPaths = (path: string) => (path.endsWith("/link") ? ["/project/.git/hooks"] : [path]);
    const rules = { allow: [], ask: [], deny: [], ...lists };
    return judgeCommand({ command, mode: "auto-edit", rules, place: { root: "/project", realPaths } });
  };

  it.each([
    "cp a .git/hooks/pre-commit",
    "cp a link",
    "mv a .vscode",
    "tee sub/.envrc",
    "dd if=a of=.envrc",
    "cc -E a.c -o .envrc",
    "cc -E a.c -o.envrc",
    "cc -E a.c -omise.toml",
    "cp -Dtmise.toml a",
    "cp -vDtmise.toml a",
    "cp -t.git/hooks a",
    "install -Dt.git/hooks a",
    "install -D --target-directory=.git/hooks a",
    "echo x > .bashrc",
    "bash -c 'cp a .npmrc'",
    "env CI=1 sh -c 'ls; cp a .npmrc'",
  ])("P21 P53 no rule and no always covers %j", (command) => {
    const [program = ""] = command.split(" ");
    const named = parseRule(`run_shell_command(${program})`);
    for (const list of [named, parseRule("run_shell_command")]) {
      for (const lists of [{ allow: [list] }, { granted: [list] }])
        expect(verdictOf(command, lists)).toMatchObject({ verdict: "ask", grants: [] });
    }
  });

  it.each(["bash -c 'rm -rf a'", "find . -exec sh -c 'git reset --hard' ;"])(
    "P21 P23 no always covers %j, which destroys",
    (command) => {
      const granted = [parseRule(`run_shell_command(${command})`), parseRule("run_shell_command")];
      expect(verdictOf(command, { granted })).toMatchObject({ verdict: "ask", grants: [] });
    },
  );

  it.each(["cp -tout a", "cc -E a.c -oout.i", "install -Dt.out a", "rm -rf .github/workflows"])(
    "P22 a rule covers %j",
    (command) => {
      const allow = [parseRule(`run_shell_command(${command})`)];
      expect(verdictOf(command, { allow }).verdict).toBe("allow");
    },
  );
});
