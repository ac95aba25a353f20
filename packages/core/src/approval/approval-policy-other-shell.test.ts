import type { ApprovalMode } from "@burin/contract/approval-mode";
import { parseRule } from "@burin/shell-judge";
import { describe, expect, it } from "vitest";
import { judge } from "./approval-policy.ts";

const rule = (words: string) => parseRule(words === "" ? "run_shell_command" : `run_shell_command(${words})`);

function judged(command: string, mode: ApprovalMode, deny: readonly string[] = []) {
  const confirmation = { kind: "exec", title: "", command, parts: [], grants: [] } as const;
  const request = { tool: "run_shell_command", kind: "execute", confirmation, subjects: [] } as const;
  const allow = [rule(""), rule("dir"), rule("git status")];
  const rules = { allow, granted: [rule("dir")], ask: [], deny: deny.map(rule) };
  return judge({ ...request, place: { root: "C:/project", isOtherShell: true } }, mode, rules);
}

const COMMANDS = [
  ...["dir", "ls", "git status", "git status & del /q *", "echo %PATH:~0,1%", "type a.txt | more"],
  ...["Get-ChildItem; Remove-Item -Recurse .", "ls `; rm x", "& { ls }", "ls $(rm x)", "dir ^& del x"],
];

describe("commands for cmd and PowerShell", () => {
  it.each(COMMANDS)("P20 P21 %j asks whatever the rules allow, and no always is offered", (command) => {
    for (const mode of ["default", "auto-edit"] as const) {
      expect(judged(command, mode)).toMatchObject({ verdict: "ask", grants: [] });
    }
    expect(judged(command, "plan").verdict).toBe("deny");
    expect(judged(command, "yolo").verdict).toBe("allow");
  });

  it.each(["del x", "DEL x", "dir & d^el x", 'cmd /c "del" x'])(
    "P21 deny del holds for %j, in yolo too",
    (command) => {
      expect(judged(command, "yolo", ["del"]).verdict).toBe("deny");
      expect(judged("dir", "yolo", ["del"]).verdict).toBe("allow");
      expect(judged("dir", "yolo", [""]).verdict).toBe("deny");
    },
  );
});
