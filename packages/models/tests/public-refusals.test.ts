import { readFileSync } from "node:fs";
import { ask, closeServers, findFailure, raw, serve, sse } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";

afterEach(closeServers);

/** What a service was seen to answer, with the public thread or the page that shows it; long texts are cut. */
interface PublicRefusal {
  readonly who: string;
  /** `owner/repository#thread` on GitHub, or the address of a recorded answer or of the service's own table of errors. */
  readonly at: string;
  readonly status: number;
  readonly stream?: boolean;
  readonly body: unknown;
  readonly is: string;
  readonly passes?: boolean;
  readonly window?: number;
  readonly says?: string;
}

const REFUSALS = readFileSync(new URL("./public-refusals.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as PublicRefusal);

describe("P35 what services were seen to answer is read as what it means:", () => {
  it.each(REFUSALS)("$who ($at)", async ({ status, stream = false, body, is, passes, window, says = "" }) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const answer = stream ? sse(text) : text;
    // Again and again: what can be learned from it changes nothing here.
    const { baseUrl } = await serve(...Array.from({ length: 12 }, () => raw(answer, { status })));
    const failure = findFailure(await ask({ baseUrl, apiKey: "sk-a-long-key" }));
    expect(failure).toMatchObject({ type: is });
    expect(failure.isPassing ?? false).toBe(passes ?? false);
    expect(failure.contextWindow).toBe(window);
    expect(failure.message).toContain(says);
  });
});
