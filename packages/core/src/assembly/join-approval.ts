import type { Settings } from "@burin/contract/settings/settings";
import type { Question } from "@burin/contract/tools";
import type { Commands } from "@burin/machine/processes/commands";
import { parseRule, type Rule, type Rules } from "@burin/shell-judge";
import type { ApprovalMode, ApprovalRequest, Verdict } from "../approval/approval-policy.ts";
import type { QuestionNeeds, Questions } from "../scheduler/questions.ts";
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
    const [{ judge }, { surroundings }, { gitRepositories }] = await Promise.all([
      import("../approval/approval-policy.ts"),
      import("@burin/machine/processes/command-surroundings"),
      import("@burin/machine/git/git-repository"),
    ]);
    const { shell } = ground;
    const place = {
      root: roots[0] ?? "",
      includeDirectories: roots.slice(1),
      ...surroundings(roots, ground.environment.PATH),
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

/** The one queue of questions; its code is loaded with the first of them. */
export class LazyQuestions {
  readonly #needs: QuestionNeeds;
  #loading: Promise<Questions> | null = null;
  #loaded: Questions | null = null;

  constructor(needs: QuestionNeeds) {
    this.#needs = needs;
  }

  readonly load = (): Promise<Questions> => {
    this.#loading ??= import("../scheduler/questions.ts").then(({ Questions: Queue }) => {
      this.#loaded = new Queue(this.#needs);
      return this.#loaded;
    });
    return this.#loading;
  };

  get open(): readonly Question[] {
    return this.#loaded?.open ?? [];
  }

  answer(id: string, decision: unknown): string | null {
    return this.#loaded ? this.#loaded.answer(id, decision) : `no question ${JSON.stringify(id)} is open.`;
  }
}
