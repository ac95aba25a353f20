import type { TunedRequest } from "./prepare-request.ts";
import type { Quirks } from "./quirks.ts";

/**
 * What stands in a request of Claude at the end of what is worth keeping for the next one; null where nothing is
 * kept. For five minutes, or for an hour where settings or a likely pause say so and the service takes it.
 */
export function cacheMark(
  { tuning: { cache } = {}, isPauseLikely }: TunedRequest,
  quirks: Quirks,
): object | null {
  if (cache === "off" || quirks.has("no-cache-control")) return null;
  const isForHour = cache === undefined ? isPauseLikely : cache === "1h";
  const isTaken = !quirks.has("no-cache-hour");
  return { type: "ephemeral", ...(isForHour && isTaken ? { ttl: "1h" } : {}) };
}
