import { joinText, type PartListUnion, type PartUnion } from "@burin/contract/messages/message";
import { keepHeadAndTail, MAX_ANSWER_CHARACTERS } from "@burin/contract/text/truncate";

const CUT_HINT = "ask for a smaller part to see the rest";
/** The minimum number of characters of an answer; a shorter one is useless. */
const MIN_CHARACTERS = 1000;
/** The minimum number of characters of one text, so that its framing survives, e.g. the mark that ends a server's text. */
const MIN_TEXT = 500;

/** Returns a function that shortens the answers to one reply's calls so that all of them fit into the room. */
export function createAnswerLimiter(room: number, calls: number): (answer: PartListUnion) => PartListUnion {
  let left = room;
  let open = calls;
  return (answer) => {
    const share = Math.max(left / 2, left / open, MIN_CHARACTERS);
    const bounded = limitContent(answer, Math.floor(Math.min(share, MAX_ANSWER_CHARACTERS)));
    left -= joinText(bounded).length;
    open = Math.max(open - 1, 1);
    return bounded;
  };
}

/**
 * Shortens the texts of content for the model. Other parts stay as they are. Must be called with complete content: if a
 * text was already shortened, the count of missing characters would be wrong.
 */
export function limitContent(content: PartListUnion, maxCharacters = MAX_ANSWER_CHARACTERS): PartListUnion {
  if (!Array.isArray(content)) return limitPart(content, maxCharacters);
  const lengths = content.map((part) => joinText(part).length);
  const share = computeShare(maxCharacters, lengths);
  return content.map((part) => limitPart(part, share));
}

/** Returns the most characters for each text. Long texts get what short ones leave. */
function computeShare(max: number, lengths: number[]): number {
  let left = max;
  for (const [index, length] of lengths.sort((one, other) => one - other).entries()) {
    const share = Math.floor(left / (lengths.length - index));
    if (length > share) return Math.max(share, MIN_TEXT);
    left -= length;
  }
  return max;
}

function limitPart(part: PartUnion, maxCharacters: number): PartUnion {
  if (typeof part === "string") return keepHeadAndTail(part, maxCharacters, CUT_HINT);
  return part.text === undefined
    ? part
    : { ...part, text: keepHeadAndTail(part.text, maxCharacters, CUT_HINT) };
}
