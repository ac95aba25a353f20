import { closedObject, integer, NON_EMPTY, type OptionValue, text } from "@burin/contract/messages/option";
import { removeInvisible, wrapWebText } from "@burin/contract/text/untrusted-text";
import { BaseTool, createFailedResult, type ToolResult } from "@burin/contract/tools";
import { randomName } from "@burin/files/disk/own-files";
import { WebError } from "@burin/net/web-error";
import type { FoundPage } from "@burin/web/search/found-pages";

const DEFAULT_RESULTS = 10;
const MAX_RESULTS = 20;

const PARAMETERS = closedObject(["query"], {
  query: text("What to search for.", NON_EMPTY),
  maxResults: integer(`Default ${DEFAULT_RESULTS}.`, { minimum: 1, maximum: MAX_RESULTS }),
});
export type WebSearchParams = OptionValue<typeof PARAMETERS>;

/** A service that searches the web. Throws a WebError on failure. */
export interface WebSearcher {
  readonly name: string;
  search(
    question: { readonly query: string; readonly max: number },
    signal: AbortSignal,
  ): Promise<readonly FoundPage[]>;
}

const HOW_TO_ADD =
  'No search service is configured. Name one in settings.json: "web": {"search": {"provider": "tavily"}} with its key ' +
  'in TAVILY_API_KEY; or "brave", "exa", "google", "searxng" with "url", or "mcp" with "server" and "tool".';

/** The tool `web_search`: asks the search service that the settings name. */
export class WebSearch extends BaseTool<WebSearchParams> {
  readonly name = "web_search";
  readonly displayName = "WebSearch";
  readonly kind = "fetch";
  readonly description =
    "Searches the web; answers with numbered sources: title, URL, snippet. Read a source with web_fetch.";
  readonly parameterSchema = PARAMETERS;
  readonly #searcher: WebSearcher | undefined;

  /** Creates the tool. Without a searcher, it only says how to add one, and is hidden from the model. */
  constructor(searcher?: WebSearcher) {
    super();
    this.#searcher = searcher;
  }

  get missing(): string | undefined {
    return this.#searcher === undefined ? HOW_TO_ADD : undefined;
  }

  getDescription({ query }: WebSearchParams): string {
    return `Search the web for ${JSON.stringify(query)}`;
  }

  protected override checkParams({ query }: WebSearchParams): string | null {
    return query.trim() === "" ? '"query" must hold words to search for.' : null;
  }

  async execute({ query, maxResults }: WebSearchParams, signal: AbortSignal): Promise<ToolResult> {
    if (this.#searcher === undefined)
      return createFailedResult({ type: "not_configured", message: HOW_TO_ADD });
    try {
      const max = maxResults ?? DEFAULT_RESULTS;
      const pages = await this.#searcher.search({ query: query.trim(), max }, signal);
      return formatFoundPages(
        pages.slice(0, max).map(removeInvisibleFromPage),
        query.trim(),
        this.#searcher.name,
      );
    } catch (error) {
      if (!(error instanceof WebError)) throw error;
      return createFailedResult({ type: error.type, message: error.message });
    }
  }
}

function removeInvisibleFromPage({ title, snippet, ...page }: FoundPage): FoundPage {
  return { ...page, title: removeInvisible(title), snippet: removeInvisible(snippet) };
}

function formatFoundPages(pages: readonly FoundPage[], query: string, service: string): ToolResult {
  const count = pages.length === 1 ? "1 result" : `${pages.length || "no"} results`;
  const head = `Search with ${service} for ${JSON.stringify(query)}: ${count}.`;
  if (pages.length === 0) return { llmContent: `${head} Try other or fewer words.`, returnDisplay: head };
  const sources = pages.map(({ title, url, snippet, date }, index) => {
    const lines = [`${index + 1}. ${title}${date === undefined ? "" : ` (${date})`}`, `   ${url}`];
    return [...lines, ...(snippet === "" ? [] : [`   ${snippet}`])].join("\n");
  });
  const shown = pages.map(({ title, url }, index) => `${index + 1}. ${title}: ${url}`);
  return {
    llmContent: `${head}\n${wrapWebText(sources.join("\n"), randomName())}`,
    returnDisplay: [head, ...shown].join("\n"),
  };
}
