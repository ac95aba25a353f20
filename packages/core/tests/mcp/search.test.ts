import { describe, expect, it } from "vitest";
import { fixture, project, useProject } from "./project.ts";

useProject();

/** The fixture's `echo` answers what it is asked, so each question brings its own results. */
async function search(query: string, search: Readonly<Record<string, string>> = {}, maxResults = 10) {
  const web = { search: { provider: "mcp" as const, server: "s", tool: "echo", ...search } };
  const toolbox = project.open({}, { settings: { mcpServers: { s: fixture() }, web } });
  return toolbox.call("web_search", { query, maxResults });
}

const ROWS = [
  { title: "One", url: "https://one.test/", snippet: "the first" },
  { name: "Two", link: "https://two.test/", description: "the second", date: "2026-01-02" },
  { title: "none", url: "javascript:alert(1)" },
];

describe("R43 web_search by an MCP server", () => {
  it.each([
    ["rows", JSON.stringify(ROWS)],
    ["an object that holds rows", JSON.stringify({ data: { results: ROWS } })],
    [
      "blocks of text",
      "Title: One\nURL: https://one.test/\nContent: the first\n\nTitle: Two\nURL: https://two.test/\nContent: the second",
    ],
    ["Markdown", "- [One](https://one.test/)\n- [Two](https://two.test/)"],
  ])("makes numbered sources of %s, and asks nobody", async (_what, answer) => {
    const { llmContent, error } = await search(answer);
    expect(error).toBeUndefined();
    expect(llmContent).toContain("Search with s for");
    expect(llmContent).toContain("2 results.");
    expect(llmContent).toMatch(
      /1\. One\n {3}https:\/\/one\.test\/[\s\S]*2\. Two.*\n {3}https:\/\/two\.test\//,
    );
  });

  it.each([
    ["spaces", "https://one.test/", " ".repeat(499_000), "x"],
    ["stops", "https://one.test/", ",".repeat(499_000), "x"],
    ["spaces first", "", `${" ".repeat(490_000)}x`, "\nhttps://one.test/"],
  ])("P50 an answer of 500,000 %s is read once", async (_what, ...parts) => {
    expect((await search(parts.join(""))).llmContent).toContain("https://one.test/");
  });

  it("gives no more than were asked for", async () => {
    expect((await search(JSON.stringify(ROWS), {}, 1)).llmContent).toContain("1 result.");
  });

  it("an answer without an address is no result", async () => {
    expect((await search("nothing at all")).llmContent).toContain("no results");
  });

  it.each([
    [{ tool: "fail" }, "search_failed", "The web search with s failed"],
    [{ tool: "none" }, "search_failed", 'no tool "none". It has: echo'],
    [{ server: "other" }, "search_failed", 'no MCP server "other"'],
    [{ server: "" }, "not_configured", "set web.search.server"],
  ])("%j is an error in words", async (settings, type, words) => {
    const { error } = await search("x", settings);
    expect(error).toMatchObject({ type, message: expect.stringContaining(words) });
  });
});
