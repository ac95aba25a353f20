import type { HookEventName, HookSettings } from "@burin/contract/settings/settings";
import { parseRule, type Rule, type RuleTarget, ruleCovers } from "@burin/shell-judge";
import { type HookAnswer, type HookEnd, hookAnswer } from "./hook-answer.ts";

/** Runs the command of a hook with the event as JSON on its stdin. Never rejects. */
type RunHook = (
  request: { readonly command: string; readonly input: string; readonly seconds: number },
  signal: AbortSignal,
) => Promise<HookEnd>;

export interface HooksNeeds {
  readonly settings: readonly HookSettings[];
  readonly run: RunHook;
  /** Told of a hook that failed, for the person. */
  readonly report: (message: string) => void;
  /** Goes with every event. */
  readonly session: Readonly<Record<string, string>>;
}

/** A call, as hooks see it. */
export interface HookedCall extends RuleTarget {
  readonly kind: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What all hooks before a call came to. */
export interface BeforeCall {
  readonly decision: HookAnswer["decision"];
  readonly reason: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly contexts: readonly string[];
}

const DEFAULT_SECONDS = 60;
const STRICTNESS = ["allow", "ask", "deny"] as const;

/** The commands of the person that are told of what happens, and may have a say in it. They run in their order. */
export class Hooks {
  readonly #needs: HooksNeeds;

  constructor(needs: HooksNeeds) {
    this.#needs = needs;
  }

  /** The strictest decision wins. A hook that fails makes the call one to be asked about: it may be a guard. */
  async before(call: HookedCall, signal: AbortSignal): Promise<BeforeCall> {
    let { args } = call;
    let decision: HookAnswer["decision"];
    let reason = "";
    const contexts: string[] = [];
    for (const hook of this.#for("before_tool", call)) {
      const answer = await this.#ask(hook, { tool: call.tool, kind: call.kind, args }, signal);
      const said =
        typeof answer === "string" ? { decision: "ask" as const, reason: `it failed: ${answer}` } : answer;
      if (isStricter(said.decision, decision)) {
        decision = said.decision;
        reason = `the hook "${hook.command}" says ${said.decision}${said.reason ? ` (${said.reason})` : ""}`;
      }
      if (decision === "deny") break;
      if (said.args) contexts.push(`The arguments were changed to ${JSON.stringify(said.args)}.`);
      args = said.args ?? args;
      if (said.context) contexts.push(said.context);
    }
    return { decision, reason, args, contexts };
  }

  /** What the model should know beside the answer. */
  async after(
    call: HookedCall,
    answer: { readonly status: string; readonly text: string },
    signal: AbortSignal,
  ) {
    const { tool, kind, args } = call;
    return this.#contexts(this.#for("after_tool", call), { tool, kind, args, ...answer }, signal);
  }

  /** The same for a moment of the session. */
  async at(
    event: Exclude<HookEventName, "before_tool" | "after_tool">,
    signal: AbortSignal,
  ): Promise<string[]> {
    return this.#contexts(this.#for(event, null), {}, signal);
  }

  async #contexts(hooks: readonly HookSettings[], data: object, signal: AbortSignal): Promise<string[]> {
    const contexts: string[] = [];
    for (const hook of hooks) {
      const answer = await this.#ask(hook, data, signal);
      if (typeof answer !== "string" && answer.context) contexts.push(answer.context);
    }
    return contexts;
  }

  async #ask({ event, command, timeoutSeconds }: HookSettings, data: object, signal: AbortSignal) {
    const input = JSON.stringify({ event, ...this.#needs.session, ...data });
    const end = await this.#needs.run({ command, input, seconds: timeoutSeconds ?? DEFAULT_SECONDS }, signal);
    const answer = hookAnswer(end);
    if (typeof answer === "string" && !signal.aborted)
      this.#needs.report(`The hook "${command}" failed: ${answer}.`);
    return answer;
  }

  #for(event: HookEventName, call: RuleTarget | null): HookSettings[] {
    return this.#needs.settings.filter((hook) => {
      if (hook.event !== event) return false;
      return (
        call === null ||
        hook.tools === undefined ||
        rulesOf(hook.tools).some((rule) => ruleCovers(rule, call, "some"))
      );
    });
  }
}

function rulesOf(tools: string | readonly string[]): Rule[] {
  return (typeof tools === "string" ? [tools] : tools).map(parseRule);
}

function isStricter(one: HookAnswer["decision"], other: HookAnswer["decision"]): boolean {
  if (one === undefined) return false;
  return other === undefined || STRICTNESS.indexOf(one) > STRICTNESS.indexOf(other);
}
