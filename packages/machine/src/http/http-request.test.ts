import { describe, expect, it } from "vitest";
import { httpRequest } from "./http-request.ts";

/** A link-local address without its link: the system refuses it at once, before the request has begun. */
const UNREACHABLE = ["fe80::1", "fe80::2"];

describe("a host that resolves, but cannot be reached", () => {
  it.each(["http:", "https:"])("fails the request, and nothing else: %s", async (protocol) => {
    for (const addresses of [UNREACHABLE, UNREACHABLE.slice(1)]) {
      const url = new URL(`${protocol}//unreachable.test/`);
      const answer = httpRequest({ url, method: "GET", headers: {}, addresses }, AbortSignal.timeout(20_000));
      await expect(answer).rejects.toThrow(/fe80::[12]|^$/);
    }
  });
});
