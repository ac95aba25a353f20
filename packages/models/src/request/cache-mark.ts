import type { TunedRequest } from "./prepare-request.ts";
import type { Quirks } from "./quirks.ts";

/** Returns the mark for the end of what Claude should cache, for five minutes or an hour; null without caching. */
export function createCacheMark(
  { tuning: { cache } = {}, isPauseLikely }: TunedRequest,
  quirks: Quirks,
): object | null {
  if (cache === "off" || quirks.has("no-cache-control")) return null;
  const isForHour = cache === undefined ? isPauseLikely : cache === "1h";
  const isTaken = !quirks.has("no-cache-hour");
  return { type: "ephemeral", ...(isForHour && isTaken ? { ttl: "1h" } : {}) };
}
