import type { ObjectSchema } from "@burin/contract/messages/message";
import type { CallAllOptions } from "../assembly/run-calls.ts";
import type { ToolFilter } from "../assembly/toolbox.ts";
import {
  type Answered,
  answerAll,
  callRequest,
  declaredTools,
  isImage,
  markedText,
  type ToolboxPart,
} from "./answers.ts";

/** A tool as the AI SDK takes it. It has no `execute`: `results` runs the calls, all of a step together. */
export interface AiSdkTool {
  description: string;
  inputSchema: AiSdkSchema;
}

/** A Standard Schema that has its JSON Schema with it. */
export interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "burin";
    readonly validate: (value: unknown) => { readonly value: Record<string, unknown> };
    readonly types?: { readonly input: Record<string, unknown>; readonly output: Record<string, unknown> };
    readonly jsonSchema: { readonly input: () => ObjectSchema; readonly output: () => ObjectSchema };
  };
}

/** The answers as messages: those of the tools, and one of the user that holds their images and documents. */
export type AiSdkMessage =
  | { role: "tool"; content: AiSdkToolResult[] }
  | { role: "user"; content: AiSdkContent[] };

export interface AiSdkToolResult {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "text" | "error-text"; value: string };
}

export type AiSdkContent =
  | { type: "text"; text: string }
  | { type: "image"; image: string; mediaType: string }
  | { type: "file"; data: string; mediaType: string; filename: string };

/** A call as `generateText` and `streamText` return it. */
export interface AiSdkCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/**
 * For loops around the AI SDK of Vercel (`ai`), with any of its providers. Call `generateText` once for each step.
 *
 * @example
 * const step = await generateText({ model, messages, tools: aiSdk.tools(toolbox) });
 * messages.push(...step.response.messages, ...(await aiSdk.results(toolbox, step.toolCalls, { signal })));
 */
export const aiSdk = {
  /** The tools for `tools` of a request. */
  tools(toolbox: ToolboxPart, filter?: ToolFilter): Record<string, AiSdkTool> {
    return Object.fromEntries(
      declaredTools(toolbox, filter).map(({ name, description, parameters }) => {
        return [name, { description, inputSchema: schemaOf(parameters) }];
      }),
    );
  },

  /** Runs the calls of one step. Returns the messages that follow the model's. */
  async results(
    toolbox: ToolboxPart,
    calls: readonly AiSdkCall[],
    options?: CallAllOptions,
  ): Promise<AiSdkMessage[]> {
    const requests = calls.map(({ toolCallId, toolName, input }) => callRequest(toolCallId, toolName, input));
    const answers = await answerAll(toolbox, requests, options);
    if (answers.length === 0) return [];
    const content = answers.flatMap(mediaContent);
    const said: AiSdkMessage = { role: "tool", content: answers.map(resultOf) };
    return content.length === 0 ? [said] : [said, { role: "user", content }];
  },
};

/** The toolbox checks the arguments, and tells the model what is wrong. */
function schemaOf(parameters: ObjectSchema): AiSdkSchema {
  const jsonSchema = { input: () => parameters, output: () => parameters };
  const validate = (value: unknown) => ({ value: value as Record<string, unknown> });
  return { "~standard": { version: 1, vendor: "burin", validate, jsonSchema } };
}

function resultOf(answer: Answered): AiSdkToolResult {
  const { call } = answer;
  const type = call.status === "success" ? "text" : "error-text";
  // Some providers send both types alike.
  const output = { type, value: markedText(answer) } as const;
  return { type: "tool-result", toolCallId: call.callId, toolName: call.name, output };
}

/** Not every provider takes files inside an answer; all take them from the user. */
function mediaContent({ call, media }: Answered): AiSdkContent[] {
  return media.flatMap((one): AiSdkContent[] => {
    const { mimeType: mediaType, data } = one;
    return [
      { type: "text", text: `${isImage(one) ? "Image" : "Document"} from ${call.name} (${call.callId}):` },
      isImage(one)
        ? { type: "image", image: data, mediaType }
        : { type: "file", data, mediaType, filename: "document.pdf" },
    ];
  });
}
