import type { Workspace } from "@burin/contract/machine/workspace";
import type { Settings } from "@burin/contract/settings/settings";
import type { Question } from "@burin/contract/tools";
import type { Machine, PlaceFacts } from "@burin/machine/machine";
import type { ShellProgram } from "@burin/machine/processes/shell-program";
import { parseRule, type Rule, type Rules } from "@burin/shell-judge";
import type { ApprovalMode, ApprovalRequest, Verdict } from "../approval/approval-policy.ts";
import type { QuestionNeeds, Questions } from "../scheduler/questions.ts";
import type { Grants } from "./join-grants.ts";

interface ApprovalGround {
  readonly current: { readonly mode: ApprovalMode };
  readonly rules: Rules;
  readonly grants: Grants;
  readonly workspace: Pick<Workspace, "roots">;
  readonly commands: { readonly shell: Pick<ShellProgram, "kind"> };
  readonly machine: Machine;
  readonly environment: NodeJS.ProcessEnv;
  readonly settings: Pick<Settings, "shell">;
}

/** The approval policy with all that it knows of this place. The grammar of commands is loaded with the first call. */
export function lazyApproval(approval: ApprovalGround) {
  const { current, rules, grants, machine, environment, settings } = approval;
  const { roots } = approval.workspace;
  const { shell } = approval.commands;
  const { passEnvironment } = settings.shell;
  return async (request: ApprovalRequest): Promise<Verdict> => {
    const [{ judge }, facts] = await Promise.all([
      import("../approval/approval-policy.ts"),
      machine.openFacts({ roots, environment, passEnvironment }),
    ]);
    const ground = {
      root: roots[0] ?? "",
      includeDirectories: roots.slice(1),
      isOtherShell: shell.kind === "cmd" || shell.kind === "powershell",
    };
    const judged = (granted: readonly Rule[]) =>
      knowing(facts, (known) =>
        judge({ ...request, place: { ...ground, ...known } }, current.mode, {
          ...rules,
          granted: [...grants.session, ...granted],
        }),
      );
    const verdict = await judged([]);
    if (verdict.verdict !== "ask") return verdict;
    const stored = await grants.stored();
    if (stored.fault !== undefined) return { ...verdict, reason: `${verdict.reason}; ${stored.fault}` };
    return stored.rules.length === 0 ? verdict : judged(stored.rules);
  };
}

/** What facts are while nobody has told them: then the person is asked. */
const UNKNOWN = {
  leadsOutside: true,
  realPaths: [],
  filesBelow: null,
  treeBelow: null,
  projectFolderOf: null,
  repositoryFault: { nature: "outside", what: "nothing is known of the repository" },
} as const;

/**
 * Judging waits for nothing. Where the machine has to be waited for, judging is done again when what it asked is
 * known, until it asks nothing new.
 */
async function knowing<T>(facts: PlaceFacts, judge: (known: KnownFacts) => T): Promise<T> {
  const known = new Map<string, unknown>();
  for (;;) {
    const asked = new Map<string, Promise<unknown>>();
    const fact =
      (name: keyof PlaceFacts) =>
      (...given: readonly unknown[]) => {
        const key = known.size === 0 ? "" : JSON.stringify([name, ...given]);
        if (known.has(key)) return known.get(key);
        const answer = (facts[name] as (...given: readonly unknown[]) => unknown)(...given);
        if (!(answer instanceof Promise)) return answer;
        const told = answer.catch(() => UNKNOWN[name]);
        asked.set(JSON.stringify([name, ...given]), told);
        return UNKNOWN[name];
      };
    const names = Object.keys(UNKNOWN) as (keyof PlaceFacts)[];
    const verdict = judge(Object.fromEntries(names.map((name) => [name, fact(name)])) as KnownFacts);
    if (asked.size === 0) return verdict;
    for (const [key, told] of asked) known.set(key, await told);
  }
}

type KnownFacts = {
  readonly [Name in keyof PlaceFacts]: (
    ...given: Parameters<PlaceFacts[Name]>
  ) => Awaited<ReturnType<PlaceFacts[Name]>>;
};

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
