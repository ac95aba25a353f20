import { describeMissing, findLocalServers, type Settings } from "@burin/core/internal";

/** Says what to set to connect a model. Names a server that is already listening on this machine, if any. */
export async function explainConnection(settings?: Settings): Promise<string> {
  const servers = await findLocalServers(AbortSignal.timeout(1000));
  const found = servers.map(({ name, baseUrl, models }) => {
    const model = models[0] ?? "<model>";
    return `  ${name} listens here: export OPENAI_BASE_URL=${baseUrl} OPENAI_MODEL=${model}`;
  });
  const missing = settings && describeMissing(settings, process.env);
  if (missing) return [`no model can be asked: ${missing}`, ...found].join("\n");
  return [
    "no model is configured. Name one in the environment (or as model.* in ~/.burin/settings.json):",
    ...found,
    "  a service with a key:  export OPENAI_API_KEY=<key>, and OPENAI_MODEL=<model> for one of your choice",
    "  any other service:     export OPENAI_BASE_URL=http://<host>/v1 OPENAI_MODEL=<model>",
    "  Anthropic:             export ANTHROPIC_API_KEY=<key>",
    "  Gemini:                export GEMINI_API_KEY=<key>",
  ].join("\n");
}
