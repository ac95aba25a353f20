import { sortParts } from "@burin/contract/effects";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import type { FunctionCall, PartListUnion } from "@burin/contract/messages/message";
import { describeError } from "@burin/contract/text/error-message";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import type { ToolCallState } from "@burin/contract/tool-call";
import {
  type Approval,
  type CommandPart,
  type Confirmation,
  InvalidParamsError,
  type Tool,
  type ToolError,
  type ToolResult,
} from "@burin/contract/tools";
import type { PartVerdict, Verdict } from "@burin/shell-judge";
import { formatHostGrant } from "../approval/host-grants.ts";
import type { ApprovalRequest } from "../approval/judge-call.ts";
import type { BeforeCall } from "../hooks/hooks.ts";
import { markHookText } from "../text/hook-words.ts";
import { type CheckedTool, MAX_DISPLAY_CHARACTERS, type SafeCall, TOO_LONG_HINT } from "./checked-tool.ts";

type Named = Pick<Tool, "name" | "displayName" | "getDescription">;

export type FinalState = Extract<ToolCallState, { readonly llmContent: unknown }>;

export function createResult({ llmContent, returnDisplay, data, error }: ToolResult): FinalState {
  const answer = { llmContent, returnDisplay, ...(data && { data }) };
  if (error === undefined) return { status: "success", ...answer };
  return { status: error.type === "cancelled" ? "cancelled" : "error", ...answer, error };
}

export function createDenied(tool: Named, reason: string, type = "denied"): FinalState {
  return createFailed({ type, message: `${tool.name} was not run: ${reason}.` });
}

export function createNeedsApproval(tool: Named, confirmation: Confirmation, reason: string): FinalState {
  const message = `${tool.name} was not run: it needs an approval (${reason}), and nobody can be asked.`;
  const changes = confirmation.kind === "mcp" ? (confirmation.changes ?? []) : [];
  const shown = changes.length === 0 ? message : [message, CHANGED, ...changes].join("\n");
  const { llmContent } = createFailed({ type: "needs_approval", message });
  const error = { type: "needs_approval", message: shown };
  return { status: "error", llmContent, returnDisplay: shown, error, confirmation };
}

const CHANGED = "It has changed since it was last allowed:";

export function createFailed(error: ToolError): FinalState & { readonly status: "error" } {
  return { status: "error", ...formatError(error) };
}

export function createCancelled(call: FunctionCall, reason: string, type = "cancelled"): FinalState {
  return {
    status: "cancelled",
    ...formatError({ type, message: `${call.name} was not completed: ${reason}.` }),
  };
}

/** Builds the answer from an error of any length. The model's version is shortened later, with all other answers. */
function formatError({ type, message }: ToolError) {
  const shown = keepHeadAndTail(message, MAX_DISPLAY_CHARACTERS, TOO_LONG_HINT);
  return { llmContent: message, returnDisplay: shown, error: { type, message: shown } };
}

/** Answers a call that the user declined. A declined plan has its own error type, on which the agent ends the turn. */
export function createDeclined(
  call: FunctionCall,
  question: Confirmation,
  reason: string | undefined,
): FinalState {
  const by = reason ? `cancelled by user: ${reason}` : "cancelled by user";
  return question.kind === "plan"
    ? createCancelled(call, `${by}. Plan mode stays on`, "plan_declined")
    : createCancelled(call, by);
}

/** Adds what approval knows to the tool's question: a command's parts, and the rules that "always" would store. */
export function addVerdict(question: Confirmation, { grants, widths, parts }: Verdict): Confirmation {
  const known = grants === undefined ? question : { ...question, grants, ...(widths && { widths }) };
  if (known.kind !== "exec") return known;
  return {
    ...addHosts(known),
    ...(parts && { parts: parts.map((part) => part.text), reach: listPartEffects(parts) }),
  };
}

function listPartEffects(parts: readonly PartVerdict[]): CommandPart[] {
  const reach = parts.map(({ text, verdict, effects, rule }) => {
    return { text, asks: verdict === "ask", effects, ...(rule !== undefined && { rule }) };
  });
  return sortParts(reach);
}

/** Adds the hosts to the rules that an "always" stores. Otherwise the next call would ask about the same hosts. */
function addHosts(question: Confirmation & { readonly kind: "exec" }): typeof question {
  const more = question.hosts?.map(formatHostGrant) ?? [];
  if (more.length === 0 || question.grants.length === 0) return question;
  const { grants, widths = {} } = question;
  const wider = Object.entries(widths).map(([width, rules]) => [width, [...rules, ...more]] as const);
  return {
    ...question,
    grants: [...grants, ...more],
    ...(question.widths && { widths: Object.fromEntries(wider) }),
  };
}

export function buildApprovalRequest(
  { name: tool, kind, ruleSubjects }: CheckedTool,
  { args }: FunctionCall,
  confirmation: SafeCall["confirmation"],
): ApprovalRequest {
  return { tool, kind, confirmation, subjects: ruleSubjects(args) };
}

