import Anthropic from "@anthropic-ai/sdk";
import { createToolbox } from "@burin/core";
import { anthropic } from "@burin/core/adapters";

/** A loop around the SDK of Anthropic. */
export async function ask(prompt: string, root: string, signal?: AbortSignal): Promise<string> {
  const { ANTHROPIC_MODEL: model = "" } = process.env;
  const options = signal ? { signal } : {};
  const toolbox = createToolbox({ root });
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: prompt }];
  try {
    for (;;) {
      const request = { model, max_tokens: 8000, messages, tools: anthropic.tools(toolbox) };
      const { content } = await new Anthropic().messages.stream(request, options).finalMessage();
      const results = await anthropic.results(toolbox, content, options);
      if (results.length === 0)
        return content.map((block) => (block.type === "text" ? block.text : "")).join("");
      messages.push({ role: "assistant", content }, { role: "user", content: results });
    }
  } finally {
    await toolbox.close();
  }
}
