import type { AgentEvent } from "@burin/contract/agent-event";
import type { ModelEvent } from "@burin/contract/chat-model";
import { type AnsweredCall, isAnswered } from "@burin/contract/tool-call";
import { PastSession } from "./past-session.ts";
import type { RecordedPrompt } from "./recorded-model.ts";
import { TurnCount } from "./turn-count.ts";

export interface RecordedSession {
  readonly root: string;
  readonly prompts: readonly RecordedPrompt[];
  /** Every call's answer by its id, with its turn. */
  readonly answers: ReadonlyMap<string, { readonly turn: number; readonly call: AnsweredCall }>;
}

export function readRecordedSession(path: string): RecordedSession {
  const prompts: RecordedPrompt[] = [];
  const answers = new Map<string, { turn: number; call: AnsweredCall }>();
  const count = new TurnCount();
  let root = "";
  let isDone = true;
  const enter = (event: AgentEvent) => {
    const { turn, isFirst } = count.follow(event);
    if (event.type === "session") root = event.root;
    if (event.type === "done") isDone = true;
    if (event.type === "text" && event.role === "user" && isDone) {
      prompts.push({ text: event.text, replies: [] });
      isDone = false;
    }
    if (isFirst) prompts.at(-1)?.replies.push({ turn, events: [] });
    const said = saidBy(event);
    if (said !== null) prompts.at(-1)?.replies.at(-1)?.events.push(said);
    if (event.type === "tool_call" && isAnswered(event.call)) {
      answers.set(event.call.callId, { turn, call: event.call });
    }
  };
  const past = new PastSession(path);
  for (const event of past.events(() => undefined)) enter(event);
  for (const event of past.calls.answers(() => undefined, "all")) enter(event);
  return { root, prompts, answers };
}

function saidBy(event: AgentEvent): ModelEvent | null {
  if (event.type === "text") return event.role === "model" ? { type: "text", text: event.text } : null;
  if (event.type === "thought") return event;
  if (event.type !== "tool_call" || event.call.status !== "validating") return null;
  const { callId: id, name, args } = event.call;
  return { type: "function_call", call: { id, name, args } };
}
