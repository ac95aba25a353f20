import { generateKeyPairSync, verify } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";
import { json, text } from "node:stream/consumers";
import { excludeFromHelperSearch } from "@burin/commands/processes/helper-program";
import type { ModelEvent } from "@burin/contract/chat-model";
import type { ModelEntry, ModelSettings } from "@burin/contract/settings/settings";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { closeServers, raw, readAll, serve } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { chooseModel, describeMissing } from "../src/choice/choose-model.ts";
import { openConfiguredModel } from "../src/choice/configured-model.ts";

afterEach(closeServers);

interface Asked {
  readonly model?: ModelSettings;
  readonly models?: Record<string, ModelEntry>;
  readonly environment?: NodeJS.ProcessEnv;
  readonly name?: string;
}

function ask({ model = {}, models = {}, environment = {}, name }: Asked): Promise<ModelEvent[]> {
  return readAll(openConfiguredModel({ model, models }, environment, name));
}

describe("models with names of the person's own", () => {
  it("are asked at their own service, with their own key, header and body", async () => {
    const server = await serve({ text: "ok" });
    const fast: ModelEntry = {
      provider: "anthropic",
      baseUrl: server.baseUrl,
      model: "claude-x",
      key: "TEAM_KEY",
      bearer: true,
      headers: { "x-team": "a" },
      maxOutput: 900,
      temperature: 0.5,
    };
    const environment = { TEAM_KEY: "team-secret", ANTHROPIC_API_KEY: "another" };
    await ask({ model: { name: "fast", baseUrl: "http://main.invalid" }, models: { fast }, environment });
    expect(server.requests[0]?.headers).toMatchObject({ authorization: "Bearer team-secret", "x-team": "a" });
    expect(server.requests[0]?.body).toMatchObject({ model: "claude-x", max_tokens: 900, temperature: 0.5 });
  });

  it("P36 P12 are asked as their entry says: thinking, sampling, cache, further fields, images, tools and price", async () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
    const server = await serve({ text: "ok", usage });
    const entry: ModelEntry = {
      provider: "anthropic",
      baseUrl: server.baseUrl,
      reasoning: 2048,
      topP: 0.9,
      cache: "1h",
      body: { metadata: { user_id: "u" } },
      images: false,
      tools: false,
      price: { input: 1, output: 2 },
    };
    const model = openConfiguredModel({ model: { name: "own" }, models: { own: entry } }, {});
    const image = { inlineData: { mimeType: "image/png", data: "aW1hZ2U=" } };
    const history = [{ role: "user" as const, parts: [{ text: "go" }, image] }];
    const tool = { name: "look", description: "d", parameters: { type: "object" as const, properties: {} } };
    const events = await readAll(model, { history, tools: [tool] });
    const body = server.requests[0]?.body ?? {};
    expect(body).toMatchObject({ thinking: { budget_tokens: 2048 }, metadata: { user_id: "u" } });
    expect(body).not.toHaveProperty("tools");
    expect(JSON.stringify(body)).toContain('"ttl":"1h"');
    expect(JSON.stringify(body)).toContain("image/png cannot be seen by this model");
    expect(events).toContainEqual({ type: "usage", usage: expect.objectContaining({ cost: 3 }) });
  });

  it("name the organization and the project that pay, where an entry does", async () => {
    const server = await serve({ text: "ok" });
    const paid = { baseUrl: server.baseUrl, model: "m", organization: "org-1", project: "proj-2" };
    await ask({ model: { name: "paid" }, models: { paid } });
    expect(server.requests[0]?.headers).toMatchObject({
      "openai-organization": "org-1",
      "openai-project": "proj-2",
    });
  });

  it("have a key that a command prints or a file holds", async () => {
    const folder = createTemporaryFolder();
    try {
      const file = join(folder, "key");
      await writeFile(file, "key-of-a-file\n");
      const server = await serve({ text: "one" }, { text: "two" });
      const at = { baseUrl: server.baseUrl, model: "m" };
      const models = {
        filed: { ...at, key: { file } },
        told: { ...at, key: { command: `"${process.execPath}" -p "'key-of-'+'a-command'"` } },
      };
      await ask({ model: { name: "filed" }, models });
      await ask({ model: { name: "told" }, models });
      const keys = server.requests.map(({ headers }) => headers.authorization);
      expect(keys).toEqual(["Bearer key-of-a-file", "Bearer key-of-a-command"]);
    } finally {
    }
  });

  it("P21 have a key of a command that is no program of the project", async () => {
    const [project, own] = [createTemporaryFolder(), createTemporaryFolder()];
    for (const [folder, key] of [[project, "planted"] as const, [own, "own"] as const]) {
      await writeFile(join(folder, "print-key"), `#!/bin/sh\necho ${key}\n`, { mode: 0o755 });
    }
    excludeFromHelperSearch([project]);
    const PATH = [project, own, process.env.PATH].join(delimiter);
    const server = await serve({ text: "one" });
    const entry = { baseUrl: server.baseUrl, model: "m", key: { command: "print-key" } };
    await ask({ model: { name: "told" }, models: { told: entry }, environment: { PATH } });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer own"]);
  });

  it("P21 have the key that a command prints in their own environment, not in that of another session", async () => {
    const server = await serve({ text: "one" }, { text: "two" });
    const command = `"${process.execPath}" -p process.env.ACCOUNT`;
    const entry = { baseUrl: server.baseUrl, model: "m", key: { command } };
    for (const ACCOUNT of ["first", "second"])
      await ask({ model: { name: "told" }, models: { told: entry }, environment: { ACCOUNT } });
    const keys = server.requests.map(({ headers }) => headers.authorization);
    expect(keys).toEqual(["Bearer first", "Bearer second"]);
  });

  it("say why their key cannot be had, and ask nobody", async () => {
    const server = await serve();
    const key = { command: `"${process.execPath}" -e "console.error('vault is locked');process.exit(3)"` };
    const events = await ask({ model: { name: "x" }, models: { x: { baseUrl: server.baseUrl, key } } });
    expect(events.at(-1)).toMatchObject({ error: { type: "unauthorized" } });
    expect(JSON.stringify(events)).toContain("vault is locked");
    expect(server.requests).toEqual([]);
  });

  it("serve as fallbacks and for roles, by the same names", async () => {
    const broken = await serve(raw('{"error":{"message":"no"}}', { status: 400, type: "application/json" }));
    const good = await serve({ text: "ok" }, { text: "small" });
    const models = { spare: { baseUrl: good.baseUrl, model: "spare-model" } };
    const model = { name: "m", baseUrl: broken.baseUrl, fallbacks: ["spare"] };
    const events = await ask({ model, models });
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
    await ask({ model: { name: "m", baseUrl: broken.baseUrl }, models, name: "spare" });
    expect(good.requests.map(({ body }) => body.model)).toEqual(["spare-model", "spare-model"]);
  });

  it("are asked as often as they say", async () => {
    const busy = raw("{}", { status: 503, type: "application/json" });
    const server = await serve(busy, busy);
    const models = { x: { baseUrl: server.baseUrl, model: "m", retries: 0 } };
    await ask({ model: { name: "x" }, models });
    expect(server.requests).toHaveLength(1);
  });

  it("say their window", () => {
    const models = { x: { baseUrl: "http://l/v1", window: 77_000 } };
    expect(openConfiguredModel({ model: { name: "x" }, models }, {})?.contextWindow).toBe(77_000);
  });
});

