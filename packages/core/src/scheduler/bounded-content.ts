import { type PartListUnion, type PartUnion, textOf } from "@burin/contract/messages/message";
import { keepHeadAndTail, MOST_ANSWER_CHARACTERS } from "@burin/contract/text/truncate";

const CUT_HINT = "ask for a smaller part to see the rest";
/** A shorter answer is useless. */
const LEAST_CHARACTERS = 1000;
/** One text of an answer keeps what stands around it, such as where the words of a server end. */
const LEAST_TEXT = 500;

/** Shortens the answers to one reply's calls, in their order, so that they fit into the room for all of them. */
export function answerBounder(room: number, calls: number): (answer: PartListUnion) => PartListUnion {
  let left = room;
  let open = calls;
  return (answer) => {
    const share = Math.max(left / 2, left / open, LEAST_CHARACTERS);
    const bounded = boundedContent(answer, Math.floor(Math.min(share, MOST_ANSWER_CHARACTERS)));
    left -= textOf(bounded).length;
    open = Math.max(open - 1, 1);
    return bounded;
  };
}

/**
 * Shortens the texts of the content for the model; other parts stay as they are. Only content that is whole: of a text
 * that was shortened before, it would no longer be known how much is missing.
 */
export function boundedContent(content: PartListUnion, most = MOST_ANSWER_CHARACTERS): PartListUnion {
  if (!Array.isArray(content)) return boundedPart(content, most);
  const lengths = content.map((part) => textOf(part).length);
  const share = shareOf(most, lengths);
  return content.map((part) => boundedPart(part, share));
}

/** How long each text may be: what the short ones leave, the long ones get. */
function shareOf(most: number, lengths: number[]): number {
  let left = most;
  for (const [index, length] of lengths.sort((one, other) => one - other).entries()) {
    const share = Math.floor(left / (lengths.length - index));
    if (length > share) return Math.max(share, LEAST_TEXT);
    left -= length;
  }
  return most;
}

function boundedPart(part: PartUnion, most: number): PartUnion {
  if (typeof part === "string") return keepHeadAndTail(part, most, CUT_HINT);
  return part.text === undefined ? part : { ...part, text: keepHeadAndTail(part.text, most, CUT_HINT) };
}
