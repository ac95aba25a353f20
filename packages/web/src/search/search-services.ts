export interface SearchQuestion {
  readonly query: string;
  readonly max: number;
}

export interface SearchService {
  /** The URL of the service. Absent if each user has an own instance. */
  readonly baseUrl?: string;
  readonly path: string;
  /** The environment variable that usually contains the key. */
  readonly keyVariable?: string;
  /** The header for the key. `authorization` means a bearer token. */
  readonly keyHeader?: string;
  readonly needsEngineId?: boolean;
  /** Sends a JSON body instead of a query in the URL. */
  readonly isPosted?: boolean;
  parameters(
    question: SearchQuestion,
    access: { readonly key: string; readonly engineId: string },
  ): Readonly<Record<string, unknown>>;
  /** The path of keys to the list of results in the response. */
  readonly results: readonly string[];
  /** Advice for HTTP statuses that this service uses in a special way. */
  readonly advice?: Readonly<Record<number, string>>;
}

/** The maximum number of results in one response. Google returns more only page by page. */
const MAX_GOOGLE_RESULTS = 10;

export const SEARCH_SERVICES = {
  tavily: {
    baseUrl: "https://api.tavily.com",
    path: "/search",
    keyVariable: "TAVILY_API_KEY",
    keyHeader: "authorization",
    isPosted: true,
    parameters: ({ query, max }) => ({ query, max_results: max }),
    results: ["results"],
  },
  brave: {
    baseUrl: "https://api.search.brave.com",
    path: "/res/v1/web/search",
    keyVariable: "BRAVE_API_KEY",
    keyHeader: "x-subscription-token",
    parameters: ({ query, max }) => ({ q: query, count: max }),
    results: ["web", "results"],
    advice: { 422: "It accepts at most 400 characters and 50 words, and only a valid key." },
  },
  exa: {
    baseUrl: "https://api.exa.ai",
    path: "/search",
    keyVariable: "EXA_API_KEY",
    keyHeader: "x-api-key",
    isPosted: true,
    parameters: ({ query, max }) => ({ query, numResults: max, contents: { highlights: true } }),
    results: ["results"],
  },
  /** Google's Programmable Search Engine, through its JSON API. */
  google: {
    baseUrl: "https://www.googleapis.com",
    path: "/customsearch/v1",
    keyVariable: "GOOGLE_API_KEY",
    needsEngineId: true,
    parameters: ({ query, max }, { key, engineId }) => ({
      ...{ key, cx: engineId, q: query },
      num: Math.min(max, MAX_GOOGLE_RESULTS),
    }),
    results: ["items"],
    advice: { 400: "Check the key, and that web.search.engineId is the ID of one of your search engines." },
  },
  /** A SearXNG instance that allows JSON. It decides itself how many results it returns. */
  searxng: {
    path: "/search",
    keyHeader: "authorization",
    parameters: ({ query }) => ({ q: query, format: "json" }),
    results: ["results"],
    advice: { 403: 'It must allow JSON: "json" under search.formats in its settings.yml.' },
  },
} as const satisfies Readonly<Record<string, SearchService>>;
