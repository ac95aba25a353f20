import { parseJson } from "@burin/contract/messages/untrusted-json";
import type { WebSearchSettings } from "@burin/contract/settings/settings";
import { describeError } from "@burin/contract/text/error-message";
import { WebError } from "@burin/net/web-error";
import {
  type FoundPage,
  listDistinctPages,
  readField,
  readFoundPage,
  readListField,
  readTextField,
  readUrl,
} from "./found-pages.ts";
import type { SearchQuestion } from "./search-services.ts";

/** Calls a tool of an MCP server with those arguments that its schema accepts. Resolves to its result. */
export type CallServer = (
  order: {
    readonly server: string;
    readonly tool: string;
    readonly argumentsFor: (inputSchema: unknown) => Readonly<Record<string, unknown>>;
  },
  signal: AbortSignal,
) => Promise<unknown>;

const QUERY_NAMES = ["query", "q", "search_query", "searchQuery", "text", "prompt"];
const COUNT_NAMES = "maxResults max_results numResults num_results count limit topK top_k".split(" ");
const MAX_DEPTH = 4;
/** The maximum number of characters that are read for each result: far more than any needs. */
const MAX_TEXT = 500_000;

/** Searches with an MCP server's tool, whatever shape its result has. */
export async function searchWithServer(
  { query, max }: SearchQuestion,
  { settings, call }: { readonly settings: WebSearchSettings; readonly call: CallServer },
  signal: AbortSignal,
): Promise<readonly FoundPage[]> {
  const { server, tool } = readSearchTool(settings);
  const buildArguments = (schema: unknown) => buildSearchArguments(schema, { query, max });
  const answer = await call({ server, tool, argumentsFor: buildArguments }, signal).catch(
    (error: unknown) => {
      signal.throwIfAborted();
      throw new WebError("search_failed", describeError(error));
    },
  );
  const text = readListField(answer, "content")
    .map((block) => readTextField(block, "text"))
    .filter((part) => part !== "")
    .join("\n\n");
  if (readField(answer, "isError") === true) {
    throw new WebError(
      "search_failed",
      `The web search with ${server} failed: ${text.slice(0, 300) || "it gave no reason"}`,
    );
  }
  return listDistinctPages(parsePages(readField(answer, "structuredContent"), text), max);
}

/** Returns the server and the tool, which the settings must name. */
export function readSearchTool({ server, tool }: WebSearchSettings) {
  if (server && tool) return { server, tool };
  throw new WebError(
    "not_configured",
    "The web search with mcp is not configured: set web.search.server to the alias of a server in mcpServers, and web.search.tool to its search tool.",
  );
}

function buildSearchArguments(schema: unknown, { query, max }: SearchQuestion): Record<string, unknown> {
  const properties = readField(schema, "properties");
  const findProperty = (names: readonly string[]) =>
    names.find((name) => readField(properties, name) !== undefined);
  const required = readListField(schema, "required").find((name) => typeof name === "string");
  const asking = findProperty(QUERY_NAMES) ?? (typeof required === "string" ? required : "query");
  const counting = findProperty(COUNT_NAMES);
  return { [asking]: query, ...(counting === undefined ? {} : { [counting]: max }) };
}

/** Reads structured results or JSON in the text; otherwise finds the URLs in the text, each with the text around it. */
function parsePages(structured: unknown, text: string): FoundPage[] {
  const rows = findRows(structured, 0) ?? findRows(parseJson(text), 0);
  return rows === null ? parsePagesInText(text.slice(0, MAX_TEXT)) : rows.map(readFoundPage);
}

function findRows(value: unknown, depth: number): readonly unknown[] | null {
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) return value.some((row) => readUrl(row) !== "") ? value : null;
  for (const one of Object.values(value)) {
    const rows = findRows(one, depth + 1);
    if (rows !== null) return rows;
  }
  return null;
}

const ADDRESS = /https?:\/\/[^\s<>"')\]]+/;
const LABEL =
  /^\s*(?:(?:[-*]|\d+[.)])\s*)?(?:\*\*)?(?:title|url|link|snippet|description|content)(?:\*\*)?\s*:\s*/i;

/** Finds results in plain text: blocks between empty lines, or single lines, each with a URL and text around it. */
function parsePagesInText(text: string): FoundPage[] {
  const blocks = text.split(/\n\s*\n/);
  const lines = blocks.length > 1 ? blocks : text.split("\n");
  return lines.flatMap((block): FoundPage[] => {
    const url = ADDRESS.exec(block)?.[0].replace(/(?<![.,;:])[.,;:]+$/, "");
    if (url === undefined) return [];
    const words = block
      .replace(url, "")
      .split("\n")
      .map((line) =>
        line
          .replace(LABEL, "")
          .replace(/^\s*(?:[-*#]+|\d+[.)])\s*|[[\]()<>]/g, "")
          .trim(),
      )
      .filter((line) => line !== "");
    return [{ title: words[0] ?? "", url, snippet: words.slice(1).join(" ") }];
  });
}
