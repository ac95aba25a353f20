import type { ApprovalRequest, Verdict } from "../approval/approval-policy.ts";
import { coerceArguments } from "../messages/check-schema.ts";
import type { FunctionCall } from "../messages/function-call.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { Confirmation, Decision, GrantScope, Tool, ToolError, ToolResult } from "../tools/tools.ts";
import { WorkspaceError } from "../workspace/workspace.ts";
import { boundedContent } from "./function-response.ts";
import type { AnsweredCall, ToolCall, ToolCallState } from "./tool-call.ts";

/** Asks the person. The one function that a face hands down. */
export type Confirm = (confirmation: Confirmation, signal: AbortSignal) => Promise<Decision>;

export interface SchedulerNeeds {
  readonly registry: ToolRegistry;
  readonly judge: (request: ApprovalRequest) => Verdict | Promise<Verdict>;
  /** Absent when nobody is there to ask; then a call that must be asked about is refused. */
  readonly confirm?: Confirm;
  /** Called when the person answers "always"; resolves to what they should know of it, or null. */
  readonly onGrant: (grants: readonly string[], scope: GrantScope) => Promise<string | null>;
  /** Waits for tools of these names that may still be on their way. Never rejects. */
  readonly awaitTools?: (names: readonly string[], signal: AbortSignal) => Promise<void>;
  /**
   * Resolves when all states that were told so far are on the disk. Awaited before an effect, which is not
   * begun when it throws, and after it.
   */
  readonly recorded?: () => Promise<void>;
}

/** Hears each new state of each call. */
export type OnCall = (call: ToolCall) => void;

interface Work {
  readonly call: FunctionCall;
  readonly tool: Tool | undefined;
  readonly report: (state: ToolCallState, description?: string) => ToolCall;
  readonly signal: AbortSignal;
}

/** Takes calls from request to response. Every call gets exactly one answer, whatever happens. */
export class Scheduler {
  readonly #needs: SchedulerNeeds;
  #question: Promise<unknown> = Promise.resolve();
  #alwaysCount = 0;

  constructor(needs: SchedulerNeeds) {
    this.#needs = needs;
  }

  /**
   * Runs the calls of one reply. Neighbours that only read or fetch run side by side, any other alone;
   * the answers keep the order of the calls. Every call is announced before the first one starts.
   */
  async run(calls: readonly FunctionCall[], signal: AbortSignal, onCall: OnCall): Promise<AnsweredCall[]> {
    const unknown = calls.map((call) => call.name).filter((name) => !this.#needs.registry.getTool(name));
    if (unknown.length > 0) await this.#needs.awaitTools?.(unknown, signal);
    const work = calls.map((call) => this.#prepare(call, signal, onCall));
    for (const item of work) item.report({ status: "validating" });
    const answers: AnsweredCall[] = [];
    for (const group of groupsOf(work)) {
      answers.push(...(await Promise.all(group.map((item) => this.#answer(item)))));
    }
    return answers;
  }

  #prepare(call: FunctionCall, signal: AbortSignal, onCall: OnCall): Work {
    const tool = this.#needs.registry.getTool(call.name);
    const args = tool ? coerceArguments(tool.parameterSchema, call.args) : call.args;
    let description = "";
    return {
      call: { ...call, args },
      tool,
      signal,
      report: (state, newDescription) => {
        description = newDescription ?? description;
        const snapshot: ToolCall = { callId: call.id, name: call.name, args, description, ...state };
        onCall(snapshot);
        return snapshot;
      },
    };
  }

  async #answer(work: Work): Promise<AnsweredCall> {
    const state = await this.#finalState(work);
    const answer = work.report(state) as AnsweredCall;
    // What is done is done: if it cannot be recorded, the next effect will be refused.
    if (hasEffect(work.tool)) await this.#needs.recorded?.().catch(() => {});
    return answer;
  }

  /** The only place that catches what a tool throws. */
  async #finalState(work: Work): Promise<FinalState> {
    try {
      if (work.signal.aborted) return cancelled(work, INTERRUPTED);
      if (work.tool === undefined) return unknownTool(work, this.#needs.registry);
      return await this.#throughTheFlow(work, work.tool);
    } catch (error) {
      if (work.signal.aborted) return cancelled(work, INTERRUPTED);
      return failed(errorOf(error));
    }
  }

  async #throughTheFlow(work: Work, tool: Tool): Promise<FinalState> {
    const { args, argsError } = work.call;
    const fault = argsError ?? tool.validateToolParams(args);
    if (fault !== null) return failed({ type: "invalid_arguments", message: fault });
    work.report({ status: "validating" }, tool.getDescription(args));
    const approval = await this.#approval(work, tool);
    if ("status" in approval) return approval;
    work.report({ status: "executing", ...approval });
    if (hasEffect(tool)) await this.#needs.recorded?.();
    work.signal.throwIfAborted();
    const result = await tool.execute(args, work.signal, (display) => {
      work.report({ status: "executing", display });
    });
    return answered(result);
  }

  async #approval(work: Work, tool: Tool): Promise<FinalState | Approved> {
    const { args } = work.call;
    const confirmation = await tool.shouldConfirmExecute(args, work.signal);
    const subjects = tool.ruleSubjects?.(args) ?? [];
    const judge = () => this.#needs.judge({ tool: tool.name, kind: tool.kind, confirmation, subjects });
    const judged = await judge();
    const { verdict, reason } = judged;
    if (verdict === "allow") return {};
    if (verdict === "deny") {
      return failed({ type: "denied", message: `${tool.name} was not run: ${reason}.` });
    }
    const question = asked(confirmation || plainQuestion(tool, work.call), judged);
    work.report({ status: "awaiting_approval", confirmation: question, reason });
    const confirm = this.#needs.confirm;
    if (confirm === undefined) {
      const message = `${tool.name} was not run: it needs an approval (${reason}), and nobody is here to give it.`;
      return { ...failed({ type: "needs_approval", message }), confirmation: question };
    }
    const before = this.#alwaysCount;
    return this.#ask(async () => {
      work.signal.throwIfAborted();
      // The "always" of a call that ran beside this one may have answered it while it waited.
      if (this.#alwaysCount !== before && (await judge()).verdict === "allow") return {};
      const decision = await orAborted(confirm(question, work.signal), work.signal);
      return this.#decided(work, question, decision);
    });
  }

  async #decided(work: Work, question: Confirmation, decision: Decision): Promise<FinalState | Approved> {
    if (work.signal.aborted) return cancelled(work, INTERRUPTED);
    const { tool, call } = work;
    let notice: string | null = null;
    switch (decision.outcome) {
      case "cancel":
        return declined(work, question, decision.reason);
      case "edited":
        if (question.kind !== "edit" || !tool?.approvedByPerson) return failed(NOT_EDITABLE);
        break;
      case "always":
        notice = await this.#needs.onGrant(question.grants, decision.scope);
        this.#alwaysCount += 1;
        break;
      default:
    }
    tool?.approvedByPerson?.(call.args, question, decision);
    return notice === null ? {} : { notice };
  }

