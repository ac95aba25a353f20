import { findLocalServers } from "@burin/core";

/** Says exactly what to set, with a server that already listens on this machine where there is one. */
export async function howToConnect(): Promise<string> {
  const servers = await findLocalServers(AbortSignal.timeout(1000));
  const found = servers.map(({ name, baseUrl, models }) => {
    const model = models[0] ?? "<model>";
    return `  ${name} listens here: export OPENAI_BASE_URL=${baseUrl} OPENAI_MODEL=${model}`;
  });
  return [
    "no model is configured. Name one in the environment (or as model.* in ~/.burin/settings.json):",
    ...found,
    "  a service with a key:  export OPENAI_API_KEY=<key> OPENAI_MODEL=<model>",
    "  any other service:     export OPENAI_BASE_URL=http://<host>/v1 OPENAI_MODEL=<model>",
    "  Anthropic:             export ANTHROPIC_API_KEY=<key> ANTHROPIC_MODEL=<model>",
    "  Gemini:                export GEMINI_API_KEY=<key> GEMINI_MODEL=<model>",
  ].join("\n");
}
