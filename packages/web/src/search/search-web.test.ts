import { createServer, type IncomingMessage, type Server } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import type { WebSearchSettings } from "@burin/contract/settings/settings";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, describe, expect, it } from "vitest";
import { searchWeb } from "./search-web.ts";

const KEY = "secret-key-0123456789";
const open: Server[] = [];

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

interface Asked {
  readonly method: string | undefined;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

/** A service's answer, as in its documentation: a status and a document. */
type Service = (asked: Asked) => readonly [status: number, answer: unknown];

async function serve(service: Service): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const { pathname: path, searchParams } = new URL(request.url ?? "", "http://x");
    const { method, headers } = request;
    const query = Object.fromEntries(searchParams);
    const asked = { method, path, query, headers, body: body === "" ? undefined : JSON.parse(body) };
    const [status, answer] = service(asked);
    const text = typeof answer === "string" ? answer : JSON.stringify(answer);
    response.writeHead(status, { "content-type": "application/json", "content-encoding": "gzip" });
    response.end(gzipSync(text));
  });
  open.push(server);
  return `http://127.0.0.1:${await listenOnFreePort(server)}`;
}

async function search(settings: WebSearchSettings, service: Service, max = 3) {
  const url = await serve(service);
  const environment = { MY_KEY: KEY };
  const { signal } = new AbortController();
  return searchWeb({ query: "copper & steel", max }, { settings: { ...settings, url }, environment }, signal);
}

const WANTED = [
  { title: "The burin", url: "https://a.test/", snippet: "cuts one exact line", date: "2026-05-01" },
  { title: "Steel", url: "https://b.test/x?y=1", snippet: "slips & scratches" },
];

/** Each fake follows the service's documentation, and rejects what the service would reject. */
const SERVICES: readonly (readonly [WebSearchSettings, Service])[] = [
  [
    { provider: "tavily", apiKeyEnv: "MY_KEY" },
    ({ method, path, headers, body }) => {
      if (method !== "POST" || path !== "/search") return [404, {}];
      if (headers.authorization !== `Bearer ${KEY}`) return [401, { detail: { error: "Unauthorized" } }];
      const { query, max_results: max } = body as { query: string; max_results: number };
      if (query !== "copper & steel" || max !== 3) return [400, { detail: { error: "wrong" } }];
      const results = [
        {
          title: "The burin",
          url: "https://a.test/",
          content: "cuts one exact line",
          score: 0.9,
          published_date: "2026-05-01T00:00:00Z",
        },
        { title: "Steel", url: "https://b.test/x?y=1", content: "slips & scratches", score: 0.8 },
      ];
      return [200, { query, answer: null, images: [], results, response_time: 1.2 }];
    },
  ],
  [
    { provider: "brave", apiKeyEnv: "MY_KEY" },
    ({ method, path, headers, query }) => {
      if (method !== "GET" || path !== "/res/v1/web/search") return [404, {}];
      if (headers["x-subscription-token"] !== KEY)
        return [422, { error: { code: "SUBSCRIPTION_TOKEN_INVALID" } }];
      if (query.q !== "copper & steel" || query.count !== "3")
        return [422, { error: { code: "VALIDATION" } }];
      const results = [
        {
          title: "The <strong>burin</strong>",
          url: "https://a.test/",
          description: "cuts <strong>one</strong> exact\nline",
          page_age: "2026-05-01T10:00:00",
        },
        {
          title: "Steel",
          url: "https://b.test/x?y=1",
          description: "slips",
          extra_snippets: ["& scratches"],
          age: "3 days ago",
        },
      ];
      return [200, { type: "search", web: { type: "search", results } }];
    },
  ],
  [
    { provider: "exa", apiKeyEnv: "MY_KEY" },
    ({ method, path, headers, body }) => {
      if (method !== "POST" || path !== "/search") return [404, {}];
      if (headers["x-api-key"] !== KEY) return [401, { error: "Invalid API key" }];
      if (JSON.stringify(body) !== '{"query":"copper & steel","numResults":3,"contents":{"highlights":true}}')
        return [400, { error: "wrong" }];
      const results = [
        {
          id: "https://a.test/",
          title: "The burin",
          url: "https://a.test/",
          highlights: ["cuts one", "exact line"],
          publishedDate: "2026-05-01T00:00:00.000Z",
        },
        {
          id: "https://b.test/x?y=1",
          title: "Steel",
          url: "https://b.test/x?y=1",
          text: "slips & scratches",
          author: null,
        },
      ];
      return [200, { requestId: "r", results }];
    },
  ],
  [
    { provider: "google", apiKeyEnv: "MY_KEY", engineId: "engine" },
    ({ method, path, query }) => {
      if (method !== "GET" || path !== "/customsearch/v1") return [404, {}];
      if (query.key !== KEY || query.cx !== "engine")
        return [400, { error: { code: 400, message: "API key not valid." } }];
      if (query.q !== "copper & steel" || query.num !== "3")
        return [400, { error: { code: 400, message: "Invalid value" } }];
      const items = [
        { title: "The burin", link: "https://a.test/", snippet: "cuts one exact line" },
        { title: "Steel", link: "https://b.test/x?y=1", snippet: "slips & scratches" },
      ];
      return [200, { kind: "customsearch#search", items }];
    },
  ],
  [
    { provider: "searxng" },
    ({ method, path, query }) => {
      if (method !== "GET" || path !== "/search") return [404, {}];
      if (query.format !== "json") return [403, ""];
      if (query.q !== "copper & steel") return [400, ""];
      const results = [
        {
          title: "The burin",
          url: "https://a.test/",
          content: "cuts one exact line",
          engine: "x",
          publishedDate: "2026-05-01T00:00:00",
        },
        {
          title: "Steel",
          url: "https://b.test/x?y=1",
          content: "slips & scratches",
          engine: "y",
          publishedDate: null,
        },
      ];
      return [200, { query: query.q, number_of_results: 0, results, answers: [], suggestions: [] }];
    },
  ],
];

