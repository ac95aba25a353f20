import type { AnsweredWith } from "@burin/contract/agent-event";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import type {
  Confirmation,
  Decision,
  GrantScope,
  GrantWidth,
  PlanFollower,
  Question,
} from "@burin/contract/tools";
import { shownReason } from "../approval/question-view.ts";

const SCOPES: readonly GrantScope[] = ["session", "project", "everywhere"];
const WIDTHS: readonly GrantWidth[] = ["exact", "wide", "all"];
const FOLLOWERS: readonly PlanFollower[] = ["default", "auto-edit"];

const DECISIONS =
  '{"outcome":"once"}, {"outcome":"always","scope":"session|project|everywhere"} (with a "width" that the question offers) or {"outcome":"cancel","reason":"..."}';
const DECISIONS_OF: Partial<Record<Confirmation["kind"], string>> = {
  exec: ` ("once" may have "network": true or false where the command needs it)`,
  edit: `, {"outcome":"edited","content":"..."} (with a "reason" for the model)`,
  form: `, {"outcome":"filled","values":{...}}`,
  plan: `, {"outcome":"approved_plan","mode":"${FOLLOWERS.join("|")}"}`,
};

type Answerable = Pick<Confirmation, "kind" | "widths">;

/**
 * Reads the decision of a face or a program for a question of this kind; null when it is not valid. Callers in
 * JavaScript may ignore the types, and only a clear yes may let a call run.
 */
export function readDecision(value: unknown, question: Answerable | Answerable["kind"]): Decision | null {
  const { kind, widths = {} } = typeof question === "string" ? { kind: question } : question;
  if (!isRecord(value)) return null;
  const { outcome, content, values, reason } = value;
  const scope = SCOPES.find((one) => one === value.scope);
  const mode = FOLLOWERS.find((one) => one === value.mode);
  if (outcome === "once") return readYes(value.network, kind);
  if (outcome === "always" && scope !== undefined) {
    if (value.width === undefined) return { outcome, scope };
    const width = WIDTHS.find((one) => one === value.width && widths[one] !== undefined);
    return width === undefined ? null : { outcome, scope, width };
  }
  if (outcome === "cancel") return typeof reason === "string" ? { outcome, reason } : { outcome };
  if (outcome === "edited" && kind === "edit" && typeof content === "string")
    return typeof reason === "string" ? { outcome, content, reason } : { outcome, content };
  if (outcome === "filled" && kind === "form" && isRecord(values)) return { outcome, values };
  if (outcome === "approved_plan" && kind === "plan" && mode !== undefined) return { outcome, mode };
  return null;
}

/** A yes; for a command it may say whether that has the network. */
function readYes(network: unknown, kind: Confirmation["kind"]): Decision | null {
  if (network === undefined) return { outcome: "once" };
  return kind === "exec" && typeof network === "boolean" ? { outcome: "once", network } : null;
}

/** Says how to answer such a question. */
export function decisionsFor(kind: Confirmation["kind"]): string {
  return `${DECISIONS}${DECISIONS_OF[kind] ?? ""}`;
}

/** What the user wrote into a file or a form is not passed on. */
export function withoutContent(decision: Decision): AnsweredWith {
  const { outcome } = decision;
  return outcome === "edited" || outcome === "filled" ? { outcome } : decision;
}

/** An answer by the id of its question, checked; or what is wrong with it. null: nobody will answer. */
export function readAnswer(given: unknown, question: Answerable): Answer | string {
  const decision = given === null ? null : readDecision(given, question);
  if (decision === null && given !== null)
    return `the decision must be one of ${decisionsFor(question.kind)}.`;
  return { decision };
}

export interface Answer {
  readonly decision: Decision | null;
}

/** The question for a call of the session's own agent or of a subagent. */
export function questionOf(
  { callId, confirmation, reason }: AskedOfCall,
  subagent: Asker = { agent: null, parentCallId: null },
): Question {
  return { id: `q_${callId}`, callId, ...subagent, confirmation, reason: shownReason(reason) };
}

export interface AskedOfCall {
  readonly callId: string;
  readonly confirmation: Confirmation;
  readonly reason: string;
}

/** The subagent that makes the calls. */
export type Asker = Pick<Question, "agent" | "parentCallId">;

interface QuestionQueue {
  inTurn<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  ask(question: Question, signal: AbortSignal): Promise<Decision | null>;
}

interface AskingAfter {
  readonly questions?: ((callId: string) => Promise<QuestionQueue | undefined> | undefined) | undefined;
  readonly subagent?: Asker | undefined;
  readonly signal: AbortSignal;
}

/** Asks about what a call has found while it ran. Whatever is not a clear answer is none. */
export async function askAfter(
  asked: AskedOfCall,
  { questions, subagent, signal }: AskingAfter,
): Promise<Decision | null> {
  const queue = await questions?.(asked.callId);
  if (queue === undefined) return null;
  const question = questionOf(asked, subagent);
  const own = { ...question, id: `${question.id}_after` };
  return queue.inTurn(() => queue.ask(own, signal), signal).catch(() => null);
}
