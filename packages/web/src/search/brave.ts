import { listField, queryRequest, type SearchService, textField } from "./search-service.ts";

export const brave: SearchService = {
  baseUrl: "https://api.search.brave.com",
  keyVariable: "BRAVE_API_KEY",
  request: ({ query, most }, { baseUrl, key }) =>
    queryRequest(
      `${baseUrl}/res/v1/web/search`,
      { "x-subscription-token": key },
      { q: query, count: String(most) },
    ),
  results: (answer) =>
    listField(answer, "web", "results").map((one) => ({
      title: textField(one, "title"),
      url: textField(one, "url"),
      snippet: [textField(one, "description"), ...listField(one, "extra_snippets")].join(" "),
      date: textField(one, "page_age") || textField(one, "age"),
    })),
  adviceFor: (status) =>
    status === 422 ? "It takes at most 400 characters and 50 words, and a key that is valid." : undefined,
};
