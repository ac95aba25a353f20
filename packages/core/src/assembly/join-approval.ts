import type { PathFacts } from "@burin/commands/machine";
import type { ShellProgram } from "@burin/commands/processes/shell-program";
import type { ApprovalMode } from "@burin/contract/approval-mode";
import { once } from "@burin/contract/async/once";
import { describeError } from "@burin/contract/text/error-message";
import type { GrantScope } from "@burin/contract/tools";
import { parseRule, type Rule, type Rules, type Verdict } from "@burin/shell-judge";
import type { ApprovalRequest } from "../approval/judge-call.ts";
import type { QuestionOptions, Questions } from "../scheduler/questions.ts";
import type { GrantStore } from "../settings/grants.ts";
import type { Containment } from "./containment.ts";
import type { Home } from "./home.ts";
import type { SessionGrants } from "./options.ts";

interface ApprovalOptions {
  readonly current: { readonly mode: ApprovalMode };
  readonly home: Home;
  readonly grants: Grants;
  readonly roots: readonly string[];
  readonly shell: Pick<ShellProgram, "kind">;
  /** Returns the containment for commands in the mode `auto`, or a text that says why the mode does not work here. */
  readonly containment: () => Promise<Containment | string>;
  /** Reports a message to the user. */
  readonly report: (message: string) => void;
}

/** Creates the approval policy with facts about this place. The grammar of commands loads with the first one. */
export function createLazyApproval(needs: ApprovalOptions) {
  const { current, home, grants, roots, shell, containment, report } = needs;
  const { machine, rules, environment, variables } = home;
  let isTold = false;
  /** Loads the judge of commands. Only its verdicts depend on which files exist where a command runs. */
  const loadCommandJudge = async () => {
    const [{ judge }, facts] = await Promise.all([
      import("../approval/approval-policy.ts"),
      machine.openFacts({ roots, environment, passEnvironment: variables.pass }),
    ]);
    const ground = {
      root: roots[0] ?? "",
      includeDirectories: roots.slice(1),
      isOtherShell: shell.kind === "cmd" || shell.kind === "powershell",
      isPosixShell: shell.kind === "sh",
    };
    const isOpen = home.settings.sandbox.network === true;
    const resolveContainment = async () =>
      isOpen ? "commands have the whole network (sandbox.network)" : containment();
    const contained = current.mode === "auto" ? await resolveContainment() : null;
    if (typeof contained === "string" && !isTold)
      report(`The mode auto works as auto-edit here: ${contained}.`);
    isTold ||= typeof contained === "string";
    const isAuto = contained !== null && typeof contained !== "string";
    const canRestore = isAuto ? { canRestore: contained.canRestore } : {};
    return async (request: ApprovalRequest, mode: ApprovalMode, given: Rules) => {
      const now = mode === "auto" && !isAuto ? "auto-edit" : mode;
      const verdict = await judgeWithFacts(facts, (known) =>
        judge({ ...request, place: { ...ground, ...known, ...canRestore } }, now, given),
      );
      return isAuto ? protectIgnoredFiles(verdict, contained.readOnly) : verdict;
    };
  };
  const callJudge = once(async () => (await import("../approval/judge-call.ts")).judgeCall);
  return async (request: ApprovalRequest): Promise<Verdict> => {
    const isCommand = request.confirmation !== false && request.confirmation.kind === "exec";
    const judge = await (isCommand ? loadCommandJudge() : callJudge());
    const judgeWithGrants = async (granted: readonly Rule[]) =>
      judge(request, current.mode, { ...rules, granted: [...grants.session, ...granted] });
    const verdict = await judgeWithGrants([]);
    if (verdict.verdict !== "ask") return verdict;
    const stored = await grants.readStoredRules();
    if (stored.fault !== undefined) return { ...verdict, reason: `${verdict.reason}; ${stored.fault}` };
    return stored.rules.length === 0 ? verdict : judgeWithGrants(stored.rules);
  };
}

/** Adds the paths that a command without a question must not change in the mode `auto`. Asks if there are too many. */
function protectIgnoredFiles(verdict: Verdict, readOnly: Containment["readOnly"]): Verdict {
  if (verdict.verdict !== "allow" || verdict.isContained !== true) return verdict;
  if (readOnly !== null) return { ...verdict, readOnly };
  const reason = "there are more ignored files here than undo keeps";
  return { ...verdict, verdict: "ask", reason, grants: [] };
}

