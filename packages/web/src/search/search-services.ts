export interface SearchQuestion {
  readonly query: string;
  readonly most: number;
}

export interface SearchService {
  /** Absent if each user has an instance of their own. */
  readonly baseUrl?: string;
  readonly path: string;
  /** The usual variable for its key. */
  readonly keyVariable?: string;
  /** The header for the key; `authorization` means a bearer token. */
  readonly keyHeader?: string;
  readonly needsEngineId?: boolean;
  /** Sends a JSON body instead of a query in the URL. */
  readonly isPosted?: boolean;
  parameters(
    question: SearchQuestion,
    access: { readonly key: string; readonly engineId: string },
  ): Readonly<Record<string, unknown>>;
  /** The keys that lead to the list of results in its response. */
  readonly results: readonly string[];
  /** What to do about an HTTP status, if this service uses it in a special way. */
  readonly advice?: Readonly<Record<number, string>>;
}

/** Google returns more than this only page by page. */
const MAX_GOOGLE_RESULTS = 10;

export const SEARCH_SERVICES = {
  tavily: {
    baseUrl: "https://api.tavily.com",
    path: "/search",
    keyVariable: "TAVILY_API_KEY",
    keyHeader: "authorization",
    isPosted: true,
    parameters: ({ query, most }) => ({ query, max_results: most }),
    results: ["results"],
  },
  brave: {
    baseUrl: "https://api.search.brave.com",
    path: "/res/v1/web/search",
    keyVariable: "BRAVE_API_KEY",
    keyHeader: "x-subscription-token",
    parameters: ({ query, most }) => ({ q: query, count: most }),
    results: ["web", "results"],
    advice: { 422: "It accepts at most 400 characters and 50 words, and only a valid key." },
  },
  exa: {
    baseUrl: "https://api.exa.ai",
    path: "/search",
    keyVariable: "EXA_API_KEY",
    keyHeader: "x-api-key",
    isPosted: true,
    parameters: ({ query, most }) => ({ query, numResults: most, contents: { highlights: true } }),
    results: ["results"],
  },
  /** The Programmable Search Engine, by its JSON API. */
  google: {
    baseUrl: "https://www.googleapis.com",
    path: "/customsearch/v1",
    keyVariable: "GOOGLE_API_KEY",
    needsEngineId: true,
    parameters: ({ query, most }, { key, engineId }) => ({
      ...{ key, cx: engineId, q: query },
      num: Math.min(most, MAX_GOOGLE_RESULTS),
    }),
    results: ["items"],
    advice: { 400: "Check the key, and that web.search.engineId is the ID of one of your search engines." },
  },
  /** An instance that allows JSON; it returns as many results as it likes. */
  searxng: {
    path: "/search",
    keyHeader: "authorization",
    parameters: ({ query }) => ({ q: query, format: "json" }),
    results: ["results"],
    advice: { 403: 'It must allow JSON: "json" under search.formats in its settings.yml.' },
  },
} as const satisfies Readonly<Record<string, SearchService>>;
