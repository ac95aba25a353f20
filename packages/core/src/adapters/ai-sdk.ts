import type { ObjectSchema } from "@burin/contract/messages/message";
import type { CallAllOptions } from "../assembly/run-calls.ts";
import type { ToolFilter } from "../assembly/toolbox.ts";
import {
  type AdapterAnswer,
  answerAll,
  createCallRequest,
  formatAnswerText,
  isImage,
  listDeclarations,
  type ToolboxPart,
} from "./answers.ts";

/** A tool in the form of the AI SDK. It has no `execute`, because `results` runs all calls of a step together. */
export interface AiSdkTool {
  description: string;
  inputSchema: AiSdkSchema;
}

/** A Standard Schema that includes its JSON Schema. */
export interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "burin";
    readonly validate: (value: unknown) => { readonly value: Record<string, unknown> };
    readonly types?: { readonly input: Record<string, unknown>; readonly output: Record<string, unknown> };
    readonly jsonSchema: { readonly input: () => ObjectSchema; readonly output: () => ObjectSchema };
  };
}

/** The answers as messages: one with the tools' answers, and one in the user's role with their images and documents. */
export type AiSdkMessage =
  | { role: "tool"; content: AiSdkToolResult[] }
  | { role: "user"; content: AiSdkContent[] };

/** The answer to one call, inside a message of the tools. */
export interface AiSdkToolResult {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "text" | "error-text"; value: string };
}

/** Text, an image or a document inside a message of the user. */
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
 * Adapter for loops with Vercel's AI SDK (`ai`) and any of its providers. Call `generateText` once for each step.
 * @example
 * const step = await generateText({ model, messages, tools: aiSdk.tools(toolbox) });
 * messages.push(...step.response.messages, ...(await aiSdk.results(toolbox, step.toolCalls, { signal })));
 */
export const aiSdk = {
  /** Returns the tools for `tools` of a request. */
  tools(toolbox: ToolboxPart, filter?: ToolFilter): Record<string, AiSdkTool> {
    return Object.fromEntries(
      listDeclarations(toolbox, filter).map(({ name, description, parameters }) => {
        return [name, { description, inputSchema: wrapSchema(parameters) }];
      }),
    );
  },

  /** Runs the calls of one step. Returns the messages to append after the model's message. */
  async results(
    toolbox: ToolboxPart,
    calls: readonly AiSdkCall[],
    options?: CallAllOptions,
  ): Promise<AiSdkMessage[]> {
    const requests = calls.map(({ toolCallId, toolName, input }) =>
      createCallRequest(toolCallId, toolName, input),
    );
    const answers = await answerAll(toolbox, requests, options);
    if (answers.length === 0) return [];
    const content = answers.flatMap(buildMediaContent);
    const said: AiSdkMessage = { role: "tool", content: answers.map(formatResult) };
    return content.length === 0 ? [said] : [said, { role: "user", content }];
  },
};

/** The toolbox checks the arguments and tells the model what is wrong, so this schema accepts everything. */
function wrapSchema(parameters: ObjectSchema): AiSdkSchema {
  const jsonSchema = { input: () => parameters, output: () => parameters };
  const validate = (value: unknown) => ({ value: value as Record<string, unknown> });
  return { "~standard": { version: 1, vendor: "burin", validate, jsonSchema } };
}

function formatResult(answer: AdapterAnswer): AiSdkToolResult {
  const { call } = answer;
  const type = call.status === "success" ? "text" : "error-text";
  // Mark the error in the text too, because some providers send both types alike.
  const output = { type, value: formatAnswerText(answer) } as const;
  return { type: "tool-result", toolCallId: call.callId, toolName: call.name, output };
}

/** Returns the files of an answer as a user's content, because not every provider accepts files inside an answer. */
function buildMediaContent({ call, media }: AdapterAnswer): AiSdkContent[] {
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
