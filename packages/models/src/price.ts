import type { Usage } from "@burin/contract/chat-model";
import type { ModelPrice } from "@burin/contract/settings/settings";

const MILLION = 1_000_000;

/** What that costs; what the service itself says of it is believed. */
export function costOf(usage: Usage, price: ModelPrice | undefined): number | undefined {
  if (usage.cost !== undefined || price === undefined) return usage.cost;
  const cached = Math.min(usage.cachedTokens, usage.inputTokens);
  const sent = (usage.inputTokens - cached) * price.input + cached * (price.cached ?? price.input);
  return (sent + usage.outputTokens * price.output) / MILLION;
}
