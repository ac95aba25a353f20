import { createServer } from "node:http";
import type { FakeReply } from "@burin/core/testing";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";

async function serve(...replies: FakeReply[]) {
  await modelEnv(...replies);
  return server;
}

const settings = (value: object) => put(".home/settings.json", value);

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  burin(args, { cwd: root, env });

describe("burin models", () => {
  it("lists the main model and those of the settings, and with --online what their service offers", async () => {
    const { baseUrl } = await serve();
    settings({
      model: { name: "main" },
      models: {
        main: { baseUrl, model: "fake-model", window: 64_000, price: { input: 1, output: 2 } },
        other: { baseUrl, model: "gone" },
      },
    });
    const { code, stdout } = await run(["models", "--online"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\* fake-model .*64000 tokens; \$1 in, \$2 out per million; listed there$/m);
    expect(stdout).toMatch(/^ {2}other .*gone; .*NOT listed there$/m);
    const { models } = JSON.parse((await run(["models", "--json"])).stdout);
    expect(models.slice(0, 3)).toMatchObject([
      { isMain: true },
      { name: "main" },
      { name: "other", model: "gone" },
    ]);
  });

  it("P36 a model that its service lists with its maker or a tag is listed there", async () => {
    const names = ["qwen/qwen3-coder", "llama3:latest"];
    const service = createServer((_request, response) => {
      response.end(JSON.stringify({ data: names.map((id) => ({ id })) }));
    });
    const baseUrl = `http://127.0.0.1:${await listenOnFreePort(service)}/v1`;
    settings({ models: { coder: { baseUrl, model: "qwen3-coder" }, llama: { baseUrl, model: "llama3" } } });
    const { stdout } = await run(["models", "--online"]);
    service.close();
    expect(stdout).toMatch(/^ {2}coder .*; listed there$/m);
    expect(stdout).toMatch(/^ {2}llama .*; listed there$/m);
  });

  it("calls a missing key of model.small a mistake in the settings", async () => {
    const { baseUrl } = await serve();
    settings({
      model: { name: "main", baseUrl, small: "fast" },
      models: { fast: { provider: "openrouter", model: "maker/some-model" } },
    });
    const { code, stderr } = await run(["-p", "hello"]);
    expect(stderr).toContain('No service is configured for the model "fast"');
    expect(stderr).not.toContain("should not have happened");
    expect(code).toBe(2);
  });

  it("says what is missing where the main one cannot be asked", async () => {
    const { stderr } = await run(["models"], { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" });
    expect(stderr).toContain("OPENAI_MODEL is not set");
  });
});

describe("a model that cannot be asked", () => {
  it.each([
    [["-m", "anthropic/claude-x"], {}, "ANTHROPIC_API_KEY is not set"],
    [[], { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" }, "OPENAI_MODEL is not set"],
  ] as const)("%j %j: the missing name is said, rc 2", async (args, env, wanted) => {
    const { code, stderr } = await run(["-p", "go", ...args], env);
    expect(code).toBe(2);
    expect(stderr).toContain(wanted);
  });
});

describe("P54 with only a key", () => {
  it("the general model of its service is asked, and a notice says which", async () => {
    const places: string[] = [];
    const proxy = createServer();
    proxy.on("connect", ({ url = "" }, socket) => {
      places.push(url);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    const port = await listenOnFreePort(proxy);
    settings({ model: { retries: 0 } });
    const env = { GROQ_API_KEY: "a-key-of-groq", HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const { code, stderr } = await run(["-p", "go"], env);
    proxy.close();
    expect(stderr).toContain(
      "No model is named, so openai/gpt-oss-120b of groq is used. Set model.name, or -m, for another.",
    );
    expect(new Set(places)).toEqual(new Set(["api.groq.com:443"]));
    expect(code).toBe(1);
  });
});

describe("doctor --online", () => {
  it("P54 says where a model is asked that its maker's key would also do for", async () => {
    const { baseUrl } = await serve({ text: "ok" }, { text: "ok" });
    const env = { OPENAI_BASE_URL: baseUrl, ANTHROPIC_API_KEY: "a-key-of-anthropic" };
    const { stdout, stderr } = await run(["-p", "hi", "-m", "claude-x"], env);
    expect(stdout).toBe("ok\n");
    expect(stderr).toContain(`claude-x is asked at ${new URL(baseUrl).host}, because OPENAI_BASE_URL is set`);
    expect(stderr).toContain("Set model.provider to anthropic");
    expect((await run(["-p", "hi", "-m", "some-model"], env)).stderr).not.toContain("is asked at");
  });

  it.each([
    ["claude-x", {}, "ANTHROPIC_API_KEY is not set"],
    ["claude-x", { OPENAI_API_KEY: "k" }, "ANTHROPIC_API_KEY is not set"],
    ["kimi-x", {}, "MOONSHOT_API_KEY is not set"],
    ["some-model", {}, "OPENAI_BASE_URL is not set"],
  ])("P54 names the variable that -m %s with %j lacks", async (name, env, words) => {
    const { code, stderr } = await run(["-p", "hi", "-m", name], env);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  it("fails for a model that the service does not list, and names the near one", async () => {
    const { baseUrl } = await serve();
    const { code, stdout } = await run(["doctor", "--online"], {
      OPENAI_BASE_URL: baseUrl,
      OPENAI_MODEL: "fake-modle",
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail +model .*does not list this model; did you mean fake-model\?/m);
  });

  it("P54 says that requests to Bedrock are signed, and signs the question for its models", async () => {
    let authorization = "";
    const server = createServer(({ headers }, response) => {
      authorization = headers.authorization ?? "";
      response.end(JSON.stringify({ data: [{ id: "m" }] }));
    });
    const port = await listenOnFreePort(server);
    settings({ model: { provider: "bedrock", name: "m", baseUrl: `http://127.0.0.1:${port}/v1` } });
    const env = { AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s" };
    const { stdout } = await run(["doctor", "--online"], env);
    server.close();
    expect(stdout).toMatch(/^ok +model .*signed with the keys of AWS; it answers/m);
    expect(authorization).toContain("Credential=AKID/");
  });

  it("fails for a base URL without /v1", async () => {
    const { baseUrl } = await serve();
    const { code, stdout } = await run(["doctor", "--online"], {
      OPENAI_BASE_URL: baseUrl.replace(/\/v1$/, ""),
      OPENAI_MODEL: "fake-model",
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail +model .*usually ends in \/v1/m);
  });
});

describe("what a run costs", () => {
  const reply = {
    text: "ok",
    usage: { inputTokens: 1_000_000, outputTokens: 100_000, cachedTokens: 400_000 },
  };
  const price = { input: 1, output: 10, cached: 0.5 };

  it("stands at its end and in the document, by the price of the settings", async () => {
    const { baseUrl } = await serve(reply, reply);
    settings({ model: { name: "x" }, models: { x: { baseUrl, price } } });
    const { stderr } = await run(["-p", "go"]);
    expect(stderr).toMatch(/1000000 tokens read \(400000 from the cache\), 100000 written, \$1\.80$/m);
    const { usage } = JSON.parse((await run(["-p", "go", "--json"])).stdout);
    expect(usage.cost).toBeCloseTo(1.8);
  });

  it("P29 tells what the cache lost, with the reason, at its end and in the document", async () => {
    const usage = { inputTokens: 9000, outputTokens: 5, cachedTokens: 8000 };
    const replies = [
      { text: "ok", usage },
      { text: "ok", usage: { ...usage, cachedTokens: 0 } },
    ];
    const { baseUrl } = await serve(...replies, ...replies);
    settings({ model: { name: "x" }, models: { x: { baseUrl }, y: { baseUrl } } });
    await run(["-p", "go"]);
    const { stderr } = await run(["-c", "-p", "on", "-m", "y"]);
    expect(stderr).toMatch(/9000 tokens read \(8000 not any more: another model was asked\), 5 written/);
    await run(["-p", "go"]);
    const { stdout } = await run(["-c", "-p", "on", "-m", "y", "--json"]);
    expect(JSON.parse(stdout).usage.cacheMisses).toEqual([{ tokens: 8000, reason: "model" }]);
  });

  it("is not guessed where no price is known", async () => {
    const { baseUrl } = await serve(reply);
    const { stdout } = await run(["-p", "go", "--json"], { OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: "some" });
    expect(JSON.parse(stdout).usage).not.toHaveProperty("cost");
  });

  it("is what OpenRouter says that it is", async () => {
    const chunk = {
      choices: [{ index: 0, delta: { content: "ok" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 1, cost: 0.25 },
    };
    const { baseUrl } = await serve({
      raw: (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
      },
    });
    settings({ model: { name: "x" }, models: { x: { baseUrl, price } } });
    expect(JSON.parse((await run(["-p", "go", "--json"])).stdout).usage.cost).toBe(0.25);
  });

  it("limits a run by the price of the shipped table", async () => {
    const { baseUrl } = await serve(
      { ...reply, calls: [{ name: "todo_write", args: { todos: [] } }] },
      reply,
    );
    settings({ model: { name: "gpt-4o", baseUrl } });
    const { code } = await run(["-p", "go", "--budget", "$0.5"]);
    expect(code).toBe(4);
  });
});
