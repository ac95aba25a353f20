import type { Settings } from "@burin/contract/settings/settings";
import type { Commands } from "@burin/machine/processes/commands";
import { parseRule, type Rule, type Rules } from "@burin/shell-judge";
import type { ApprovalMode, ApprovalRequest, Verdict } from "../approval/approval-policy.ts";
import { orAborted } from "../scheduler/interruption.ts";
import type { Confirm } from "../scheduler/scheduler.ts";
import type { Grants } from "./join-grants.ts";

interface ApprovalGround {
  readonly current: { readonly mode: ApprovalMode };
  readonly rules: Rules;
  readonly grants: Grants;
  readonly roots: readonly string[];
  readonly surroundings: Commands["surroundings"];
}

/** The approval policy with all that it knows of this place. The grammar of commands is loaded with the first call. */
export function lazyApproval({ current, rules, grants, roots, surroundings: ground }: ApprovalGround) {
  return async (request: ApprovalRequest): Promise<Verdict> => {
    const [{ judge }, { surroundings }, { lookAround }, { gitRepositories }] = await Promise.all([
      import("../approval/approval-policy.ts"),
      import("@burin/machine/processes/command-surroundings"),
      import("@burin/machine/files/tree-below"),
      import("@burin/machine/git/git-repository"),
    ]);
    const { shell } = ground;
    const place = {
      root: roots[0] ?? "",
      includeDirectories: roots.slice(1),
      ...surroundings(roots),
      ...lookAround(roots, ground.environment.PATH ?? ""),
      repositoryFault: gitRepositories({ roots, ...ground }),
      isOtherShell: shell.kind === "cmd" || shell.kind === "powershell",
    };
    const judged = (granted: readonly Rule[]) =>
      judge({ ...request, place }, current.mode, { ...rules, granted: [...grants.session, ...granted] });
    const verdict = judged([]);
    if (verdict.verdict !== "ask") return verdict;
    const stored = await grants.stored();
    if (stored.fault !== undefined) return { ...verdict, reason: `${verdict.reason}; ${stored.fault}` };
    return stored.rules.length === 0 ? verdict : judged(stored.rules);
  };
}

export function parsedRules({ allow, ask, deny }: Settings["permissions"]): Rules {
  return { allow: allow.map(parseRule), ask: ask.map(parseRule), deny: deny.map(parseRule) };
}

/** Questions come one at a time, whoever asks. One that is given up holds up no other, answered or not. */
export function oneAtATime(confirm: Confirm): Confirm {
  let last: Promise<unknown> = Promise.resolve();
  return (question, signal) => {
    const answer = last.then(() => orAborted(() => confirm(question, signal), signal));
    last = answer.catch(() => {});
    return answer;
  };
}
