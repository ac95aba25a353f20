import type { AgentEvent } from "@burin/contract/agent-event";
import type { ChatModel, ModelFailure } from "@burin/contract/chat-model";

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
  const history = [{ role: "user" as const, parts: [{ text: `The record:\n\n${record}` }] }];
  let text = "";
  for await (const event of model.stream({ system: INSTRUCTION, history, tools: [] }, signal)) {
    switch (event.type) {
      case "text":
        text += event.text;
        break;
      case "usage":
        yield { ...event, purpose: "compaction" };
        break;
      case "notice":
        // Its thoughts and words are not those of a reply, so that there is nothing to take back.
        yield { type: "notice", message: event.message };
        break;
      case "end":
        if (event.reason === "error") return { text: "", failure: event.error };
        return text.trim() === "" ? { text: "", failure: EMPTY } : { text: text.trim() };
      default:
    }
  }
  return { text: "", failure: EMPTY };
}

const EMPTY: ModelFailure = { type: "bad_reply", message: "The reply was empty." };
