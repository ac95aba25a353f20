import { withFallback } from "@burin/contract/or-else";
import type { ModelProvider } from "@burin/contract/settings/settings";
import type { Quirk } from "./quirks.ts";

/** What some services want from the first request on, by the service's host and the model's name. */
const KNOWN: readonly (readonly [quirk: Quirk, host: RegExp, model: RegExp])[] = [
  ["nine-ids", /(?:^|\.)mistral\.ai$/, /^/],
  ["nine-ids", /^/, /(?:^|\/)(?:mistral|mixtral|ministral|magistral|devstral|codestral|pixtral)\b/i],
];

/** Their models make all calls in the protocol's own way, so a call in a text is an example. */
const FIRST_PARTIES =
  /(?:^|\.)(?:openai\.com|openai\.azure\.com|anthropic\.com|generativelanguage\.googleapis\.com)$/;

export function listKnownQuirks(protocol: ModelProvider, baseUrl: string, model: string): Quirk[] {
  if (protocol !== "openai") return [];
  const host = getHost(baseUrl);
  return KNOWN.flatMap(([quirk, hosts, models]) => (hosts.test(host) && models.test(model) ? [quirk] : []));
}

/** Whether the service belongs to the maker of a protocol. */
export function isFirstParty(baseUrl: string): boolean {
  return FIRST_PARTIES.test(getHost(baseUrl));
}

function getHost(baseUrl: string): string {
  return withFallback("", () => new URL(baseUrl.trim()).hostname);
}
