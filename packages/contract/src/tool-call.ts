import type { PartListUnion } from "./messages/message.ts";
import type { Confirmation, ResultData, ToolDisplay, ToolError, ToolResult } from "./tools.ts";

/** One call at one moment: what a face draws and the log holds. The last three states end it, with the answer. */
export type ToolCallState =
  | { readonly status: "validating" }
  | { readonly status: "awaiting_approval"; readonly confirmation: Confirmation; readonly reason: string }
  | {
      readonly status: "executing";
      readonly display?: ToolDisplay;
      /** For the user, and not from the tool: e.g. that an "always" could not be stored. */
      readonly notice?: string;
    }
  | (Answered & { readonly status: "success"; readonly error?: undefined })
  | (Answered & { readonly status: "error"; readonly error: ToolError; readonly confirmation?: Confirmation })
  | (Answered & { readonly status: "cancelled"; readonly error: ToolError });

interface Answered {
  /** The answer to the model, limited in length; `function-response.ts` wraps it. */
  readonly llmContent: PartListUnion;
  readonly returnDisplay: ToolDisplay;
  /** The result for programs. */
  readonly data?: ResultData;
}

export type ToolCall = {
  readonly callId: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the call will do, in words; empty until the parameters are valid. */
  readonly description: string;
} & ToolCallState;

/** A call that has ended, with its answer: what `call` and `callAll` of a toolbox resolve to. */
export type AnsweredCall = Extract<ToolCall, Answered>;

export function isAnswered(call: ToolCall): call is AnsweredCall {
  return call.status === "success" || call.status === "error" || call.status === "cancelled";
}

/** The answer as the result of its tool. */
export function resultOf(answer: AnsweredCall): ToolResult {
  const { llmContent, returnDisplay, data, error } = answer;
  return { llmContent, returnDisplay, ...(data && { data }), ...(error && { error }) };
}
