export interface SearchQuestion {
  readonly query: string;
  readonly most: number;
}

/** What one search service lays down. */
export interface SearchService {
  /** Absent where each user has an instance of their own. */
  readonly baseUrl?: string;
  readonly path: string;
  /** The variable that usually holds its key. */
  readonly keyVariable?: string;
  /** Carries the key; `authorization` takes it as a bearer token. */
  readonly keyHeader?: string;
  readonly needsEngineId?: boolean;
  /** A JSON body instead of the query of the URL. */
  readonly isPosted?: boolean;
  parameters(
    question: SearchQuestion,
    access: { readonly key: string; readonly engineId: string },
  ): Readonly<Record<string, unknown>>;
  /** The keys that lead to the list of results in its answer. */
  readonly results: readonly string[];
  /** What an HTTP status means at this service, where that is special. */
  readonly advice?: Readonly<Record<number, string>>;
}

/** Google gives more than this page by page only. */
const MOST_OF_GOOGLE = 10;

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
      num: Math.min(most, MOST_OF_GOOGLE),
    }),
    results: ["items"],
    advice: { 400: "Check the key, and that web.search.engineId is the ID of one of your search engines." },
  },
  /** An instance of one's own, or one that allows JSON; it gives as many results as it likes. */
  searxng: {
    path: "/search",
    keyHeader: "authorization",
    parameters: ({ query }) => ({ q: query, format: "json" }),
    results: ["results"],
    advice: { 403: 'It must allow JSON: "json" under search.formats in its settings.yml.' },
  },
} as const satisfies Readonly<Record<string, SearchService>>;
