import { readFileSync } from "node:fs";
import type { ModelEvent } from "@burin/contract/chat-model";
import { closeServers, raw, replyTo } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";

afterEach(closeServers);

/** How a service was seen to stream a reply, with the public thread where somebody showed it. */
interface PublicStream {
  readonly who: string;
  /** `owner/repository#thread` on GitHub, or the address of a recorded answer. */
  readonly at: string;
  readonly body: string;
  readonly text?: string;
  readonly thought?: string;
  readonly calls?: readonly (readonly [string, object])[];
  readonly usage?: object;
  /** `length`, or the type of the failure. */
  readonly end?: string;
}

const STREAMS = readFileSync(new URL("./public-streams.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as PublicStream);

function textOf(events: readonly ModelEvent[], type: "text" | "thought"): string {
  return events.map((event) => (event.type === type ? event.text : "")).join("");
}

describe("P10 what services were seen to stream is read as what it means:", () => {
  it.each(STREAMS)("$who ($at)", async ({ body, text = "", thought = "", calls = [], usage, end }) => {
    const events = await replyTo(raw(body));
    expect(textOf(events, "text")).toBe(text);
    expect(textOf(events, "thought")).toBe(thought);
    const made = events.flatMap((event) => (event.type === "function_call" ? [event.call] : []));
    expect(made.map(({ name, args }) => [name, args])).toEqual(calls);
    if (usage) expect(events.find((event) => event.type === "usage")).toMatchObject({ usage });
    const last = events.at(-1);
    const isFailure = end !== undefined && end !== "length";
    expect(last).toMatchObject(isFailure ? { error: { type: end } } : { type: "end", reason: end ?? "stop" });
  });
});
