import type { Message } from "@burin/contract/messages/message";
import type { Part } from "@burin/contract/messages/parts";
import type { ContextSize } from "../context-size.ts";

/** An answer smaller than this is not worth the note that would take its place. */
const LEAST_TOKENS = 100;

export interface OldAnswers {
  readonly callIds: readonly string[];
  /** What they take. */
  readonly tokens: number;
}

/** The answers that can be cleared: those behind the newest `keptTokens`, never those of the last message. */
export function oldAnswers(history: readonly Message[], keptTokens: number, size: ContextSize): OldAnswers {
  const callIds: string[] = [];
  let tokens = 0;
  let passed = 0;
  for (const message of history.slice(0, -1).reverse()) {
    if (message.role !== "user") continue;
    for (const [id, parts] of answersOf(message)) {
      const taken = size.ofMessage({ role: "user", parts });
      passed += taken;
      if (passed <= keptTokens || taken < LEAST_TOKENS) continue;
      callIds.push(id);
      tokens += taken;
    }
  }
  return { callIds: callIds.reverse(), tokens };
}

/** Each answer with the media that came with it. */
function answersOf({ parts }: Message): [string, Part[]][] {
  const answers: [string, Part[]][] = [];
  for (const part of parts) {
    const id = part.functionResponse?.id;
    if (id !== undefined) answers.push([id, [part]]);
    else if (part.inlineData) answers.at(-1)?.[1].push(part);
  }
  return answers;
}
