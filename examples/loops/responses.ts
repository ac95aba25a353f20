import { createToolbox } from "@burin/core";
import { responses } from "@burin/core/adapters";
import OpenAI from "openai";

/** A loop around OpenAI's Responses API. */
export async function ask(prompt: string, root: string, signal?: AbortSignal): Promise<string> {
  const { OPENAI_MODEL: model = "" } = process.env;
  const options = signal ? { signal } : {};
  const toolbox = createToolbox({ root });
  const input: OpenAI.Responses.ResponseInputItem[] = [
    { type: "message", role: "user", content: [{ type: "input_text", text: prompt }] },
  ];
  try {
    for (;;) {
      const request = { model, input, tools: responses.tools(toolbox), store: false, stream: true as const };
      let reply: OpenAI.Responses.Response | undefined;
      for await (const event of await new OpenAI().responses.create(request, options))
        if (event.type === "response.completed") reply = event.response;
      if (reply === undefined) throw new Error("The reply was cut off.");
      const results = await responses.results(toolbox, reply.output, options);
      if (results.length === 0) return textOf(reply.output);
      for (const item of reply.output)
        if (item.type === "message" || item.type === "function_call" || item.type === "reasoning")
          input.push(item);
      input.push(...results);
    }
  } finally {
    await toolbox.close();
  }
}

function textOf(output: readonly OpenAI.Responses.ResponseOutputItem[]): string {
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return parts.map((part) => (part.type === "output_text" ? part.text : "")).join("");
}
