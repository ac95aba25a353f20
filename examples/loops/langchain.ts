import { createToolbox } from "@burin/core";
import { langchain } from "@burin/core/adapters";
import type { BaseMessageLike } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

/** A loop around a chat model of LangChain. */
export async function ask(prompt: string, root: string, signal?: AbortSignal): Promise<string> {
  const options = signal ? { signal } : {};
  const { OPENAI_BASE_URL: baseURL, OPENAI_MODEL: model = "" } = process.env;
  const chat = new ChatOpenAI({ model, configuration: { baseURL } });
  const toolbox = createToolbox({ root });
  const messages: BaseMessageLike[] = [{ role: "user", content: prompt }];
  try {
    for (;;) {
      const reply = await chat.bindTools(langchain.tools(toolbox)).invoke(messages, options);
      const results = await langchain.results(toolbox, reply.tool_calls ?? [], options);
      if (results.length === 0) return reply.text;
      messages.push(reply, ...results);
    }
  } finally {
    await toolbox.close();
  }
}
