import { toParts } from "@burin/contract/messages/parts";
import { MOST_ANSWER_CHARACTERS } from "@burin/contract/text/truncate";
import { isAnswered, type ToolCall } from "@burin/contract/tool-call";
import { boundedContent } from "../scheduler/function-response.ts";

/** The share of the window that the answers to one reply may fill without any old answers being cleared. */
const MOST_OF_WINDOW = 0.35;
/** A low estimate, because text of many symbols and digits takes more tokens. */
const CHARACTERS_PER_TOKEN = 3;
/** A shorter answer is useless. */
const LEAST_CHARACTERS = 1000;

/** How many characters a window leaves for the answer to a reply with one call. */
export function roomForAnswers(window: number): number {
  return Math.floor(window * MOST_OF_WINDOW * CHARACTERS_PER_TOKEN);
}

/** Distributes the room for one reply's answers; with a large window no answer is cut here. */
export class AnswerRoom {
  #left: number;
  #calls: number;

  constructor(window: number, calls: number) {
    this.#left = roomForAnswers(window);
    this.#calls = calls;
  }

  bounded(call: ToolCall): ToolCall {
    if (!isAnswered(call)) return call;
    const share = Math.max(this.#left / 2, this.#left / this.#calls, LEAST_CHARACTERS);
    const most = Math.floor(Math.min(share, MOST_ANSWER_CHARACTERS));
    const llmContent = boundedContent(call.llmContent, most);
    this.#left -= toParts(llmContent).reduce((sum, { text = "" }) => sum + text.length, 0);
    this.#calls = Math.max(this.#calls - 1, 1);
    return { ...call, llmContent };
  }
}
