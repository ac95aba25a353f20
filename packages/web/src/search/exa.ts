import { jsonRequest, listField, type SearchService, textField } from "./search-service.ts";

export const exa: SearchService = {
  baseUrl: "https://api.exa.ai",
  keyVariable: "EXA_API_KEY",
  request: ({ query, most }, { baseUrl, key }) =>
    jsonRequest(
      `${baseUrl}/search`,
      { "x-api-key": key },
      { query, numResults: most, contents: { highlights: true } },
    ),
  results: (answer) =>
    listField(answer, "results").map((one) => ({
      title: textField(one, "title"),
      url: textField(one, "url"),
      snippet: listField(one, "highlights").join(" ") || textField(one, "summary") || textField(one, "text"),
      date: textField(one, "publishedDate"),
    })),
};
