import type { ApprovalMode } from "@burin/contract/approval-mode";
import { parseRule } from "@burin/shell-judge";
import { describe, expect, it } from "vitest";
import { judge } from "./approval-policy.ts";
import type { ApprovalRequest } from "./judge-call.ts";

interface Case {
  readonly kind?: ApprovalRequest["kind"];
  readonly asks?: boolean;
  readonly subjects?: readonly string[];
  readonly mode?: ApprovalMode;
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

function verdictOf(given: Case) {
  const kind = given.kind ?? "edit";
  return judge(
    {
      tool: kind === "read" ? "read_file" : "edit",
      kind,
      confirmation:
        (given.asks ?? kind !== "read")
          ? { kind: "info", title: "", prompt: "", urls: [], grants: ["edit"] }
          : false,
      subjects: given.subjects ?? ["src/a.ts"],
    },
    given.mode ?? "default",
    {
      allow: (given.allow ?? []).map(parseRule),
      ask: (given.ask ?? []).map(parseRule),
      deny: (given.deny ?? []).map(parseRule),
    },
  );
}

const TABLE: readonly (readonly [string, Case, "allow" | "ask" | "deny"])[] = [
  ["a reading tool that asks nothing", { kind: "read" }, "allow"],
  ["an edit", {}, "ask"],
  ["an edit in auto-edit", { mode: "auto-edit" }, "allow"],
  ["a command in auto-edit", { mode: "auto-edit", kind: "execute" }, "ask"],
  ["a command in yolo", { mode: "yolo", kind: "execute" }, "allow"],
  ["an edit in plan mode", { mode: "plan" }, "deny"],
  ["an edit in plan mode, allowed by a rule", { mode: "plan", allow: ["edit"] }, "deny"],
  ["a read in plan mode", { mode: "plan", kind: "read" }, "allow"],
  ["allowed by name", { allow: ["edit"] }, "allow"],
  ["allowed by a glob of names", { allow: ["e*"] }, "allow"],
  ["allowed by path", { allow: ["edit(src/**)"] }, "allow"],
  ["another path", { allow: ["edit(docs/**)"] }, "ask"],
  ["a folder that only begins alike", { allow: ["edit(src/**)"], subjects: ["src-evil/a.ts"] }, "ask"],
  ["only one of two paths allowed", { allow: ["edit(src/**)"], subjects: ["src/a.ts", "b.ts"] }, "ask"],
  ["one of two paths denied", { mode: "yolo", deny: ["edit(*.env)"], subjects: ["a.ts", "x/.env"] }, "deny"],
  ["deny beats allow", { allow: ["edit"], deny: ["edit(src/**)"] }, "deny"],
  ["deny beats yolo", { mode: "yolo", deny: ["edit"] }, "deny"],
  ["deny beats a tool that asks nothing", { kind: "read", deny: ["read_file"] }, "deny"],
  ["ask beats allow", { allow: ["edit"], ask: ["edit"] }, "ask"],
  ["ask beats yolo", { mode: "yolo", ask: ["edit"] }, "ask"],
  ["ask reaches a tool that asks nothing", { kind: "read", ask: ["read_file(src/**)"] }, "ask"],
  ["a rule for another tool", { kind: "read", deny: ["edit"] }, "allow"],
];

describe("judge", () => {
  it.each(TABLE)("R31 %s", (_title, given, wanted) => {
    const { verdict, reason } = verdictOf(given);
    expect(verdict).toBe(wanted);
    expect(reason).not.toBe("");
  });

  it("names the rule that decided", () => {
    expect(verdictOf({ deny: ["edit(src/**)"] }).reason).toContain("deny edit(src/**)");
  });
});

describe("parseRule", () => {
  it("reads tool and pattern", () => {
    expect(parseRule(" edit(src/**) ")).toMatchObject({ tool: "edit", pattern: "src/**" });
    expect(parseRule("github__*")).toMatchObject({ tool: "github__*" });
  });

  it.each(["", "edit(", "edit()", "(x)", "a b"])("says how to write one instead of %j", (text) => {
    expect(() => parseRule(text)).toThrow("tool(pattern)");
  });
});

describe("a command that asks for more than the sandbox allows", () => {
  function verdictFor(
    exception: "network" | "unlimited" | undefined,
    allow: string,
    mode: ApprovalMode = "default",
  ) {
    const what = { kind: "exec", title: "", command: "ls", parts: [], grants: [] } as const;
    const request = { tool: "run_shell_command", kind: "execute", subjects: ["ls"] } as const;
    const confirmation = exception === undefined ? what : { ...what, exception };
    return judge({ ...request, confirmation }, mode, { allow: [parseRule(allow)], ask: [], deny: [] })
      .verdict;
  }

  it.each(["network", "unlimited"] as const)(
    "P53 %s: runs unasked by a rule for all commands alone, and in yolo",
    (exception) => {
      expect(verdictFor(undefined, "read_file")).toBe("allow");
      expect(verdictFor(exception, "read_file")).toBe("ask");
      expect(verdictFor(exception, "run_shell_command(ls)")).toBe("ask");
      expect(verdictFor(exception, "run_shell_command")).toBe("allow");
      expect(verdictFor(exception, "read_file", "yolo")).toBe("allow");
    },
  );
});
