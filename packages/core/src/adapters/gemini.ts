import type { ObjectSchema, Part } from "@burin/contract/messages/message";
import type { CallAllOptions } from "../assembly/run-calls.ts";
import type { ToolFilter } from "../assembly/toolbox.ts";
import {
  type AdapterAnswer,
  answerAll,
  createCallRequest,
  listDeclarations,
  type ToolboxPart,
} from "./answers.ts";

/** All tools as one entry of Gemini's `config.tools`. */
export interface GeminiTool {
  functionDeclarations: { name: string; description: string; parametersJsonSchema?: ObjectSchema }[];
}

/** A call as Gemini returns it. */
export interface GeminiCall {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly args?: Record<string, unknown> | undefined;
}

/**
 * Adapter for loops that use Gemini (`@google/genai`).
 * @example
 * const config = { tools: gemini.tools(toolbox) };
 * const parts = await gemini.results(toolbox, response.functionCalls ?? [], { signal });
 * contents.push({ role: "user", parts });
 */
export const gemini = {
  /** Returns the tools for `config.tools` of a request. */
  tools(toolbox: ToolboxPart, filter?: ToolFilter): GeminiTool[] {
    const declared = listDeclarations(toolbox, filter, "plain").map(({ name, description, parameters }) => {
      // The service rejects an object schema without properties.
      const hasParameters = Object.keys(parameters.properties ?? {}).length > 0;
      return { name, description, ...(hasParameters ? { parametersJsonSchema: parameters } : {}) };
    });
    return [{ functionDeclarations: declared }];
  },

  /** Runs the function calls of a reply. Returns the parts of the next user message; an answer's files follow it. */
  async results(
    toolbox: ToolboxPart,
    calls: readonly GeminiCall[],
    options?: CallAllOptions,
  ): Promise<Part[]> {
    const requests = calls.map(({ id, name, args }) => createCallRequest(id, name, args));
    const answers = await answerAll(toolbox, requests, options);
    return answers.flatMap((one, index) => buildResponseParts(one, calls[index]?.id));
  },
};

/** Converts one answer. Some models send calls without an id, so their answers must have none either. */
function buildResponseParts({ call, text, media }: AdapterAnswer, id: string | undefined): Part[] {
  const response = call.status === "success" ? { output: text } : { error: text };
  const answer = { ...(id === undefined ? {} : { id }), name: call.name, response };
  return [{ functionResponse: answer }, ...media.map((inlineData) => ({ inlineData: { ...inlineData } }))];
}
