import type { ExchangeEnd } from "@burin/commands/processes/server-processes";
import { describeFaults } from "@burin/contract/messages/check-schema";
import { choice, type OptionValue, object, option, text } from "@burin/contract/messages/option";
import { findSchemaFaults } from "@burin/contract/messages/schema-faults";
import { parseJson } from "@burin/contract/messages/untrusted-json";
import type { HookEventName, HookSettings } from "@burin/contract/settings/settings";
import { parseRule, type RuleTarget, ruleCovers } from "@burin/shell-judge";
import { describeFault, readLastOutput } from "../discovery/discovered-tool.ts";
import { markHookText } from "../text/hook-words.ts";

/** The decisions, from the least strict to the strictest. */
const DECISIONS = ["allow", "ask", "deny"] as const;
const STRICTNESS: readonly unknown[] = DECISIONS;

const ANSWER = object([], {
  decision: choice(DECISIONS),
  reason: text(),
  args: option<Readonly<Record<string, unknown>>>({ type: "object" }),
  context: text(),
});
type HookAnswer = OptionValue<typeof ANSWER>;

export interface HooksOptions {
  readonly settings: readonly HookSettings[];
  /** Runs a hook's command with the event as JSON on stdin. Never rejects. */
  readonly run: (
    request: { readonly command: string; readonly input: string; readonly seconds: number },
    signal: AbortSignal,
  ) => Promise<ExchangeEnd>;
  /** Called when a hook fails, with a text for the user. */
  readonly report: (message: string) => void;
  /** Fields that are added to every event. */
  readonly session: Readonly<Record<string, string>>;
}

export interface HookedCall extends RuleTarget {
  readonly kind: string;
  readonly args: Readonly<Record<string, unknown>>;
}

type ChangeCall = (args: HookedCall["args"]) => HookedCall | null;

export interface BeforeCall {
  readonly decision: HookAnswer["decision"];
  readonly reason: string;
  readonly contexts: readonly string[];
}

const DEFAULT_SECONDS = 60;

/** The user's commands that run at certain events and may decide about calls. They run one after the other. */
export class Hooks {
  readonly #needs: HooksOptions;

  constructor(needs: HooksOptions) {
    this.#needs = needs;
  }

  /**
   * Runs the hooks before a call. The strictest decision wins. If a hook fails, the user is asked about the call,
   * because the hook may be a guard. `change` returns the call with new arguments, which later hooks get. If it returns
   * null, because they are invalid, no more hooks run.
   */
  async runBefore(first: HookedCall, change: ChangeCall, signal: AbortSignal): Promise<BeforeCall> {
    let call: HookedCall | null = first;
    let decision: HookAnswer["decision"];
    let reason = "";
    const contexts: string[] = [];
    for (const hook of this.#needs.settings) {
      if (call === null) break;
      if (!isHookForCall(hook, "before_tool", call)) continue;
      const { tool, kind, args } = call;
      const answer = await this.#runHook(hook, { tool, kind, args }, signal);
      const said: HookAnswer =
        typeof answer === "string" ? { decision: "ask", reason: `no answer: ${answer}` } : answer;
      if (STRICTNESS.indexOf(said.decision) > STRICTNESS.indexOf(decision)) {
        decision = said.decision;
        reason = `the hook "${hook.command}" says ${said.decision}${said.reason ? ` (${said.reason})` : ""}`;
      }
      if (decision === "deny") break;
      if (said.args) contexts.push(`The arguments were changed to ${JSON.stringify(said.args)}.`);
      if (said.args) call = change(said.args);
      if (said.context) contexts.push(said.context);
    }
    return { decision, reason, contexts };
  }

  /** Runs the hooks after a call. Returns what the model should learn in addition to the answer. */
  async runAfter(
    call: HookedCall,
    answer: { readonly status: string; readonly text: string },
    signal: AbortSignal,
  ) {
    const { tool, kind, args } = call;
    const hooks = this.#needs.settings.filter((hook) => isHookForCall(hook, "after_tool", call));
    return this.#collectContexts(hooks, { tool, kind, args, ...answer }, signal);
  }

  /** Runs the hooks of an event of the session. Returns what the model should learn. */
  async runEvent(
    event: Exclude<HookEventName, "before_tool" | "after_tool">,
    signal: AbortSignal,
  ): Promise<string[]> {
    const hooks = this.#needs.settings.filter((hook) => hook.event === event);
    return (await this.#collectContexts(hooks, {}, signal)).map(markHookText);
  }

  async #collectContexts(
    hooks: readonly HookSettings[],
    data: object,
    signal: AbortSignal,
  ): Promise<string[]> {
    const contexts: string[] = [];
    for (const hook of hooks) {
      const answer = await this.#runHook(hook, data, signal);
      if (typeof answer === "string") continue;
      // A shell also exits with this code if it does not find the script.
      if (answer.decision === "deny")
        this.#needs.report(`The hook "${hook.command}" cannot deny anything here: ${answer.reason}.`);
      if (answer.context) contexts.push(answer.context);
    }
    return contexts;
  }

  async #runHook(hook: HookSettings, data: object, signal: AbortSignal) {
    const { event, command, timeoutSeconds: seconds = DEFAULT_SECONDS } = hook;
    const { run, session } = this.#needs;
    const input = JSON.stringify({ event, ...session, ...data });
    const answer = readHookAnswer(await run({ command, input, seconds }, signal), seconds);
    if (typeof answer === "string" && !signal.aborted)
      this.#needs.report(`The hook "${command}" gave no answer: ${answer}.`);
    return answer;
  }
}

function isHookForCall({ event, tools }: HookSettings, when: HookEventName, call: RuleTarget): boolean {
  if (event !== when || tools === undefined) return event === when;
  return [tools].flat().some((name) => ruleCovers(parseRule(name), call, "some"));
}

/** If a hook exits with this code, the call is forbidden. The reason is on its stderr. */
const FORBIDS = 2;
const MAX_CONTEXT = 10_000;

/** Interprets the end of a hook's command. Returns a text if the answer cannot be relied on. */
function readHookAnswer(end: ExchangeEnd, seconds: number): HookAnswer | string {
  const said = readLastOutput(end);
  if (end.exitCode === FORBIDS && end.stopped === null) {
    return { decision: "deny", reason: said || "it gave no reason" };
  }
  const fault = describeFault(end, seconds);
  if (fault !== null) return `it ${fault}${said === "" ? "" : `: ${said}`}`;
  const stdout = end.stdout.toString("utf8");
  if (stdout.trim() === "") return {};
  const value = parseJson(stdout);
  if (value === undefined) {
    return "what it printed is not JSON; print nothing, or an object with decision, reason, args or context";
  }
  const faults = findSchemaFaults(ANSWER, value);
  if (faults.length > 0) return describeFaults(faults, "what it printed");
  const answer = value as HookAnswer;
  return { ...answer, context: answer.context?.trim() ? answer.context.slice(0, MAX_CONTEXT) : "" };
}
