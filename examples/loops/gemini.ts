import { createToolbox } from "@burin/core";
import { gemini } from "@burin/core/adapters";
import { type Content, GoogleGenAI } from "@google/genai";

/** A loop around the SDK of Gemini. */
export async function ask(prompt: string, root: string, signal?: AbortSignal): Promise<string> {
  const {
    GEMINI_BASE_URL: baseUrl = "",
    GEMINI_API_KEY: apiKey = "",
    GEMINI_MODEL: model = "",
  } = process.env;
  const client = new GoogleGenAI({ apiKey, ...(baseUrl ? { httpOptions: { baseUrl } } : {}) });
  const toolbox = createToolbox({ root });
  const contents: Content[] = [{ role: "user", parts: [{ text: prompt }] }];
  try {
    for (;;) {
      const config = { tools: gemini.tools(toolbox), ...(signal ? { abortSignal: signal } : {}) };
      const replied: NonNullable<Content["parts"]> = [];
      for await (const chunk of await client.models.generateContentStream({ model, contents, config }))
        replied.push(...(chunk.candidates?.[0]?.content?.parts?.filter(({ text }) => text !== "") ?? []));
      const calls = replied.flatMap(({ functionCall }) => functionCall ?? []);
      if (calls.length === 0) return replied.map(({ text = "" }) => text).join("");
      const parts = await gemini.results(toolbox, calls, signal ? { signal } : {});
      contents.push({ role: "model", parts: replied }, { role: "user", parts });
    }
  } finally {
    await toolbox.close();
  }
}
