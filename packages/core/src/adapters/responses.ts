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

/** A tool as OpenAI's Responses API takes it. */
export interface ResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: ObjectSchema;
  strict: boolean;
}

/** The answers as input: one item for each call, and one of the user that holds their images and documents. */
export type ResponsesItem =
  | { type: "function_call_output"; call_id: string; output: string }
  | { type: "message"; role: "user"; content: ResponsesContent[] };

export type ResponsesContent =
  | { type: "input_text"; text: string }
  | { type: "input_image"; detail: "auto"; image_url: string }
  | { type: "input_file"; filename: string; file_data: string };

/**
 * For loops around OpenAI's Responses API.
 *
 * @example
 * input.push(...response.output, ...(await responses.results(toolbox, response.output, { signal })));
 */
export const responses = {
  /** The tools for `tools` of a request. */
  tools(toolbox: ToolboxPart, filter?: ToolFilter): ResponsesTool[] {
    return declaredTools(toolbox, filter).map(({ name, description, parameters }) => ({
      type: "function",
      name,
      description,
      parameters,
      strict: false,
    }));
  },

  /** Runs the `function_call` items of a response's output; other items are passed over. */
  async results(
    toolbox: ToolboxPart,
    output: readonly { readonly type?: string | undefined }[],
    options?: CallAllOptions,
  ): Promise<ResponsesItem[]> {
    const calls: readonly FunctionCallItem[] = output.filter(({ type }) => type === "function_call");
    const requests = calls.map(({ call_id, name, arguments: args }) => callRequest(call_id, name, args));
    const answers = await answerAll(toolbox, requests, options);
    const said = answers.map((one): ResponsesItem => {
      return { type: "function_call_output", call_id: one.call.callId, output: markedText(one) };
    });
    const content = answers.flatMap(mediaContent);
    return content.length === 0 ? said : [...said, { type: "message", role: "user", content }];
  },
};

interface FunctionCallItem {
  readonly type?: string | undefined;
  readonly call_id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
}

function mediaContent({ call, media }: Answered): ResponsesContent[] {
  return media.flatMap((one): ResponsesContent[] => [
    {
      type: "input_text",
      text: `${isImage(one) ? "Image" : "Document"} from ${call.name} (${call.callId}):`,
    },
    isImage(one)
      ? { type: "input_image", detail: "auto", image_url: dataUrl(one) }
      : { type: "input_file", filename: "document.pdf", file_data: dataUrl(one) },
  ]);
}
