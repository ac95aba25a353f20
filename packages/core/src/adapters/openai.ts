import type { ObjectSchema } from "@burin/contract/messages/message";
import type { CallAllOptions } from "../assembly/run-calls.ts";
import type { ToolFilter } from "../assembly/toolbox.ts";
import {
  type Answered,
  answerAll,
  callRequest,
  dataUrl,
  declaredTools,
  isImage,
  markedText,
  type ToolboxPart,
} from "./answers.ts";

/** A tool as chat completions take it. */
export interface OpenAITool {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema };
}

/** The answers as messages: one for each call, and one of the user that holds their images and documents. */
export type OpenAIMessage =
  | { role: "tool"; tool_call_id: string; content: string }
  | { role: "user"; content: OpenAIContent[] };

export type OpenAIContent =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "file"; file: { filename: string; file_data: string } };

/** A call as chat completions return it. */
export interface OpenAIToolCall {
  readonly id: string;
  readonly type?: string | undefined;
}

/**
 * For loops around chat completions, of OpenAI (`openai`) or any service that speaks this protocol.
 *
 * @example
 * messages.push(choice.message, ...(await openai.results(toolbox, choice.message.tool_calls ?? [], { signal })));
 */
export const openai = {
  /** The tools for `tools` of a request. */
  tools(toolbox: ToolboxPart, filter?: ToolFilter): OpenAITool[] {
    return declaredTools(toolbox, filter).map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
  },

  /** Runs the `tool_calls` of a reply. Returns the messages that follow it. */
  async results(
    toolbox: ToolboxPart,
    calls: readonly OpenAIToolCall[],
    options?: CallAllOptions,
  ): Promise<OpenAIMessage[]> {
    const requests = calls.map((call) => {
      const { name, arguments: args } = functionIn(call);
      return callRequest(call.id, name, args);
    });
    const answers = await answerAll(toolbox, requests, options);
    const content = answers.flatMap(mediaContent);
    const said = answers.map((one): OpenAIMessage => {
      return { role: "tool", tool_call_id: one.call.callId, content: markedText(one) };
    });
    return content.length === 0 ? said : [...said, { role: "user", content }];
  },
};

/** Custom tools have their name and a text elsewhere; the toolbox has none of them and says so. */
function functionIn(call: OpenAIToolCall): { readonly name?: unknown; readonly arguments?: unknown } {
  const { function: own, custom } = call as {
    function?: Record<string, unknown>;
    custom?: Record<string, unknown>;
  };
  return own ?? { name: custom?.name };
}

/** The protocol takes text alone as an answer; files come after all answers. */
function mediaContent({ call, media }: Answered): OpenAIContent[] {
  return media.flatMap((one): OpenAIContent[] => [
    { type: "text", text: `${isImage(one) ? "Image" : "Document"} from ${call.name} (${call.callId}):` },
    isImage(one)
      ? { type: "image_url", image_url: { url: dataUrl(one) } }
      : { type: "file", file: { filename: "document.pdf", file_data: dataUrl(one) } },
  ]);
}
