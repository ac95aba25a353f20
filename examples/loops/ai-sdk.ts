import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createToolbox } from "@burin/core";
import { aiSdk } from "@burin/core/adapters";
import { generateText, type ModelMessage } from "ai";

/** A loop around the AI SDK of Vercel. */
export async function ask(prompt: string, root: string, signal?: AbortSignal): Promise<string> {
  const { OPENAI_BASE_URL = "", OPENAI_API_KEY = "", OPENAI_MODEL = "" } = process.env;
  const service = createOpenAICompatible({
    name: "service",
    baseURL: OPENAI_BASE_URL,
    apiKey: OPENAI_API_KEY,
  });
  const model = service(OPENAI_MODEL);
  const toolbox = createToolbox({ root });
  const messages: ModelMessage[] = [{ role: "user", content: prompt }];
  try {
    for (;;) {
      const tools = aiSdk.tools(toolbox);
      const step = await generateText({ model, messages, tools, ...(signal ? { abortSignal: signal } : {}) });
      const results = await aiSdk.results(toolbox, step.toolCalls, signal ? { signal } : {});
      if (results.length === 0) return step.text;
      messages.push(...step.response.messages, ...results);
    }
  } finally {
    await toolbox.close();
  }
}
