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

/** A tool in the form of OpenAI's Responses API. */
export interface ResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: ObjectSchema;
  strict: boolean;
}

/** The answers as input items: one for each call, and one in the user's role with their images and documents. */
export type ResponsesItem =
  | { type: "function_call_output"; call_id: string; output: string }
  | { type: "message"; role: "user"; content: ResponsesContent[] };

/** Text, an image or a document inside a message of the user. */
export type ResponsesContent =
  | { type: "input_text"; text: string }
  | { type: "input_image"; detail: "auto"; image_url: string }
  | { type: "input_file"; filename: string; file_data: string };

/**
 * Adapter for loops that use OpenAI's Responses API.
 * @example
 * input.push(...response.output, ...(await responses.results(toolbox, response.output, { signal })));
 */
export const responses = {
  /** Returns the tools for `tools` of a request. */
  tools(toolbox: ToolboxPart, filter?: ToolFilter): ResponsesTool[] {
    return listDeclarations(toolbox, filter).map(({ name, description, parameters }) => ({
      type: "function",
      name,
      description,
      parameters,
      strict: false,
    }));
  },

  /** Runs the `function_call` items of a response's output and ignores other items. */
  async results(
    toolbox: ToolboxPart,
    output: readonly { readonly type?: string | undefined }[],
    options?: CallAllOptions,
  ): Promise<ResponsesItem[]> {
    const calls: readonly FunctionCallItem[] = output.filter(({ type }) => type === "function_call");
    const requests = calls.map(({ call_id, name, arguments: args }) =>
      createCallRequest(call_id, name, args),
    );
    const answers = await answerAll(toolbox, requests, options);
    const said = answers.map((one): ResponsesItem => {
      return { type: "function_call_output", call_id: one.call.callId, output: formatAnswerText(one) };
    });
    const content = answers.flatMap(buildMediaContent);
    return content.length === 0 ? said : [...said, { type: "message", role: "user", content }];
  },
};

interface FunctionCallItem {
  readonly type?: string | undefined;
  readonly call_id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
}

function buildMediaContent({ call, media }: AdapterAnswer): ResponsesContent[] {
  return media.flatMap((one): ResponsesContent[] => [
    {
      type: "input_text",
      text: `${isImage(one) ? "Image" : "Document"} from ${call.name} (${call.callId}):`,
    },
    isImage(one)
      ? { type: "input_image", detail: "auto", image_url: buildDataUrl(one) }
      : { type: "input_file", filename: "document.pdf", file_data: buildDataUrl(one) },
  ]);
}
