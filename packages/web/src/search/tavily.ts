import { jsonRequest, listField, type SearchService, textField } from "./search-service.ts";

export const tavily: SearchService = {
  baseUrl: "https://api.tavily.com",
  keyVariable: "TAVILY_API_KEY",
  request: ({ query, most }, { baseUrl, key }) =>
    jsonRequest(`${baseUrl}/search`, { authorization: `Bearer ${key}` }, { query, max_results: most }),
  results: (answer) =>
    listField(answer, "results").map((one) => ({
      title: textField(one, "title"),
      url: textField(one, "url"),
      snippet: textField(one, "content"),
      date: textField(one, "published_date"),
    })),
};
