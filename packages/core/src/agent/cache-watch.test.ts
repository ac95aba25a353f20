import type { Usage } from "@burin/contract/chat-model";
import { describe, expect, it } from "vitest";
import { CacheWatch, isHourCacheCheaper } from "./cache-watch.ts";

const MINUTE = 60_000;
const TOOLS = [{ name: "a", description: "", parameters: { type: "object" as const } }];

/** Returns what is reported about a request that begins this long after a first one that the service has cached. */
function missAfter(minutes: number, cacheWrites: Usage["cacheWrites"], more: Partial<Usage> = {}) {
  const watch = new CacheWatch();
  const first = { inputTokens: 9000, outputTokens: 1, cachedTokens: 0, ...(cacheWrites && { cacheWrites }) };
  expect(watch.compareUsage(first, { model: "m", tools: TOOLS, at: 0 }, 1000)).toEqual({});
  watch.applyEvent({ type: "usage", usage: first });
  const usage = { inputTokens: 9500, outputTokens: 1, cachedTokens: 0, ...more };
  return watch.compareUsage(usage, { model: "m", tools: TOOLS.slice(), at: 1000 + minutes * MINUTE })
    .cacheMiss;
}

describe("P29 a cache that is read no more", () => {
  it.each([
    ["five minutes are over", 6, { tokens: 9000, hour: 0 }],
    ["an hour is over", 61, { tokens: 9000, hour: 9000 }],
  ])("is the pause's doing where %s", (_how, minutes, writes) => {
    expect(missAfter(minutes, writes)).toEqual({ tokens: 9000, reason: "pause" });
  });

  it.each([
    ["five minutes are not over", 4, { tokens: 9000, hour: 0 }],
    ["an hour is not over", 59, { tokens: 9000, hour: 9000 }],
    ["nobody says how long it is kept", 600, { tokens: 9000 }],
  ])("is not the pause's doing where %s", (_how, minutes, writes) => {
    expect(missAfter(minutes, writes)).toBeUndefined();
  });

  it("is no miss where most of it was read, or where it is hardly worth a word", () => {
    expect(missAfter(6, { tokens: 9000, hour: 0 }, { cachedTokens: 5000 })).toBeUndefined();
    expect(missAfter(6, { tokens: 900, hour: 0 })).toBeUndefined();
    expect(missAfter(6, { tokens: 9000, hour: 0 }, { inputTokens: 0 })).toBeUndefined();
  });

  it("is not known where nothing was cached before", () => {
    expect(missAfter(600, undefined)).toBeUndefined();
  });
});

describe("P29 an hour in the cache", () => {
  it.each([
    [100, 10_000, true],
    [766, 10_000, true],
    [767, 10_000, false],
    [9000, 10_000, false],
    [1, 1000, false],
  ])("%d new tokens of %d: %s", (news, all, pays) => {
    expect(isHourCacheCheaper(news, all)).toBe(pays);
  });
});
