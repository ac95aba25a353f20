import type { ChatModel } from "@burin/contract/chat-model";
import type { AskModel } from "@burin/mcp/client-requests";

/** Answers MCP servers that may ask the model; they get no tools and nothing of the session. */
export function samplingOf(model: ChatModel): AskModel {
  return async ({ system = "", messages }, signal) => {
    const history = messages.map(({ role, text }) => ({
      role: role === "user" ? ("user" as const) : ("model" as const),
      parts: [{ text }],
    }));
    let text = "";
    for await (const event of model.stream({ system, history, tools: [] }, signal)) {
      if (event.type === "text") text += event.text;
      if (event.type === "end" && event.reason === "error") throw new Error(event.error.message);
    }
    return { model: model.name, text };
  };
}
