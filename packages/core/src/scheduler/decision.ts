import type { LoggedDecision } from "@burin/contract/agent-event";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import type {
  Confirmation,
  Decision,
  GrantScope,
  GrantWidth,
  PlanExecutionMode,
  Question,
} from "@burin/contract/tools";
import { formatReason } from "../approval/question-view.ts";

const SCOPES: readonly GrantScope[] = ["session", "project", "everywhere"];
const WIDTHS: readonly GrantWidth[] = ["exact", "wide", "all"];
const FOLLOWERS: readonly PlanExecutionMode[] = ["default", "auto-edit"];

const DECISIONS = [
  '{"outcome":"once"},',
  '{"outcome":"always","scope":"session|project|everywhere"} (with a "width" that the question offers)',
  'or {"outcome":"cancel","reason":"..."}',
].join(" ");
const DECISIONS_OF: Partial<Record<Confirmation["kind"], string>> = {
  exec: ` ("once" may have "network": true or false where the command needs it), {"outcome":"edited","content":"another command"}, which is judged again`,
  edit: `, {"outcome":"edited","content":"..."} (with a "reason" for the model)`,
  form: `, {"outcome":"filled","values":{...}}`,
  plan: `, {"outcome":"approved_plan","mode":"${FOLLOWERS.join("|")}"}`,
};

type Answerable = Pick<Confirmation, "kind" | "widths">;

/**
 * Reads a decision from a front end or a program about a question of this kind. Returns null if it is invalid.
 * JavaScript callers may ignore the types, and only a clear yes may let a call run.
 */
export function readDecision(value: unknown, question: Answerable | Answerable["kind"]): Decision | null {
  const { kind, widths = {} } = typeof question === "string" ? { kind: question } : question;
  if (!isRecord(value)) return null;
  const { outcome, values, reason } = value;
  const scope = SCOPES.find((one) => one === value.scope);
  const mode = FOLLOWERS.find((one) => one === value.mode);
  if (outcome === "once") return readApproval(value.network, kind);
  if (outcome === "always" && scope !== undefined) {
    if (value.width === undefined) return { outcome, scope };
    const width = WIDTHS.find((one) => one === value.width && widths[one] !== undefined);
    return width === undefined ? null : { outcome, scope, width };
  }
  if (outcome === "cancel") return typeof reason === "string" ? { outcome, reason } : { outcome };
  if (outcome === "edited") return readEditedDecision(value, kind);
  if (outcome === "filled" && kind === "form" && isRecord(values)) return { outcome, values };
  if (outcome === "approved_plan" && kind === "plan" && mode !== undefined) return { outcome, mode };
  return null;
}

/** Reads the content that the user wrote in place of the proposed file or command. */
function readEditedDecision(
  { content, reason }: Record<string, unknown>,
  kind: Confirmation["kind"],
): Decision | null {
  if ((kind !== "edit" && kind !== "exec") || typeof content !== "string") return null;
  return { outcome: "edited", content, ...(typeof reason === "string" && { reason }) };
}

/** Reads a yes. For a command, it may say whether the command gets the network. */
function readApproval(network: unknown, kind: Confirmation["kind"]): Decision | null {
  if (network === undefined) return { outcome: "once" };
  return kind === "exec" && typeof network === "boolean" ? { outcome: "once", network } : null;
}

/** Describes the possible answers to a question of this kind. */
export function describeDecisions(kind: Confirmation["kind"]): string {
  return `${DECISIONS}${DECISIONS_OF[kind] ?? ""}`;
}

/** Removes what the user wrote into a file or a form. */
export function removeUserContent(decision: Decision): LoggedDecision {
  const { outcome } = decision;
  return outcome === "edited" || outcome === "filled" ? { outcome } : decision;
}

/** Checks an answer to a question. Returns the decision (null: nobody will answer) or what is wrong with it. */
export function readAnswer(given: unknown, question: Answerable): Answer | string {
  const decision = given === null ? null : readDecision(given, question);
  if (decision === null && given !== null)
    return `the decision must be one of ${describeDecisions(question.kind)}.`;
  return { decision };
}

export interface Answer {
  readonly decision: Decision | null;
}

/** Creates the question for a call of the session's own agent or of a subagent. */
export function createQuestion(
  { callId, confirmation, reason, edits = 0 }: CallQuestion,
  subagent: SubagentRef = { agent: null, parentCallId: null },
): Question {
  const id = edits === 0 ? `q_${callId}` : `q_${callId}_edited${edits}`;
  return { id, callId, ...subagent, confirmation, reason: formatReason(reason) };
}

export interface CallQuestion {
  readonly callId: string;
  readonly confirmation: Confirmation;
  readonly reason: string;
  /** How often the user has changed the call before. */
  readonly edits?: number;
}

/** The subagent that makes the calls. */
export type SubagentRef = Pick<Question, "agent" | "parentCallId">;

interface QuestionQueue {
  inTurn<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  ask(question: Question, signal: AbortSignal): Promise<Decision | null>;
}

interface AskOptions {
  readonly questions?: ((callId: string) => Promise<QuestionQueue | undefined> | undefined) | undefined;
  readonly subagent?: SubagentRef | undefined;
  readonly signal: AbortSignal;
}

/** Asks about something that a call found while it ran. Returns null without a clear answer. */
export async function askQuestion(
  asked: CallQuestion,
  { questions, subagent, signal }: AskOptions,
): Promise<Decision | null> {
  const queue = await questions?.(asked.callId);
  if (queue === undefined) return null;
  const question = createQuestion(asked, subagent);
  const own = { ...question, id: `${question.id}_after` };
  return queue.inTurn(() => queue.ask(own, signal), signal).catch(() => null);
}
