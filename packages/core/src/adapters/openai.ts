import type { ObjectSchema } from "@burin/contract/messages/message";
import type { CallAllOptions } from "../assembly/run-calls.ts";
import type { ToolFilter } from "../assembly/toolbox.ts";
import {
  type AdapterAnswer,
  answerAll,
  buildDataUrl,
  createCallRequest,
  formatAnswerText,
  isImage,
  listDeclarations,
  type ToolboxPart,
} from "./answers.ts";

/** A tool in the form of chat completions. */
export interface OpenAITool {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema };
}

/** The answers as messages: one for each call, and one in the user's role with their images and documents. */
export type OpenAIMessage =
  | { role: "tool"; tool_call_id: string; content: string }
  | { role: "user"; content: OpenAIContent[] };

/** Text, an image or a document inside a message of the user. */
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
 * Adapter for loops that use chat completions, of OpenAI (`openai`) or of any other service with this protocol.
 * @example
 * messages.push(choice.message, ...(await openai.results(toolbox, choice.message.tool_calls ?? [], { signal })));
 */
export const openai = {
  /** Returns the tools for `tools` of a request. */
  tools(toolbox: ToolboxPart, filter?: ToolFilter): OpenAITool[] {
    return listDeclarations(toolbox, filter).map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
  },

  /** Runs the `tool_calls` of a reply. Returns the messages to append after it. */
  async results(
    toolbox: ToolboxPart,
    calls: readonly OpenAIToolCall[],
    options?: CallAllOptions,
  ): Promise<OpenAIMessage[]> {
    const requests = calls.map((call) => {
      const { name, arguments: args } = readFunction(call);
      return createCallRequest(call.id, name, args);
    });
    const answers = await answerAll(toolbox, requests, options);
    const content = answers.flatMap(buildMediaContent);
    const said = answers.map((one): OpenAIMessage => {
      return { role: "tool", tool_call_id: one.call.callId, content: formatAnswerText(one) };
    });
    return content.length === 0 ? said : [...said, { role: "user", content }];
  },
};

/** Returns a call's name and arguments. Those of a custom tool are elsewhere; the toolbox answers with an error. */
function readFunction(call: OpenAIToolCall): { readonly name?: unknown; readonly arguments?: unknown } {
  const { function: own, custom } = call as {
    function?: Record<string, unknown>;
    custom?: Record<string, unknown>;
  };
  return own ?? { name: custom?.name };
}

/** Returns an answer's files as a user's content. The protocol's answers are only text, so files come last. */
function buildMediaContent({ call, media }: AdapterAnswer): OpenAIContent[] {
  return media.flatMap((one): OpenAIContent[] => [
    { type: "text", text: `${isImage(one) ? "Image" : "Document"} from ${call.name} (${call.callId}):` },
    isImage(one)
      ? { type: "image_url", image_url: { url: buildDataUrl(one) } }
      : { type: "file", file: { filename: "document.pdf", file_data: buildDataUrl(one) } },
  ]);
}
