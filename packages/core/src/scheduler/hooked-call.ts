import { type PartListUnion, textOf } from "@burin/contract/messages/parts";
import type { Verdict } from "../approval/approval-policy.ts";
import type { BeforeCall, Hooks } from "../hooks/hooks.ts";
import { hookWords } from "../text/hook-words.ts";
import type { FinalState } from "./call-outcome.ts";

export type CallHooks = Pick<Hooks, "before" | "after">;

/** What the hooks before a call decided. */
export type Hooked = Pick<BeforeCall, "decision" | "reason">;

export const NOT_HOOKED: Hooked = { decision: undefined, reason: "" };

/**
 * A hook can require a question where a rule allows. It can allow only what a user could allow permanently: calls
 * that always need a question, e.g. for a protected file, still get one.
 */
export function withHook(judged: Verdict, { decision, reason }: Hooked): Verdict {
  if (decision === "ask" && judged.verdict === "allow") return { verdict: "ask", reason, grants: [] };
  const isAlwaysAsked = judged.grants === undefined || judged.grants.length === 0;
  if (decision === "allow" && judged.verdict === "ask" && !isAlwaysAsked) return { verdict: "allow", reason };
  return judged;
}

/** What a hook sees of an answer. */
export function answerForHooks({ status, llmContent }: FinalState) {
  return { status, text: textOf(llmContent) };
}

/** Adds the hooks' notes for the model to the answer. */
export function withNotes<State extends FinalState>(state: State, notes: readonly string[]): State {
  if (notes.length === 0) return state;
  const text = `\n\n${hookWords(notes.join("\n"))}`;
  const { llmContent } = state;
  const content: PartListUnion =
    typeof llmContent === "string" ? llmContent + text : [llmContent, text].flat();
  return { ...state, llmContent: content };
}
