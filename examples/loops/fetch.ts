import { createToolbox } from "@burin/core";
import { type OpenAIMessage, type OpenAIToolCall, openai } from "@burin/core/adapters";

interface Reply {
  choices: [{ message: { role: "assistant"; content: string | null; tool_calls?: OpenAIToolCall[] } }];
}

/** A loop around any service that speaks chat completions, with nothing but fetch. */
export async function ask(prompt: string, root: string, signal?: AbortSignal): Promise<string> {
  const { OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL } = process.env;
  const toolbox = createToolbox({ root });
  const messages: (OpenAIMessage | Reply["choices"][0]["message"] | { role: "user"; content: string })[] = [
    { role: "user", content: prompt },
  ];
  try {
    for (;;) {
      const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${OPENAI_API_KEY}` },
        body: JSON.stringify({ model: OPENAI_MODEL, messages, tools: openai.tools(toolbox) }),
        signal: signal ?? null,
      });
      const [{ message }] = ((await response.json()) as Reply).choices;
      if (!message.tool_calls) return message.content ?? "";
      messages.push(
        message,
        ...(await openai.results(toolbox, message.tool_calls, signal ? { signal } : {})),
      );
    }
  } finally {
    await toolbox.close();
  }
}
