import { listField, queryRequest, type SearchService, textField } from "./search-service.ts";

/** An instance of one's own, or one that allows JSON; it has no key, and gives as many results as it likes. */
export const searxng: SearchService = {
  request: ({ query }, { baseUrl, key }) =>
    queryRequest(`${baseUrl}/search`, key === "" ? {} : { authorization: `Bearer ${key}` }, {
      q: query,
      format: "json",
    }),
  results: (answer) =>
    listField(answer, "results").map((one) => ({
      title: textField(one, "title"),
      url: textField(one, "url"),
      snippet: textField(one, "content"),
      date: textField(one, "publishedDate"),
    })),
  adviceFor: (status) =>
    status === 403 ? 'It must allow JSON: "json" under search.formats in its settings.yml.' : undefined,
};
