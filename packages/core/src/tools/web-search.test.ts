import { WebError } from "@burin/net/web-error";
import { describe, expect, it } from "vitest";
import { createToolbox } from "../create-session.ts";
import { WebSearch, type WebSearcher } from "./web-search.ts";

const PAGES = [
  { title: "One", url: "https://a.test/", snippet: "first\u202E words", date: "2026-05-01" },
  { title: "Two", url: "https://b.test/", snippet: "" },
];

function searcherOf(search: WebSearcher["search"]): WebSearcher {
  return { name: "tavily", search };
}

const run = (tool: WebSearch, params: { query: string; maxResults?: number }) =>
  tool.execute(params, new AbortController().signal);

describe("R43 web_search", () => {
  it("gives numbered sources between marks", async () => {
    const asked: unknown[] = [];
    const tool = new WebSearch(
      searcherOf(async (question) => {
        asked.push(question);
        return PAGES;
      }),
    );
    const { llmContent, returnDisplay, error } = await run(tool, { query: " burin " });
    expect(error).toBeUndefined();
    expect(asked).toEqual([{ query: "burin", max: 10 }]);
    expect(llmContent).toMatch(
      /^Search with tavily for "burin": 2 results\.\n<untrusted id="(\w{16})">.*\n1\. One \(2026-05-01\)\n {3}https:\/\/a\.test\/\n {3}first words\n2\. Two\n {3}https:\/\/b\.test\/\n<\/untrusted id="\1">$/,
    );
    expect(returnDisplay).toContain("1. One: https://a.test/");
    expect((await run(tool, { query: "burin", maxResults: 1 })).llmContent).toContain(": 1 result.");
  });

  it("nothing found is no error", async () => {
    const { llmContent, error } = await run(new WebSearch(searcherOf(async () => [])), { query: "x" });
    expect(error).toBeUndefined();
    expect(llmContent).toContain("no results. Try other or fewer words.");
  });

  it("a failure of the service is one that the model reads", async () => {
    const tool = new WebSearch(
      searcherOf(async () => {
        throw new WebError("rate_limited", "Too many.");
      }),
    );
    expect((await run(tool, { query: "x" })).error).toEqual({ type: "rate_limited", message: "Too many." });
  });

  it.each([
    [{ query: " " }],
    [{ query: "" }],
    [{ query: "x", maxResults: 21 }],
    [{ query: "x", maxResults: 0 }],
  ])("R30 %j is refused", (params) => {
    expect(new WebSearch().validateToolParams(params)).not.toBeNull();
  });

  it("R38 without a service the model is not told of it, and a call says how to add one", async () => {
    const toolbox = createToolbox({ root: "." });
    const { registry } = toolbox;
    expect(registry.getFunctionDeclarations().map(({ name }) => name)).not.toContain("web_search");
    expect(registry.getAllTools().map(({ name }) => name)).toContain("web_search");
    const { error } = await toolbox.call("web_search", { query: "x" });
    expect(error).toMatchObject({
      type: "not_configured",
      message: expect.stringContaining('"provider": "tavily"'),
    });
    await toolbox.close();
    const search = { provider: "searxng" as const, url: "http://127.0.0.1:9" };
    const other = createToolbox({ root: ".", settings: { web: { search } } });
    expect(other.registry.getFunctionDeclarations().map(({ name }) => name)).toContain("web_search");
    expect((await other.call("web_search", { query: "x" })).error?.type).toBe("unreachable");
    await other.close();
  });
});
