import type { PartListUnion } from "./messages/message.ts";
import type { Confirmation, ResultData, ToolDisplay, ToolError, ToolResult } from "./tools.ts";

/** The state of a call at one moment, for front ends and the log. The last three are final, with the answer. */
export type ToolCallState =
  | { readonly status: "validating" }
  | { readonly status: "awaiting_approval"; readonly confirmation: Confirmation; readonly reason: string }
  | {
      readonly status: "executing";
      readonly display?: ToolDisplay;
      /** A message for the user that does not come from the tool, for example that an "always" could not be stored. */
      readonly notice?: string;
    }
  | (Answered & { readonly status: "success"; readonly error?: undefined })
  | (Answered & { readonly status: "error"; readonly error: ToolError; readonly confirmation?: Confirmation })
  | (Answered & { readonly status: "cancelled"; readonly error: ToolError });

interface Answered {
  /** The answer for the model, limited in length. `function-response.ts` wraps it. */
  readonly llmContent: PartListUnion;
  readonly returnDisplay: ToolDisplay;
  /** The result as plain values, for programs. */
  readonly data?: ResultData;
}

/** One call of a tool at one moment, with its state. */
export type ToolCall = {
  readonly callId: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the call will do, in words. Empty until the parameters are validated. */
  readonly description: string;
} & ToolCallState;

/** A call that has ended, with its answer. `call` and `callAll` of a toolbox resolve to it. */
export type AnsweredCall = Extract<ToolCall, Answered>;

/** Whether the call has ended and has its answer. */
export function isAnswered(call: ToolCall): call is AnsweredCall {
  return call.status === "success" || call.status === "error" || call.status === "cancelled";
}

/** Converts the answered call back to the result that its tool returned. */
export function toToolResult(answer: AnsweredCall): ToolResult {
  const { llmContent, returnDisplay, data, error } = answer;
  return { llmContent, returnDisplay, ...(data && { data }), ...(error && { error }) };
}