describe("R43 the services of web_search", () => {
  it.each(SERVICES)(
    "$provider is asked as its documentation says, and its answer is read",
    async (settings, service) => {
      const wanted = settings.provider === "google" ? WANTED.map(({ date: _, ...page }) => page) : WANTED;
      expect(await search(settings, service)).toEqual(wanted);
    },
  );

  it.each(SERVICES)(
    "$provider without results, or with an answer of another shape, has found nothing",
    async (settings) => {
      for (const answer of [
        {},
        [],
        null,
        { results: "none", web: null, items: {} },
        { results: [null, 3, {}], items: [{}] },
      ]) {
        expect(await search(settings, () => [200, answer])).toEqual([]);
      }
    },
  );

  it("gives each page of the web once, as many as were asked for", async () => {
    const page = (url: string) => ({ title: "t", url, content: "c" });
    const results = [
      "javascript:x",
      "https://a.test/",
      "https://a.test/",
      "/b",
      "ftp://c.test/",
      "https://d.test/",
      "https://e.test/",
    ].map(page);
    const found = await search({ provider: "searxng" }, () => [200, { results }], 2);
    expect(found.map(({ url }) => url)).toEqual(["https://a.test/", "https://d.test/"]);
  });

  it("keeps code in a snippet, and cuts a long one", async () => {
    const results = [
      { title: "", url: "https://a.test/", content: `<b>use</b> Array<string> ${"x".repeat(2000)}` },
    ];
    const [found] = await search({ provider: "searxng" }, () => [200, { results }]);
    expect(found?.title).toBe("https://a.test/");
    expect(found?.snippet).toMatch(/^use Array<string> x+ \.\.\.$/);
    expect(found?.snippet.length).toBeLessThan(710);
  });

  const tavily: WebSearchSettings = { provider: "tavily", apiKeyEnv: "MY_KEY" };
  it.each<[what: string, settings: WebSearchSettings, service: Service, words: RegExp]>([
    ["a refused key", tavily, () => [401, {}], /HTTP 401.*check the variable MY_KEY/],
    ["too many questions", tavily, () => [429, {}], /HTTP 429.*quota/],
    ["a fault of its own", tavily, () => [500, { error: "broken" }], /HTTP 500\. broken/],
    ["a redirect", tavily, () => [302, ""], /set web\.search\.url/],
    [
      "a plan that is used up",
      tavily,
      () => [433, { detail: { error: "This request exceeds the pay-as-you-go limit." } }],
      /HTTP 433.*quota.*pay-as-you-go/,
    ],
    [
      "a project without the API",
      { provider: "google", apiKeyEnv: "MY_KEY", engineId: "e" },
      () => [403, { error: { code: 403, message: "This project does not have the access to it." } }],
      /MY_KEY\. This project does not have the access/,
    ],
    [
      "a wrong question",
      { provider: "brave", apiKeyEnv: "MY_KEY" },
      () => [
        422,
        { type: "ErrorResponse", error: { code: "VALIDATION", detail: "Unable to validate count" } },
      ],
      /50 words.*Unable to validate count/,
    ],
    [
      "engines that do not answer",
      { provider: "searxng" },
      () => [
        200,
        {
          results: [],
          unresponsive_engines: [
            ["brave", "too many requests"],
            ["google", "CAPTCHA"],
          ],
        },
      ],
      /no answer from brave: too many requests, google: CAPTCHA/,
    ],
    ["no JSON", tavily, () => [200, "<html>"], /sent no JSON/],
    ["SearXNG without JSON", { provider: "searxng" }, () => [403, ""], /search\.formats/],
    ["no engine", { provider: "google", apiKeyEnv: "MY_KEY" }, () => [200, {}], /web\.search\.engineId/],
    ["no key", { provider: "exa" }, () => [200, {}], /set the variable EXA_API_KEY/],
  ])("%s is told with what to do", async (_what, ...[settings, service, words]) => {
    await expect(search(settings, service)).rejects.toThrow(words);
  });

  it("the key stands in no result and in no message, also when the service says it", async () => {
    const results = [{ title: KEY, url: `https://a.test/?k=${KEY}`, content: `your key is ${KEY}` }];
    expect(JSON.stringify(await search(tavily, () => [200, { results }]))).not.toContain(KEY);
    const failure = await search(tavily, () => [500, { error: `bad ${KEY}` }]).catch(String);
    expect(failure).toContain("bad [the key]");
    const { signal } = new AbortController();
    const settings = { ...tavily, url: "http://127.0.0.1:9" };
    const lost = searchWeb({ query: "q", max: 1 }, { settings, environment: { MY_KEY: KEY } }, signal);
    await expect(lost).rejects.toThrow(/127\.0\.0\.1:9 could not be reached/);
  });
});