  /** Questions come one at a time, also when the calls run side by side. */
  #ask<T>(question: () => Promise<T>): Promise<T> {
    const answer = this.#question.then(question, question);
    this.#question = answer;
    return answer;
  }
}

/** A question that is open when the work is interrupted is not waited for; a late answer means nothing. */
function orAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** The call may run. */
interface Approved {
  readonly notice?: string;
}

type FinalState = Extract<ToolCallState, { readonly llmContent: unknown }>;

const INTERRUPTED = "interrupted before it was done";

const NOT_EDITABLE: ToolError = {
  type: "not_editable",
  message: "The call was not run: it was answered with an edited content, which this tool cannot take.",
};

function groupsOf(work: readonly Work[]): Work[][] {
  const groups: Work[][] = [];
  let together: Work[] | null = null;
  for (const item of work) {
    const sideBySide = item.tool?.kind === "read" || item.tool?.kind === "fetch";
    if (sideBySide && together !== null) {
      together.push(item);
      continue;
    }
    const group = [item];
    groups.push(group);
    together = sideBySide ? group : null;
  }
  return groups;
}

function hasEffect(tool: Tool | undefined): boolean {
  return tool?.kind === "edit" || tool?.kind === "execute" || tool?.kind === "fetch";
}

function answered(result: ToolResult): FinalState {
  const answer = { llmContent: boundedContent(result.llmContent), returnDisplay: result.returnDisplay };
  const { error } = result;
  if (error === undefined) return { status: "success", ...answer };
  return { status: error.type === "cancelled" ? "cancelled" : "error", ...answer, error };
}

function failed(error: ToolError): FinalState & { readonly status: "error" } {
  return { status: "error", llmContent: error.message, returnDisplay: error.message, error };
}

function cancelled(work: Work, reason: string, type = "cancelled"): FinalState {
  const message = `${work.call.name} was not completed: ${reason}.`;
  const error = { type, message };
  return { status: "cancelled", llmContent: message, returnDisplay: message, error };
}

/** A plan that is declined has an error of its own: the agent ends the turn on it. */
function declined(work: Work, question: Confirmation, reason: string | undefined): FinalState {
  const by = reason ? `cancelled by user: ${reason}` : "cancelled by user";
  return question.kind === "plan"
    ? cancelled(work, `${by}. Plan mode stays on`, "plan_declined")
    : cancelled(work, by);
}

function unknownTool(work: Work, registry: ToolRegistry): FinalState {
  const { name } = work.call;
  const near = registry.nearNames(name);
  const known = registry.getAllTools().map((tool) => tool.name);
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `The tools are: ${known.join(", ")}.`;
  return failed({ type: "unknown_tool", message: `There is no tool named "${name}". ${hint}` });
}

/** The tool's question with what approval knows of it: the parts of a command, and what "always" would store. */
function asked(question: Confirmation, { grants, parts }: Verdict): Confirmation {
  const known = grants === undefined ? question : { ...question, grants };
  if (known.kind !== "exec" || parts === undefined) return known;
  return { ...known, parts: parts.map((part) => part.text) };
}

function plainQuestion(tool: Tool, call: FunctionCall): Confirmation {
  return {
    kind: "info",
    title: `Run ${tool.displayName}?`,
    prompt: tool.getDescription(call.args),
    urls: [],
    grants: [tool.name],
  };
}

function errorOf(error: unknown): ToolError {
  if (error instanceof WorkspaceError) return { type: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return { type: "tool_failed", message: `The tool failed unexpectedly: ${message}` };
}
