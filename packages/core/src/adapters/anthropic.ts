import type { ObjectSchema } from "@burin/contract/messages/message";
import type { CallAllOptions } from "../assembly/run-calls.ts";
import type { ToolFilter } from "../assembly/toolbox.ts";
import {
  type AdapterAnswer,
  answerAll,
  createCallRequest,
  type ImageType,
  listDeclarations,
  type ToolboxPart,
} from "./answers.ts";

/** A tool in the form of Anthropic's Messages API. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: ObjectSchema;
}

/** The answer to one call: a block for the next user message. */
export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content?: AnthropicContent[];
  is_error?: boolean;
}

/** Text, an image or a PDF inside an answer. */
export type AnthropicContent =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: ImageType; data: string } }
  | { type: "document"; source: { type: "base64"; media_type: "application/pdf"; data: string } };

/**
 * Adapter for loops that use Anthropic's Messages API (`@anthropic-ai/sdk`).
 * @example
 * const tools: Anthropic.Tool[] = anthropic.tools(toolbox);
 * const content = await anthropic.results(toolbox, message.content, { signal });
 * messages.push({ role: "assistant", content: message.content }, { role: "user", content });
 */
export const anthropic = {
  /** Returns the tools for `tools` of a request. */
  tools(toolbox: ToolboxPart, filter?: ToolFilter): AnthropicTool[] {
    return listDeclarations(toolbox, filter).map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: parameters,
    }));
  },

  /** Runs the `tool_use` blocks of a reply's content and ignores other blocks. */
  async results(
    toolbox: ToolboxPart,
    content: readonly { readonly type: string }[],
    options?: CallAllOptions,
  ): Promise<AnthropicToolResult[]> {
    const uses: readonly ToolUse[] = content.filter(({ type }) => type === "tool_use");
    const calls = uses.map(({ id, name, input }) => createCallRequest(id, name, input));
    return (await answerAll(toolbox, calls, options)).map(buildResultBlock);
  },
};

interface ToolUse {
  readonly type: string;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly input?: unknown;
}

function buildResultBlock({ call, pieces }: AdapterAnswer): AnthropicToolResult {
  const isError = call.status !== "success";
  const content = pieces.flatMap((piece): AnthropicContent[] => {
    // The service rejects text that is only white space.
    if ("text" in piece) return piece.text.trim() === "" ? [] : [{ type: "text", text: piece.text }];
    const { mimeType, data } = piece.media;
    // The service accepts only text in an answer that is marked as an error.
    if (isError) return [{ type: "text", text: `[A file of type ${mimeType} is left out.]` }];
    return mimeType === "application/pdf"
      ? [{ type: "document", source: { type: "base64", media_type: mimeType, data } }]
      : [{ type: "image", source: { type: "base64", media_type: mimeType, data } }];
  });
  return {
    type: "tool_result",
    tool_use_id: call.callId,
    ...(content.length === 0 ? {} : { content }),
    ...(isError ? { is_error: true } : {}),
  };
}
