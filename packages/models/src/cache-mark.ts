import type { TunedRequest } from "./prepare-request.ts";

export type CacheQuirk = "no-cache-control" | "no-cache-hour";

/**
 * What stands in a request of Claude at the end of what is worth keeping for the next one; null where nothing is
 * kept. For five minutes, or for an hour where settings or a likely pause say so and the service takes it.
 */
export function cacheMark(
  { tuning: { cache } = {}, isPauseLikely }: TunedRequest,
  quirks: ReadonlySet<string>,
): object | null {
  if (cache === "off" || quirks.has("no-cache-control" satisfies CacheQuirk)) return null;
  const isForHour = cache === undefined ? isPauseLikely : cache === "1h";
  const isTaken = !quirks.has("no-cache-hour" satisfies CacheQuirk);
  return { type: "ephemeral", ...(isForHour && isTaken ? { ttl: "1h" } : {}) };
}

/** What a refusal of such a mark teaches: first that it is not kept so long, then that it is not kept at all. */
export function cacheQuirk(refusal: string, quirks: ReadonlySet<string>): CacheQuirk {
  return /\bttl\b/i.test(refusal) && !quirks.has("no-cache-hour") ? "no-cache-hour" : "no-cache-control";
}
