import { createToolbox } from "@burin/core";
import { openai } from "@burin/core/adapters";
import OpenAI from "openai";

/** A loop around the SDK of OpenAI. */
export async function ask(prompt: string, root: string, signal?: AbortSignal): Promise<string> {
  const { OPENAI_MODEL: model = "" } = process.env;
  const options = signal ? { signal } : {};
  const toolbox = createToolbox({ root });
  const messages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = [{ role: "user", content: prompt }];
  try {
    for (;;) {
      const request = { model, messages, tools: openai.tools(toolbox) };
      const { choices } = await new OpenAI().chat.completions.create(request, options);
      const message = choices[0]?.message;
      if (!message?.tool_calls) return message?.content ?? "";
      messages.push(message, ...(await openai.results(toolbox, message.tool_calls, options)));
    }
  } finally {
    await toolbox.close();
  }
}
