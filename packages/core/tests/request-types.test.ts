import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createToolbox } from "@burin/core";
import { type Message, type ModelChoice, openModel } from "@burin/core/sessions";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const TOP = fileURLToPath(new URL("../../..", import.meta.url));
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** What the makers of each protocol say a body is, as the type of a constant. */
const TYPES: Readonly<Record<ModelChoice["provider"], string>> = {
  openai: 'import("openai/resources/chat/completions").ChatCompletionCreateParamsStreaming',
  "openai-responses": 'import("openai/resources/responses/responses").ResponseCreateParamsStreaming',
  // The newest models take no temperature any more, and its maker no longer writes it down.
  anthropic: `import("@anthropic-ai/sdk/resources/messages").MessageCreateParamsStreaming &
    { temperature?: number; top_p?: number }`,
  gemini: `{
    contents: import("@google/genai").Content[];
    systemInstruction?: import("@google/genai").Content;
    tools?: import("@google/genai").Tool[];
    generationConfig?: import("@google/genai").GenerationConfig;
  }`,
};

/** Everything that a history can hold: media, thoughts of each service, several calls, failures. */
function history(provider: ModelChoice["provider"]): Message[] {
  const image = { inlineData: { mimeType: "image/png", data: PIXEL } };
  return [
    {
      role: "user",
      parts: [{ text: "look" }, image, { inlineData: { mimeType: "application/pdf", data: "JVBERg==" } }],
    },
    {
      role: "model",
      parts: [
        { text: "hm", thought: true },
        { text: "", thought: true, thoughtSignature: SIGNATURES[provider] },
        { text: "I read both." },
        { functionCall: { id: "call00001", name: "read_file", args: { path: "a" } } },
        { functionCall: { id: "call00002", name: "read_file", args: { path: "b" } } },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { id: "call00001", name: "read_file", response: { output: "text" } } },
        image,
        { functionResponse: { id: "call00002", name: "read_file", response: { error: "not found" } } },
        { text: "and now?" },
      ],
    },
    { role: "model", parts: [{ text: "Done." }] },
    { role: "user", parts: [{ text: "thanks" }] },
  ];
}

const SIGNATURES: Readonly<Record<ModelChoice["provider"], string>> = {
  // Nobody but OpenRouter gives some to get them back, and its maker writes no types.
  openai: "",
  "openai-responses": `openai-responses:${JSON.stringify({ id: "rs_1", summary: [], encrypted_content: "x" })}`,
  anthropic: "anthropic:c2lnbmVk",
  gemini: "c2lnbmVk",
};

/** What a person may set, one after the other and all together. */
const TUNINGS: readonly ModelChoice["tuning"][] = [
  undefined,
  { reasoning: "high" },
  { reasoning: "off" },
  { reasoning: 6000, maxOutput: 20_000 },
  { temperature: 0.2, topP: 0.9, maxOutput: 1000, cache: "1h" },
  { cache: "off" },
  { cache: "24h", body: { metadata: null } },
];

/** The bodies of requests as they come to a service. */
async function bodiesOf(provider: ModelChoice["provider"]): Promise<unknown[]> {
  const bodies: unknown[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await json(request));
    response.writeHead(401).end("{}");
  });
  const baseUrl = `http://127.0.0.1:${await listenOnFreePort(server)}/v1`;
  const toolbox = createToolbox({ root: TOP });
  const tools = toolbox.registry.getFunctionDeclarations();
  for (const name of NAMES[provider]) {
    for (const tuning of TUNINGS) {
      const model = openModel({ provider, name, baseUrl, apiKey: "some-key", ...(tuning ? { tuning } : {}) });
      const request = { system: "You help.", history: history(provider), tools };
      for await (const event of model.stream(request, new AbortController().signal)) {
        if (event.type === "end" && event.reason !== "error") throw new Error("the server takes nothing");
      }
    }
  }
  await toolbox.close();
  server.close();
  return bodies;
}

/** Names on which the form of a body depends. */
const NAMES: Readonly<Record<ModelChoice["provider"], readonly string[]>> = {
  openai: ["some-model"],
  "openai-responses": ["some-model"],
  anthropic: ["claude-x"],
  gemini: ["gemini-2.5-x", "gemini-3-x"],
};

/** What the compiler says of them, each a literal, so that a field too many is an error as well. */
async function compiled(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = createTemporaryFolder();
  const modules = join(TOP, "node_modules");
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: "esnext",
    moduleResolution: "bundler",
    target: "es2023",
    types: ["node"],
    typeRoots: [join(modules, "@types")],
    paths: { "*": [`${modules}/*`] },
  };
  try {
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const tsc = join(modules, "typescript/bin/tsc");
    return spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" }).stdout;
  } finally {
  }
}

function source(type: string, bodies: readonly unknown[]): string {
  // Enumerations of @google/genai are nominal, and their values are what travels.
  const lines = bodies.map(
    (body, index) => `export const body${index}: Wire<T> = ${JSON.stringify(body, null, 1)};`,
  );
  const wire = `type Wire<T> = T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;`;
  return `type T = ${type};\n${wire}\n${lines.join("\n")}\n`;
}

const PROVIDERS = Object.keys(TYPES) as ModelChoice["provider"][];

describe("request bodies", () => {
  const found = new Map<string, unknown[]>();
  let said = "";

  beforeAll(async () => {
    const files: Record<string, string> = {};
    for (const provider of PROVIDERS) {
      const bodies = await bodiesOf(provider);
      found.set(provider, bodies);
      files[`${provider}.ts`] = source(TYPES[provider], bodies);
      const spoilt = { ...(bodies[0] as object), no_such_field: 1 };
      files[`${provider}-spoilt.ts`] = source(TYPES[provider], [spoilt]);
    }
    said = await compiled(files);
  }, 120_000);

  afterAll(() => found.clear());

  it.each(PROVIDERS)("P36 of %s fit the types of the protocol's own maker", (provider) => {
    expect(found.get(provider)).toHaveLength(TUNINGS.length * NAMES[provider].length);
    const faults = said.split(/\n(?! )/).filter((line) => line.includes(`${provider}.ts`));
    expect(faults).toEqual([]);
  });

  it.each(PROVIDERS)("a field that %s does not have is found so", (provider) => {
    expect(said).toMatch(new RegExp(`${provider}-spoilt\\.ts.*no_such_field`));
  });
});
