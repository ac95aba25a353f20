import { listField, queryRequest, type SearchService, textField } from "./search-service.ts";

/** More than this it gives page by page only. */
const MOST_AT_ONCE = 10;

/** Google's Programmable Search Engine, by its JSON API. */
export const google: SearchService = {
  baseUrl: "https://www.googleapis.com",
  keyVariable: "GOOGLE_API_KEY",
  needsEngineId: true,
  request: ({ query, most }, { baseUrl, key, engineId }) =>
    queryRequest(
      `${baseUrl}/customsearch/v1`,
      {},
      { key, cx: engineId, q: query, num: String(Math.min(most, MOST_AT_ONCE)) },
    ),
  results: (answer) =>
    listField(answer, "items").map((one) => ({
      title: textField(one, "title"),
      url: textField(one, "link"),
      snippet: textField(one, "snippet"),
    })),
  adviceFor: (status) =>
    status === 400
      ? "Check the key, and that web.search.engineId is the ID of a search engine of yours."
      : undefined,
};
