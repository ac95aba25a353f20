import type { AgentEvent } from "@burin/contract/agent-event";
import type { ChatModel, ModelFailure } from "@burin/contract/chat-model";
import { askOnce, asUser } from "../ask-once.ts";

const INSTRUCTION = `You are given the record of a coding agent's work with a person. It is too long to be kept; your summary takes its place, and the agent goes on with nothing else.
Write, in short lines under these headings: Goal. Decisions and what the person wants or forbids. Done so far (files by path, commands, results). Learned (facts, names, places in the code, values that will be needed again). Tried without success, and why. Next steps.
Keep exact names, paths, commands and error texts. State nothing that is not in the record. Do not carry on with the work, call no tool and speak to nobody.`;

export interface Summary {
  readonly text: string;
  /** Why there is no text. */
  readonly failure?: ModelFailure;
}

/** Asks the model for a summary, in a request of its own. Gives its usage and its notices; never throws. */
export async function* summarize(
  model: ChatModel,
  record: string,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Summary> {
  const asking = askOnce(model, { system: INSTRUCTION, history: asUser(`The record:\n\n${record}`) }, signal);
  let next = await asking.next();
  for (; !next.done; next = await asking.next()) {
    const event = next.value;
    if (event.type === "usage") yield { ...event, purpose: "compaction" };
    // Its thoughts and words are not those of a reply, so that there is nothing to take back.
    if (event.type === "notice") yield { type: "notice", message: event.message };
  }
  const { text, end } = next.value;
  if (end.reason === "error") return { text: "", failure: end.error };
  return text.trim() === "" ? { text: "", failure: EMPTY } : { text: text.trim() };
}

const EMPTY: ModelFailure = { type: "bad_reply", message: "The reply was empty." };
