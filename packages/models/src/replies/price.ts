import type { Usage } from "@burin/contract/chat-model";
import type { ModelPrice } from "@burin/contract/settings/settings";

const MILLION = 1_000_000;
/** The additional price of writing to the cache, as a share of the input price: for five minutes and for an hour. */
const SHORT_WRITE = 0.25;
const HOUR_WRITE = 1;

/** Returns the cost. The service's own number takes precedence. */
export function computeCost(usage: Usage, price: ModelPrice | undefined): number | undefined {
  if (usage.cost !== undefined || price === undefined) return usage.cost;
  const cached = Math.min(usage.cachedTokens, usage.inputTokens);
  const { tokens = 0, hour = 0 } = usage.cacheWrites ?? {};
  const written = (tokens - hour) * SHORT_WRITE + hour * HOUR_WRITE;
  const sent = (usage.inputTokens - cached + written) * price.input + cached * (price.cached ?? price.input);
  return (sent + usage.outputTokens * price.output) / MILLION;
}
