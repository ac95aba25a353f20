import type { ApprovalMode } from "@burin/contract/approval-mode";
import { parseRule } from "@burin/shell-judge";
import { describe, expect, it } from "vitest";
import { judge } from "./approval-policy.ts";

const rule = (words: string) => parseRule(words === "" ? "run_shell_command" : `run_shell_command(${words})`);

type Given = { readonly mode?: ApprovalMode } & {
  readonly [Kind in "allow" | "ask" | "deny" | "granted"]?: readonly string[];
};

function judged(command: string, { mode = "default", ...given }: Given = {}) {
  const confirmation = { kind: "exec", title: "", command, parts: [], grants: [] } as const;
  const request = { tool: "run_shell_command", kind: "execute", confirmation, subjects: [] } as const;
  const of = (kind: "allow" | "ask" | "deny" | "granted") => (given[kind] ?? []).map(rule);
  const rules = { allow: of("allow"), ask: of("ask"), deny: of("deny"), granted: of("granted") };
  return judge({ ...request, place: { root: "/project" } }, mode, rules);
}

describe("grants", () => {
  it.each([
    ["git diff | head", []],
    ["npm publish", ["npm publish;"]],
    ["git diff | tee x && ls && make all", ["tee x;", "make *"]],
    ["git commit -m 'it is; done'", ["git commit *"]],
    ["git commit --amend -m 'it is; done'", ["git commit --amend -m 'it is; done';"]],
    ["cat /etc/hosts", ["cat /etc/hosts;"]],
    ["find . -delete", ["find . -delete;"]],
    ["sh -c 'touch x'", ["sh -c 'touch x';"]],
    ["make > out/log", ["make *", "> out/**"]],
    ["make > log", ["make *", "> log"]],
  ])(
    "P22 always for %j stores the parts that were not allowed, and then it does not ask",
    (command, words) => {
      const verdict = judged(command);
      expect(verdict.grants ?? []).toEqual(words.map((each) => `run_shell_command(${each})`));
      expect(judged(command, { granted: words }).verdict).toBe("allow");
    },
  );

  it.each(["rm -r build", "git reset --hard", "git clean -fd", "git push --force", "git checkout -- a"])(
    "P23 %s is allowed by name in the settings, never by always",
    (command) => {
      expect(judged(command)).toMatchObject({ verdict: "ask", grants: [] });
      for (const granted of [[""], [command], [`${command};`], [command.split(" ")[0] ?? ""]]) {
        expect(judged(command, { granted }).verdict).toBe("ask");
        expect(judged(command, { granted, allow: [`${command};`] }).verdict).toBe("allow");
        expect(judged(`${command} src`, { granted, allow: [`${command};`] }).verdict).toBe("ask");
      }
    },
  );

  it.each([
    ["npm test", { deny: ["npm test"] }, "deny"],
    ["npm test", { ask: ["npm"] }, "ask"],
    ["npm test", { mode: "plan" }, "deny"],
    ["npm test > .env", {}, "ask"],
    ["npm test; make", {}, "ask"],
    ["npm testing", {}, "ask"],
  ] as const)("P21 P22 always for npm test does not help %j with %j: %s", (command, given, wanted) => {
    expect(judged(command, { granted: ["npm test"], ...given }).verdict).toBe(wanted);
  });

  it("P22 a grant is told apart from a rule of the settings", () => {
    expect(judged("npm test", { granted: ["npm test"] }).reason).toBe(
      "the grant run_shell_command(npm test) covers it",
    );
  });

  it.each([
    "echo $x",
    "make > $x",
    "A=b make",
    "make &",
    "echo x > .env",
    "sed -i s/a/b/ .env",
    "cd",
    "rm *",
  ])("P22 nothing is offered where no rule would help: %j", (command) =>
    expect(judged(command)).toMatchObject({ verdict: "ask", grants: [] }),
  );

  it("P22 names the part that needs the approval", () => {
    expect(judged("git diff && npm publish", { allow: ["git diff"] })).toMatchObject({ part: "npm publish" });
    expect(judged("npm test && ls", { allow: ["npm test"] }).reason).toContain("run_shell_command(npm test)");
  });
});
