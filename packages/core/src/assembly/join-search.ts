import type { WebSearchSettings } from "../settings/settings.ts";
import type { WebSearcher } from "../tools/web-search.ts";

/** The search that the settings name; undefined when they name none. Its code is loaded with the first search. */
export function searcherOf(
  settings: WebSearchSettings | undefined,
  environment: NodeJS.ProcessEnv,
): WebSearcher | undefined {
  if (settings === undefined) return undefined;
  return {
    name: settings.provider,
    search: async (question, signal) => {
      const { searchWeb } = await import("../network/search/search-web.ts");
      return searchWeb(question, { settings, environment }, signal);
    },
  };
}
