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

/** A tool in the form that `bindTools` of LangChain's models accepts. */
export interface LangChainTool {
  name: string;
  description: string;
  schema: ObjectSchema;
}

/** The answers as messages: one for each call, and one in the user's role with their images and documents. */
export type LangChainMessage =
  | { role: "tool"; name: string; tool_call_id: string; status: "success" | "error"; content: string }
  | { role: "user"; content: LangChainContent[] };

/** Text, an image or a document inside a message of the user. */
export type LangChainContent =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | {
      type: "file";
      source_type: "base64";
      mime_type: string;
      data: string;
      metadata: { filename: string };
    };

/** A call as it appears in a LangChain message. */
export interface LangChainCall {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/**
 * Adapter for loops that use LangChain's chat models (`@langchain/core`).
 * @example
 * const reply = await model.bindTools(langchain.tools(toolbox)).invoke(messages);
 * messages.push(reply, ...(await langchain.results(toolbox, reply.tool_calls ?? [], { signal })));
 */
export const langchain = {
  /** Returns the tools for `bindTools`. */
  tools(toolbox: ToolboxPart, filter?: ToolFilter): LangChainTool[] {
    return listDeclarations(toolbox, filter).map(({ name, description, parameters: schema }) => ({
      name,
      description,
      schema,
    }));
  },

  /** Runs the `tool_calls` of a reply. Returns the messages to append after it. */
  async results(
    toolbox: ToolboxPart,
    calls: readonly LangChainCall[],
    options?: CallAllOptions,
  ): Promise<LangChainMessage[]> {
    const requests = calls.map(({ id, name, args }) => createCallRequest(id, name, args));
    const answers = await answerAll(toolbox, requests, options);
    const content = answers.flatMap(buildMediaContent);
    const said = answers.map(buildToolMessage);
    return content.length === 0 ? said : [...said, { role: "user", content }];
  },
};

function buildToolMessage(answer: AdapterAnswer): LangChainMessage {
  const { call } = answer;
  // Mark the error in the text too, because not every model's package passes the status on.
  const content = formatAnswerText(answer);
  const status = call.status === "success" ? "success" : "error";
  return { role: "tool", name: call.name, tool_call_id: call.callId, status, content };
}

function buildMediaContent({ call, media }: AdapterAnswer): LangChainContent[] {
  return media.flatMap((one): LangChainContent[] => [
    { type: "text", text: `${isImage(one) ? "Image" : "Document"} from ${call.name} (${call.callId}):` },
    isImage(one)
      ? { type: "image_url", image_url: { url: buildDataUrl(one) } }
      : {
          type: "file",
          source_type: "base64",
          mime_type: one.mimeType,
          data: one.data,
          metadata: { filename: "document.pdf" },
        },
  ]);
}