describe("services by their usual environment", () => {
  it.each<[string, NodeJS.ProcessEnv, ModelSettings, object]>([
    [
      "Gemini by GOOGLE_API_KEY",
      { GOOGLE_API_KEY: "g" },
      {},
      { provider: "gemini", apiKey: "g", name: "gemini-flash-latest", isGeneral: true },
    ],
    [
      "a gateway for Claude by ANTHROPIC_AUTH_TOKEN",
      { ANTHROPIC_AUTH_TOKEN: "t", ANTHROPIC_BASE_URL: "http://g", ANTHROPIC_MODEL: "c" },
      {},
      { provider: "anthropic", apiKey: "t", keyHeader: "authorization", baseUrl: "http://g" },
    ],
    [
      "Azure with an API version",
      {
        AZURE_OPENAI_API_KEY: "a",
        AZURE_OPENAI_ENDPOINT: "https://x.openai.azure.com/",
        OPENAI_API_VERSION: "2026-01-01",
      },
      { name: "azure/mine" },
      {
        name: "mine",
        keyHeader: "api-key",
        baseUrl: "https://x.openai.azure.com/openai/deployments/mine?api-version=2026-01-01",
      },
    ],
    [
      "Azure without one",
      {
        AZURE_OPENAI_API_KEY: "a",
        AZURE_OPENAI_ENDPOINT: "https://x.openai.azure.com",
        AZURE_OPENAI_DEPLOYMENT: "d",
      },
      {},
      { name: "d", baseUrl: "https://x.openai.azure.com/openai/v1", keyHeader: "api-key" },
    ],
    [
      "Bedrock by a bearer token",
      { AWS_BEARER_TOKEN_BEDROCK: "b", AWS_REGION: "eu-west-1" },
      { name: "bedrock/openai.gpt-oss-120b-1:0" },
      {
        provider: "openai",
        apiKey: "b",
        name: "openai.gpt-oss-120b-1:0",
        baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1",
      },
    ],
    [
      "Gemini on Vertex",
      { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "europe-west4", GOOGLE_VERTEX_TOKEN: "v" },
      { name: "vertex/gemini-x" },
      {
        provider: "gemini",
        apiKey: "v",
        keyHeader: "authorization",
        baseUrl:
          "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google",
      },
    ],
    [
      "OpenRouter, whose models have makers",
      { OPENROUTER_API_KEY: "o" },
      { name: "openrouter/anthropic/claude-x" },
      {
        provider: "openai",
        name: "anthropic/claude-x",
        apiKey: "o",
        baseUrl: "https://openrouter.ai/api/v1",
      },
    ],
    [
      "OpenRouter by its name in the settings",
      { OPENROUTER_API_KEY: "o", ANTHROPIC_API_KEY: "a" },
      { provider: "openrouter", name: "anthropic/claude-x" },
      { name: "anthropic/claude-x", apiKey: "o" },
    ],
  ])("%s", (...[, environment, model, wanted]) => {
    expect(chooseModel({ model }, environment)).toMatchObject(wanted);
  });

  it.each([
    ["openrouter", "OPENROUTER_API_KEY", "anthropic/claude-sonnet-5"],
    ["groq", "GROQ_API_KEY", "openai/gpt-oss-120b"],
    ["mistral", "MISTRAL_API_KEY", "mistral-medium-latest"],
    ["deepseek", "DEEPSEEK_API_KEY", "deepseek-v4-pro"],
    ["xai", "XAI_API_KEY", "grok-4.7"],
    ["moonshot", "MOONSHOT_API_KEY", "kimi-k3"],
    ["dashscope", "DASHSCOPE_API_KEY", "qwen-plus"],
    ["bedrock", "AWS_BEARER_TOKEN_BEDROCK", "openai.gpt-oss-120b-1:0"],
  ])("P54 %s is asked for its general model where only %s is set: %s", (service, variable, name) => {
    const environment = { [variable]: "k", ...(service === "bedrock" ? { AWS_REGION: "us-east-1" } : {}) };
    const choice = chooseModel({ model: {} }, environment);
    expect(choice).toMatchObject({ service, name, apiKey: "k", isGeneral: true });
    const other = chooseModel({ model: { name: `${service}/other` } }, environment);
    expect(other).toMatchObject({ service, name: "other", isGeneral: false });
  });

  it("Claude on Vertex is asked by a path and a version of its own", async () => {
    const seen: { url: string | undefined; body: unknown }[] = [];
    const server = createServer(async (request, response) => {
      seen.push({ url: request.url, body: await json(request) });
      response.writeHead(401).end("{}");
    });
    const port = await listenOnFreePort(server);
    const environment = {
      GOOGLE_CLOUD_PROJECT: "p",
      GOOGLE_VERTEX_TOKEN: "v",
      VERTEX_BASE_URL: `http://127.0.0.1:${port}`,
    };
    await ask({ model: { name: "vertex/claude-x" }, environment });
    server.close();
    const path = "/v1/projects/p/locations/global/publishers/anthropic/models/claude-x:streamRawPredict";
    expect(seen).toMatchObject([{ url: path, body: { anthropic_version: "vertex-2023-10-16" } }]);
    expect(seen[0]?.body).not.toHaveProperty("model");
  });

  it("P54 Vertex is asked with a token for the login of gcloud, got once and anew when it is refused", async () => {
    const folder = createTemporaryFolder();
    const tokens: string[] = [];
    const asked: (string | undefined)[] = [];
    const server = createServer(async (request, response) => {
      const body = await text(request);
      response.setHeader("content-type", "application/json");
      if (request.url === "/token") {
        tokens.push(body);
        response.end(JSON.stringify({ access_token: `token-${tokens.length}`, expires_in: 3600 }));
        return;
      }
      asked.push(request.headers.authorization);
      const isRefused = request.headers.authorization === "Bearer token-1" && asked.length > 1;
      const part = { candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }] };
      response.statusCode = isRefused ? 401 : 200;
      response.end(JSON.stringify(isRefused ? { error: { status: "UNAUTHENTICATED" } } : part));
    });
    const port = await listenOnFreePort(server);
    const login = {
      type: "authorized_user",
      client_id: "id",
      client_secret: "secret",
      refresh_token: "refresh",
      token_uri: `http://127.0.0.1:${port}/token`,
    };
    await writeFile(join(folder, "application_default_credentials.json"), JSON.stringify(login));
    const environment = {
      GOOGLE_CLOUD_PROJECT: "p",
      CLOUDSDK_CONFIG: folder,
      VERTEX_BASE_URL: `http://127.0.0.1:${port}`,
    };
    for (let time = 0; time < 2; time += 1) {
      const events = await ask({ model: { name: "vertex/gemini-x" }, environment });
      expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
    }
    server.close();
    expect(asked).toEqual(["Bearer token-1", "Bearer token-1", "Bearer token-2"]);
    expect(tokens).toEqual(
      Array(2).fill("grant_type=refresh_token&client_id=id&client_secret=secret&refresh_token=refresh"),
    );
  });

  it("P54 Vertex is asked with a token for the service account that the environment names", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    let told: Record<string, unknown> = {};
    const server = createServer(async (request, response) => {
      const body = await text(request);
      const signed = new URLSearchParams(body).get("assertion") ?? "";
      const [head = "", claims = "", signature = ""] = signed.split(".");
      const isSound = verify(
        "sha256",
        Buffer.from(`${head}.${claims}`),
        publicKey,
        Buffer.from(signature, "base64url"),
      );
      told = { isSound, ...JSON.parse(Buffer.from(claims, "base64url").toString()) };
      response.end('{"access_token":"token"}');
    });
    const token_uri = `http://127.0.0.1:${await listenOnFreePort(server)}/token`;
    const private_key = privateKey.export({ type: "pkcs8", format: "pem" });
    const account = { type: "service_account", client_email: "a@p.example", private_key, token_uri };
    const file = join(createTemporaryFolder(), "key.json");
    await writeFile(file, JSON.stringify(account));
    const model = await serve();
    const place = { GOOGLE_APPLICATION_CREDENTIALS: file, VERTEX_BASE_URL: new URL(model.baseUrl).origin };
    await ask({ model: { name: "vertex/gemini-x" }, environment: { GOOGLE_CLOUD_PROJECT: "p", ...place } });
    server.close();
    expect(told).toMatchObject({ isSound: true, iss: "a@p.example", aud: token_uri });
    expect(Number(told.exp) - Number(told.iat)).toBe(3600);
  });

  it("P44 credentials of Google of another kind are not sent; the error names the kind and what works", async () => {
    const file = join(createTemporaryFolder(), "key.json");
    await writeFile(file, JSON.stringify({ type: "external_account", token_url: "https://sts.invalid" }));
    const environment = { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_APPLICATION_CREDENTIALS: file };
    const [end] = await ask({ model: { name: "vertex/gemini-x" }, environment });
    expect(JSON.stringify(end)).toMatch(/external_account cannot be used: set GOOGLE_VERTEX_TOKEN/);
  });

  it.each<[NodeJS.ProcessEnv, ModelSettings, RegExp]>([
    [{}, { name: "anthropic/x" }, /ANTHROPIC_API_KEY is not set/],
    [{ OPENAI_BASE_URL: "http://l/v1" }, {}, /OPENAI_MODEL is not set/],
    [
      { AZURE_OPENAI_API_KEY: "a", AZURE_OPENAI_ENDPOINT: "https://x" },
      {},
      /AZURE_OPENAI_DEPLOYMENT is not set/,
    ],
    [{}, { name: "azure/x" }, /AZURE_OPENAI_ENDPOINT is not set/],
    [{}, { name: "vertex/x" }, /GOOGLE_CLOUD_PROJECT is not set/],
  ])("what is missing is named: %j %j", (environment, model, wanted) => {
    expect(chooseModel({ model }, environment)).toBeNull();
    expect(describeMissing({ model }, environment)).toMatch(wanted);
  });
});
