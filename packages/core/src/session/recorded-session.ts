import type { AgentEvent } from "@burin/contract/agent-event";
import { type AnsweredCall, isAnswered } from "@burin/contract/tool-call";
import type { ScriptedCall } from "@burin/models/scripted";
import { PastSession } from "./past-session.ts";
import { TurnCount } from "./turn-count.ts";

/** A prompt with all replies until the next one, as lines of a script. The calls have their ids in the arguments. */
interface RecordedPrompt {
  readonly text: string;
  readonly replies: { text: string; readonly calls: ScriptedCall[] }[];
}

export interface RecordedSession {
  readonly root: string;
  readonly prompts: readonly RecordedPrompt[];
  /** The answer to each call by the call's id, with its turn. */
  readonly answers: ReadonlyMap<string, { readonly turn: number; readonly call: AnsweredCall }>;
}

export function readRecordedSession(path: string): RecordedSession {
  const prompts: RecordedPrompt[] = [];
  const answers = new Map<string, { turn: number; call: AnsweredCall }>();
  const count = new TurnCount();
  let root = "";
  let isDone = true;
  const addEvent = (event: AgentEvent) => {
    const { turn, isFirst } = count.countEvent(event);
    if (event.type === "session") root = event.root;
    if (event.type === "done") isDone = true;
    if (event.type === "text" && event.role === "user" && isDone) {
      prompts.push({ text: event.text, replies: [] });
      isDone = false;
    }
    if (isFirst) prompts.at(-1)?.replies.push({ text: "", calls: [] });
    const reply = prompts.at(-1)?.replies.at(-1);
    if (event.type === "text" && event.role === "model" && reply) reply.text += event.text;
    if (event.type !== "tool_call") return;
    const { callId, name, args, status } = event.call;
    if (status === "validating") reply?.calls.push({ name, args: { callId, args } });
    if (isAnswered(event.call)) answers.set(callId, { turn, call: event.call });
  };
  const past = new PastSession(path);
  for (const event of past.listEvents(() => undefined)) addEvent(event);
  for (const event of past.calls.createAnswers(() => undefined, "all")) addEvent(event);
  return { root, prompts, answers };
}
