import { describe, expect, it } from "vitest";
import { PageCache } from "./page-cache.ts";

describe("the cache of pages", () => {
  it("keeps a page for 15 minutes", () => {
    let now = 0;
    const cache = new PageCache<string>(() => now);
    cache.set("a", "page", 4);
    now = 15 * 60_000 - 1;
    expect(cache.get("a")).toBe("page");
    now += 1;
    expect(cache.get("a")).toBeUndefined();
  });

  it("lets the oldest go when there are more than 32", () => {
    const cache = new PageCache<number>();
    for (let index = 0; index < 33; index += 1) cache.set(String(index), index, 1);
    expect([cache.get("0"), cache.get("1"), cache.get("32")]).toEqual([undefined, 1, 32]);
  });

  it("lets pages go when they are too large together, and never counts one twice", () => {
    const cache = new PageCache<string>();
    for (let turn = 0; turn < 5; turn += 1) cache.set("a", "a", 9_000_000);
    cache.set("b", "b", 9_000_000);
    expect([cache.get("a"), cache.get("b")]).toEqual(["a", "b"]);
    cache.set("c", "c", 9_000_000);
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([undefined, "b", "c"]);
    cache.set("huge", "huge", 90_000_000);
    expect(cache.get("huge")).toBeUndefined();
  });
});
