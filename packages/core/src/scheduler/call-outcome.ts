import { sortParts } from "@burin/contract/effects";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import type { FunctionCall } from "@burin/contract/messages/message";
import { messageOf } from "@burin/contract/text/error-message";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import type { ToolCallState } from "@burin/contract/tool-call";
import {
  type Approval,
  type Confirmation,
  InvalidParams,
  type PartReach,
  type Tool,
  type ToolError,
  type ToolResult,
} from "@burin/contract/tools";
import type { PartVerdict, Verdict } from "@burin/shell-judge";
import { hostGrant } from "../approval/host-grants.ts";
import { MOST_DISPLAY, TOO_LONG } from "./sound-tool.ts";

type Named = Pick<Tool, "name" | "displayName" | "getDescription">;

export type FinalState = Extract<ToolCallState, { readonly llmContent: unknown }>;

export function answered({ llmContent, returnDisplay, data, error }: ToolResult): FinalState {
  const answer = { llmContent, returnDisplay, ...(data && { data }) };
  if (error === undefined) return { status: "success", ...answer };
  return { status: error.type === "cancelled" ? "cancelled" : "error", ...answer, error };
}

export function denied(tool: Named, reason: string, type = "denied"): FinalState {
  return failed({ type, message: `${tool.name} was not run: ${reason}.` });
}

export function needsApproval(tool: Named, confirmation: Confirmation, reason: string): FinalState {
  const message = `${tool.name} was not run: it needs an approval (${reason}), and nobody can be asked.`;
  const changes = confirmation.kind === "mcp" ? (confirmation.changes ?? []) : [];
  const shown = changes.length === 0 ? message : [message, CHANGED, ...changes].join("\n");
  const { llmContent } = failed({ type: "needs_approval", message });
  const error = { type: "needs_approval", message: shown };
  return { status: "error", llmContent, returnDisplay: shown, error, confirmation };
}

const CHANGED = "It has changed since it was last allowed:";

export function failed(error: ToolError): FinalState & { readonly status: "error" } {
  return { status: "error", ...saidBy(error) };
}

export function cancelled(call: FunctionCall, reason: string, type = "cancelled"): FinalState {
  return { status: "cancelled", ...saidBy({ type, message: `${call.name} was not completed: ${reason}.` }) };
}

/** The message may be a tool's own, of any length; what the model gets is shortened with all other answers. */
function saidBy({ type, message }: ToolError) {
  const shown = keepHeadAndTail(message, MOST_DISPLAY, TOO_LONG);
  return { llmContent: message, returnDisplay: shown, error: { type, message: shown } };
}

/** A declined plan has an error of its own: the agent ends the turn on it. */
export function declined(call: FunctionCall, question: Confirmation, reason: string | undefined): FinalState {
  const by = reason ? `cancelled by user: ${reason}` : "cancelled by user";
  return question.kind === "plan"
    ? cancelled(call, `${by}. Plan mode stays on`, "plan_declined")
    : cancelled(call, by);
}

/** Adds to the tool's question what approval knows: the parts of a command, and what "always" would store. */
export function asked(question: Confirmation, { grants, widths, parts }: Verdict): Confirmation {
  const known = grants === undefined ? question : { ...question, grants, ...(widths && { widths }) };
  if (known.kind !== "exec") return known;
  return {
    ...withHosts(known),
    ...(parts && { parts: parts.map((part) => part.text), reach: reachOf(parts) }),
  };
}

function reachOf(parts: readonly PartVerdict[]): PartReach[] {
  const reach = parts.map(({ text, verdict, effects, rule }) => {
    return { text, asks: verdict === "ask", effects, ...(rule !== undefined && { rule }) };
  });
  return sortParts(reach);
}

/** An "always" would be none if the next call asked about the same hosts, so it stores them, too. */
function withHosts(question: Confirmation & { readonly kind: "exec" }): typeof question {
  const more = question.hosts?.map(hostGrant) ?? [];
  if (more.length === 0 || question.grants.length === 0) return question;
  const { grants, widths = {} } = question;
  const wider = Object.entries(widths).map(([width, rules]) => [width, [...rules, ...more]] as const);
  return {
    ...question,
    grants: [...grants, ...more],
    ...(question.widths && { widths: Object.fromEntries(wider) }),
  };
}

export function plainQuestion(tool: Named, call: FunctionCall): Confirmation {
  return {
    kind: "info",
    title: `Run ${tool.displayName}?`,
    prompt: tool.getDescription(call.args),
    urls: [],
    grants: [tool.name],
  };
}

export function errorOf(error: unknown): ToolError {
  if (error instanceof InvalidParams) return { type: "invalid_arguments", message: error.message };
  if (error instanceof WorkspaceError) return { type: error.code, message: error.message };
  const what =
    error instanceof Error && "syscall" in error ? "The system refused" : "The tool failed unexpectedly";
  return { type: "tool_failed", message: `${what}: ${messageOf(error)}` };
}

/** An interrupted tool may need a moment to end what it has started. */
const GRACE_MS = 5000;

/** Returns the call's result. A tool that ignores the signal is abandoned after a while; the answer says so. */
function orLeftBehind(
  call: FunctionCall,
  work: Promise<FinalState>,
  signal: AbortSignal,
): Promise<FinalState> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const leave = (): void => {
      timer = setTimeout(() => resolve(cancelled(call, LEFT_BEHIND)), GRACE_MS);
    };
    signal.addEventListener("abort", leave, { once: true });
    // The tool may have been interrupted before it returned its promise.
    if (signal.aborted) leave();
    const end = (): void => {
      signal.removeEventListener("abort", leave);
      clearTimeout(timer);
    };
    void work.then(resolve, reject).then(end);
  });
}

const LEFT_BEHIND = "it was interrupted and did not stop; it may still be at work";

/** A call whose tool may take only so long. */
interface LimitedCall {
  readonly call: FunctionCall;
  readonly signal: AbortSignal;
  /** In milliseconds; undefined for no limit. */
  readonly limit: number | undefined;
}

/** Runs the work of a call, and stops it when its time is over. A tool that ignores the signal is left behind. */
export async function runWithin(
  { call, signal, limit }: LimitedCall,
  work: (signal: AbortSignal) => Promise<FinalState>,
): Promise<FinalState> {
  if (limit === undefined) return orLeftBehind(call, work(signal), signal);
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new Error("Its time is over.")), limit);
  const either = AbortSignal.any([signal, over.signal]);
  const message = `${call.name} was stopped: it took longer than the ${limit} ms that it may take.`;
  try {
    const state = await orLeftBehind(call, work(either), either);
    return over.signal.aborted && state.status === "cancelled" ? failed({ type: "timeout", message }) : state;
  } catch (error) {
    if (!over.signal.aborted || signal.aborted) throw error;
    return failed({ type: "timeout", message });
  } finally {
    clearTimeout(timer);
  }
}

/** Adds what the user said with an edited content. */
export function withWords<State extends FinalState>(state: State, approval: Approval | null): State {
  const words = approval?.outcome === "edited" ? approval.reason : undefined;
  return words ? { ...state, llmContent: [state.llmContent, `\n\nThe user said: ${words}`].flat() } : state;
}
