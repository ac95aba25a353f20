import type { FunctionResponse } from "@burin/contract/messages/function-call";
import { type Part, type PartListUnion, textOf, toParts } from "@burin/contract/messages/parts";
import { keepHeadAndTail, MOST_ANSWER_CHARACTERS } from "@burin/contract/text/truncate";
import type { AnsweredCall } from "@burin/contract/tool-call";

const CUT_HINT = "ask for a smaller part to see the rest";

/** Shortens each text of the content for the model; other parts stay as they are. */
export function boundedContent(content: PartListUnion, most = MOST_ANSWER_CHARACTERS): PartListUnion {
  if (Array.isArray(content)) return content.map((part) => boundedPart(part, most));
  return boundedPart(content, most);
}

function boundedPart(part: Part | string, most: number): Part | string {
  if (typeof part === "string") return keepHeadAndTail(part, most, CUT_HINT);
  if (part.text === undefined || part.text.length <= most) return part;
  return { ...part, text: keepHeadAndTail(part.text, most, CUT_HINT) };
}

/**
 * The one answer to a call: its text inside the function response, followed by its binary parts, in order. An
 * error is marked as one, so that providers need not guess.
 */
export function functionResponseOf(call: AnsweredCall): Part[] {
  const text = textOf(call.llmContent);
  const siblings = toParts(call.llmContent).filter((part) => part.text === undefined);
  const output = text === "" && siblings.length > 0 ? described(siblings) : text;
  const response: FunctionResponse = {
    id: call.callId,
    name: call.name,
    response: call.status === "success" ? { output } : { error: output },
  };
  return [{ functionResponse: response }, ...siblings];
}

function described(parts: readonly Part[]): string {
  const kinds = parts.map((part) => part.inlineData?.mimeType ?? "data");
  return `The content follows: ${kinds.join(", ")}.`;
}
