import { type FunctionResponse, joinText, type Part, toParts } from "@burin/contract/messages/message";
import type { AnsweredCall } from "@burin/contract/tool-call";

/**
 * Returns the one response to a call: its text inside the function response, followed by its binary parts, in order. An
 * error is marked as such, so that providers need not guess.
 */
export function toFunctionResponse(call: AnsweredCall): Part[] {
  const text = joinText(call.llmContent);
  const siblings = toParts(call.llmContent).filter((part) => part.text === undefined);
  const output = text === "" && siblings.length > 0 ? describeParts(siblings) : text;
  const response: FunctionResponse = {
    id: call.callId,
    name: call.name,
    response: call.status === "success" ? { output } : { error: output },
  };
  return [{ functionResponse: response }, ...siblings];
}

function describeParts(parts: readonly Part[]): string {
  const kinds = parts.map((part) => part.inlineData?.mimeType ?? "data");
  return `The content follows: ${kinds.join(", ")}.`;
}
