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

/** A tool as `bindTools` of LangChain's models takes it. */
export interface LangChainTool {
  name: string;
  description: string;
  schema: ObjectSchema;
}

/** The answers as messages: one for each call, and one of the user that holds their images and documents. */
export type LangChainMessage =
  | { role: "tool"; name: string; tool_call_id: string; status: "success" | "error"; content: string }
  | { role: "user"; content: LangChainContent[] };

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

/** A call as a LangChain message has it. */
export interface LangChainCall {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/**
 * For loops around the chat models of LangChain (`@langchain/core`).
 *
 * @example
 * const reply = await model.bindTools(langchain.tools(toolbox)).invoke(messages);
 * messages.push(reply, ...(await langchain.results(toolbox, reply.tool_calls ?? [], { signal })));
 */
export const langchain = {
  /** The tools for `bindTools`. */
  tools(toolbox: ToolboxPart, filter?: ToolFilter): LangChainTool[] {
    return declaredTools(toolbox, filter).map(({ name, description, parameters: schema }) => ({
      name,
      description,
      schema,
    }));
  },

  /** Runs the `tool_calls` of a reply. Returns the messages that follow it. */
  async results(
    toolbox: ToolboxPart,
    calls: readonly LangChainCall[],
    options?: CallAllOptions,
  ): Promise<LangChainMessage[]> {
    const requests = calls.map(({ id, name, args }) => callRequest(id, name, args));
    const answers = await answerAll(toolbox, requests, options);
    const content = answers.flatMap(mediaContent);
    const said = answers.map(messageOf);
    return content.length === 0 ? said : [...said, { role: "user", content }];
  },
};

function messageOf(answer: Answered): LangChainMessage {
  const { call } = answer;
  // Not every model's package passes the status on.
  const content = markedText(answer);
  const status = call.status === "success" ? "success" : "error";
  return { role: "tool", name: call.name, tool_call_id: call.callId, status, content };
}

function mediaContent({ call, media }: Answered): LangChainContent[] {
  return media.flatMap((one): LangChainContent[] => [
    { type: "text", text: `${isImage(one) ? "Image" : "Document"} from ${call.name} (${call.callId}):` },
    isImage(one)
      ? { type: "image_url", image_url: { url: dataUrl(one) } }
      : {
          type: "file",
          source_type: "base64",
          mime_type: one.mimeType,
          data: one.data,
          metadata: { filename: "document.pdf" },
        },
  ]);
}
