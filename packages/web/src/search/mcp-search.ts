import { parseJson } from "@burin/contract/messages/untrusted-json";
import type { WebSearchSettings } from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { WebError } from "@burin/net/web-error";
import { distinctPages, type FoundPage, field, listField, pageIn, textField, urlIn } from "./found-pages.ts";
import type { SearchQuestion } from "./search-services.ts";

/** Calls a tool of an MCP server with the arguments that its schema accepts; resolves to its result. */
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
const MOST_DEPTH = 4;
/** Far more than the requested results need. */
const MOST_TEXT = 500_000;

/** Searches with a tool of an MCP server, whatever shape its result has. */
export async function searchByServer(
  { query, most }: SearchQuestion,
  { settings, call }: { readonly settings: WebSearchSettings; readonly call: CallServer },
  signal: AbortSignal,
): Promise<readonly FoundPage[]> {
  const { server, tool } = namedTool(settings);
  const argumentsFor = (schema: unknown) => searchArguments(schema, { query, most });
  const answer = await call({ server, tool, argumentsFor }, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new WebError("search_failed", messageOf(error));
  });
  const text = listField(answer, "content")
    .map((block) => textField(block, "text"))
    .filter((part) => part !== "")
    .join("\n\n");
  if (field(answer, "isError") === true) {
    throw new WebError(
      "search_failed",
      `The web search with ${server} failed: ${text.slice(0, 300) || "it gave no reason"}`,
    );
  }
  return distinctPages(pagesIn(field(answer, "structuredContent"), text), most);
}

/** The server and tool that the settings must name. */
export function namedTool({ server, tool }: WebSearchSettings) {
  if (server && tool) return { server, tool };
  throw new WebError(
    "not_configured",
    "The web search with mcp is not configured: set web.search.server to the alias of a server in mcpServers, and web.search.tool to its search tool.",
  );
}

function searchArguments(schema: unknown, { query, most }: SearchQuestion): Record<string, unknown> {
  const properties = field(schema, "properties");
  const known = (names: readonly string[]) => names.find((name) => field(properties, name) !== undefined);
  const required = listField(schema, "required").find((name) => typeof name === "string");
  const asking = known(QUERY_NAMES) ?? (typeof required === "string" ? required : "query");
  const counting = known(COUNT_NAMES);
  return { [asking]: query, ...(counting === undefined ? {} : { [counting]: most }) };
}

/** Structured results, or JSON as text; otherwise the addresses in the text, each with the text around it. */
function pagesIn(structured: unknown, text: string): FoundPage[] {
  const rows = rowsIn(structured, 0) ?? rowsIn(parseJson(text), 0);
  return rows === null ? pagesInText(text.slice(0, MOST_TEXT)) : rows.map(pageIn);
}

function rowsIn(value: unknown, depth: number): readonly unknown[] | null {
  if (depth > MOST_DEPTH || typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) return value.some((row) => urlIn(row) !== "") ? value : null;
  for (const one of Object.values(value)) {
    const rows = rowsIn(one, depth + 1);
    if (rows !== null) return rows;
  }
  return null;
}

const ADDRESS = /https?:\/\/[^\s<>"')\]]+/;
const LABEL =
  /^\s*(?:(?:[-*]|\d+[.)])\s*)?(?:\*\*)?(?:title|url|link|snippet|description|content)(?:\*\*)?\s*:\s*/i;

/** Results are blocks with an empty line between them, or one line each: the address, with text before and after it. */
function pagesInText(text: string): FoundPage[] {
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
