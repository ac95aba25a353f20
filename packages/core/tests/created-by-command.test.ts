import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Confirmation } from "@burin/contract/tools";
import { createToolbox } from "@burin/core";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "burin-created-")));
  for (const words of [
    ["init", "-q", "-b", "main"],
    ["config", "user.name", "a"],
    ["config", "user.email", "a@b"],
  ])
    git(...words);
  writeFileSync(join(root, "a.txt"), "a\n");
  writeFileSync(join(root, "make.sh"), "echo x > .envrc; mkdir -p .vscode; echo x > .vscode/tasks.json\n");
  git("add", "-A");
  git("commit", "-qm", "one");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function git(...words: string[]): string {
  return execFileSync("git", ["-C", root, ...words], { encoding: "utf8", stdio: "pipe" });
}

/** Runs the command, and answers yes to it; `keep` answers what is asked after it, null for nobody who could. */
async function runCommand(command: string, keep: boolean | null) {
  const asked: Confirmation[] = [];
  const confirm = async (confirmation: Confirmation) => {
    asked.push(confirmation);
    if (confirmation.kind === "exec") return { outcome: "once" } as const;
    return keep === null ? null : ({ outcome: keep ? "once" : "cancel" } as const);
  };
  const toolbox = createToolbox({ root, confirm });
  const result = await toolbox.call("run_shell_command", { command });
  await toolbox.close();
  return { asked, result };
}

const MADE = [".envrc", ".vscode/tasks.json"];
const left = () => MADE.filter((name) => existsSync(join(root, name)));

describe("a protected file that comes as a surprise", requirePrograms("bwrap"), () => {
  it("P53 is asked about right after the command, and a yes keeps it", async () => {
    const { asked, result } = await runCommand("sh make.sh", true);
    expect(asked.map(({ kind }) => kind)).toEqual(["exec", "info"]);
    expect(asked[1]).toMatchObject({
      created: [{ path: join(root, ".envrc") }, { path: join(root, ".vscode") }],
    });
    expect([result.error, left()]).toEqual([undefined, MADE]);
    expect(result.llmContent).not.toContain("Moved out");
  });

  it("P53 is removed by a no, and the command has succeeded all the same", async () => {
    const { result } = await runCommand("sh make.sh", false);
    expect([result.error, left()]).toEqual([undefined, []]);
    expect(result.llmContent).toContain("Moved out of the project");
  });

  it("P53 makes a command end as refused where nobody can be asked, and git shows no deletion", async () => {
    const { result } = await runCommand("sh make.sh; git add -Af && git commit -qm two", null);
    expect([result.error?.type, left()]).toEqual(["needs_approval", []]);
    expect(git("status", "--porcelain")).toBe("");
    const restore = /`(git checkout [^`]*)`/.exec(String(result.llmContent))?.[1] ?? "false";
    execFileSync("sh", ["-c", restore], { cwd: root });
    expect([left(), git("status", "--porcelain")]).toEqual([MADE, ""]);
  });

  it("P53 is none where the question has named it, also for a rule that would allow the command", async () => {
    const { asked, result } = await runCommand("cp a.txt .envrc && echo more >> .envrc", null);
    expect(asked).toMatchObject([{ kind: "exec", writes: [{ path: join(root, ".envrc") }] }]);
    expect([result.error, readFileSync(join(root, ".envrc"), "utf8")]).toEqual([undefined, "a\nmore\n"]);
  });
});