export function buildQuestion(tool: Named, call: FunctionCall): Confirmation {
  return {
    kind: "info",
    title: `Run ${tool.displayName}?`,
    prompt: tool.getDescription(call.args),
    urls: [],
    grants: [tool.name],
  };
}

export function toToolError(error: unknown): ToolError {
  if (error instanceof InvalidParamsError) return { type: "invalid_arguments", message: error.message };
  if (error instanceof WorkspaceError) return { type: error.code, message: error.message };
  const what =
    error instanceof Error && "syscall" in error ? "The system refused" : "The tool failed unexpectedly";
  return { type: "tool_failed", message: `${what}: ${describeError(error)}` };
}

/** How long an interrupted tool may take to end what it has started. */
const GRACE_MS = 5000;

/** Returns the call's result. A tool that ignores the signal is abandoned after a while, and the answer says so. */
function abandonOnAbort(
  call: FunctionCall,
  work: Promise<FinalState>,
  signal: AbortSignal,
): Promise<FinalState> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const abandonCall = (): void => {
      timer = setTimeout(() => resolve(createCancelled(call, LEFT_BEHIND)), GRACE_MS);
    };
    signal.addEventListener("abort", abandonCall, { once: true });
    // The tool may have been interrupted before it returned its promise.
    if (signal.aborted) abandonCall();
    const stopWaiting = (): void => {
      signal.removeEventListener("abort", abandonCall);
      clearTimeout(timer);
    };
    void work.then(resolve, reject).then(stopWaiting);
  });
}

const LEFT_BEHIND = "it was interrupted and did not stop; it may still be at work";

/** A call with a time limit. */
interface LimitedCall {
  readonly call: FunctionCall;
  readonly signal: AbortSignal;
  /** The time limit in milliseconds; undefined for none. */
  readonly limit: number | undefined;
}

/** Runs the work of a call and stops it when its time is up. A tool that ignores the signal is abandoned. */
export async function runWithTimeout(
  { call, signal, limit }: LimitedCall,
  work: (signal: AbortSignal) => Promise<FinalState>,
): Promise<FinalState> {
  if (limit === undefined) return abandonOnAbort(call, work(signal), signal);
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new Error("Its time is over.")), limit);
  const either = AbortSignal.any([signal, over.signal]);
  const message = `${call.name} was stopped: it took longer than the ${limit} ms that it may take.`;
  try {
    const state = await abandonOnAbort(call, work(either), either);
    return over.signal.aborted && state.status === "cancelled"
      ? createFailed({ type: "timeout", message })
      : state;
  } catch (error) {
    if (!over.signal.aborted || signal.aborted) throw error;
    return createFailed({ type: "timeout", message });
  } finally {
    clearTimeout(timer);
  }
}

/** Adds the user's comment on an edited content to the answer. */
export function addUserWords<State extends FinalState>(state: State, approval: Approval | null): State {
  const words = approval?.outcome === "edited" ? approval.reason : undefined;
  return words ? { ...state, llmContent: [state.llmContent, `\n\nThe user said: ${words}`].flat() } : state;
}

/** Tells the model about the command that the user wrote in place of the proposed one. */
export function addEdits(state: FinalState, edits: readonly string[]): FinalState {
  const last = edits.at(-1);
  if (last === undefined) return state;
  const note = `\n\nThe user changed the command to:\n${last}`;
  return { ...state, llmContent: [state.llmContent, note].flat() };
}

export const NOT_EDITABLE: ToolError = {
  type: "not_editable",
  message: "The call was not run: the answer has an edited content, which this tool does not accept.",
};

export const NOT_HOOKED: BeforeCall = { decision: undefined, reason: "", contexts: [] };

/**
 * Applies a hook's decision. A hook can require a question where a rule allows the call. It can allow only what a user
 * could allow permanently: calls that always need a question, e.g. for a protected file, still get one.
 */
export function applyHook(judged: Verdict, { decision, reason }: BeforeCall): Verdict {
  if (decision === "ask" && judged.verdict === "allow") return { verdict: "ask", reason, grants: [] };
  const isAlwaysAsked = judged.grants === undefined || judged.grants.length === 0;
  if (decision === "allow" && judged.verdict === "ask" && !isAlwaysAsked) return { verdict: "allow", reason };
  return judged;
}

/** Adds the hooks' notes for the model to the answer. */
export function appendNotes<State extends FinalState>(state: State, notes: readonly string[]): State {
  if (notes.length === 0) return state;
  const text = `\n\n${markHookText(notes.join("\n"))}`;
  const { llmContent } = state;
  const content: PartListUnion =
    typeof llmContent === "string" ? llmContent + text : [llmContent, text].flat();
  return { ...state, llmContent: content };
}