/** The answers while facts are unknown. They lead to a question to the user. */
const UNKNOWN = {
  leadsOutside: true,
  realPaths: [],
  filesBelow: null,
  treeBelow: null,
  oddNamesInGit: null,
  pathsInGit: null,
  projectFolderOf: null,
  workTreeOf: null,
  repositoryFault: { nature: "outside", what: "nothing is known about the repository" },
} as const;

/** Judges with facts from the machine. `judge` is synchronous, so it is run again when it needs new facts. */
async function judgeWithFacts<T>(facts: PathFacts, judge: (known: KnownFacts) => T): Promise<T> {
  const known = new Map<string, unknown>();
  for (;;) {
    const asked = new Map<string, Promise<unknown>>();
    const lookUpFact =
      (name: keyof PathFacts) =>
      (...given: readonly unknown[]) => {
        const key = known.size === 0 ? "" : JSON.stringify([name, ...given]);
        if (known.has(key)) return known.get(key);
        const look = facts[name] as ((...given: readonly unknown[]) => unknown) | undefined;
        if (look === undefined) return UNKNOWN[name];
        const answer = look.call(facts, ...given);
        if (!(answer instanceof Promise)) return answer;
        const told = answer.catch(() => UNKNOWN[name]);
        asked.set(JSON.stringify([name, ...given]), told);
        return UNKNOWN[name];
      };
    const names = Object.keys(UNKNOWN) as (keyof PathFacts)[];
    const verdict = judge(Object.fromEntries(names.map((name) => [name, lookUpFact(name)])) as KnownFacts);
    if (asked.size === 0) return verdict;
    for (const [key, told] of asked) known.set(key, await told);
  }
}

type KnownFacts = {
  readonly [Name in keyof PathFacts]: (
    ...given: Parameters<Required<PathFacts>[Name]>
  ) => Awaited<ReturnType<Required<PathFacts>[Name]>>;
};

/** The single queue of questions. Its code is loaded with the first question. */
export class LazyQuestions {
  readonly load: () => Promise<Questions>;
  loaded: Questions | null = null;

  constructor(needs: QuestionOptions) {
    this.load = once(async () => {
      this.loaded = new (await import("../scheduler/questions.ts")).Questions(needs);
      return this.loaded;
    });
  }

  /** See `Questions.answer`. */
  answer(id: string, decision: unknown): string | null {
    return this.loaded ? this.loaded.answer(id, decision) : `no question ${JSON.stringify(id)} is open.`;
  }
}

/** Returns the shell, interpreter or launcher that the rule allows to run any program, or null. */
export async function findBareLauncher(rule: string): Promise<string | null> {
  if (!rule.trimStart().startsWith("run_shell_command(")) return null;
  const { findCodeRunnerInRule } = await import("../approval/approval-policy.ts");
  return findCodeRunnerInRule(rule);
}

/** Opens the user's stored grants, to list and revoke them. */
export async function openGrants(home: string): Promise<GrantStore> {
  const { GrantStore } = await import("../settings/grants.ts");
  return new GrantStore(home);
}

/** The rules that the user allowed with "always". Stored ones are read late, because most calls need no grant. */
export class Grants implements SessionGrants {
  /** Rules that apply to this session only. */
  session: readonly Rule[] = [];
  readonly #project: string;
  readonly #opened: () => Promise<GrantStore>;

  constructor(home: string, project: string) {
    this.#project = project;
    this.#opened = once(() => openGrants(home));
  }

  /** Reads the stored rules that apply here, again each time. `fault` says why none of them counts. */
  async readStoredRules(): Promise<{ readonly rules: readonly Rule[]; readonly fault?: string }> {
    try {
      const all = await (await this.#opened()).readItems();
      const here = all.filter(({ project }) => project === undefined || project === this.#project);
      return { rules: here.map(({ rule }) => parseRule(rule)) };
    } catch (error) {
      return { rules: [], fault: describeError(error) };
    }
  }

  /** Adds rules. Resolves to a message for the user, or null. */
  readonly add = async (rules: readonly string[], scope: GrantScope): Promise<string | null> => {
    let fault: string | null = null;
    if (scope !== "session" && rules.length > 0) {
      try {
        await (await this.#opened()).add(rules, scope === "project" ? this.#project : undefined);
        return null;
      } catch (error) {
        fault = `"always" holds for this session only: ${describeError(error)}`;
      }
    }
    const known = new Set(this.rules);
    this.session = [...this.session, ...rules.filter((rule) => !known.has(rule)).map(parseRule)];
    return fault;
  };

  get rules(): readonly string[] {
    return this.session.map(({ text }) => text);
  }

  revoke(rule: string): boolean {
    const before = this.session.length;
    this.session = this.session.filter(({ text }) => text !== rule);
    return this.session.length < before;
  }
}
