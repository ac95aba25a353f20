import { readFileSync } from "node:fs";
import type { ModelEvent } from "@burin/contract/chat-model";
import type { ModelProvider } from "@burin/contract/settings/settings";
import { closeServers, findFailure, raw, readAll, serve } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openModel } from "../src/choice/open-model.ts";

afterEach(closeServers);

/** How a service was seen to stream a reply, with the public thread or the recording that shows it. */
interface PublicStream {
  readonly who: string;
  /** `owner/repository#thread` on GitHub, or the address of a recorded answer. */
  readonly at: string;
  readonly provider?: ModelProvider;
  readonly body: string;
  readonly text?: string;
  readonly thought?: string;
  readonly calls?: readonly (readonly [string, object])[];
  readonly usage?: object;
  /** Why the arguments of a call cannot be read. */
  readonly lost?: string;
  /** How many thoughts are signed. */
  readonly signatures?: number;
  /** What the user is told of it. */
  readonly notice?: string;
  /** `length`, or the type of the failure. */
  readonly end?: string;
  readonly passes?: boolean;
  readonly window?: number;
  readonly says?: string;
}

const STREAMS = readFileSync(new URL("./public-streams.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as PublicStream);

/** The events of the reply to a model that is offered the tools which the stream calls. */
async function eventsOf({ provider = "openai", body, calls = [] }: PublicStream): Promise<ModelEvent[]> {
  const { baseUrl } = await serve(raw(body));
  const model = openModel({ provider, name: "m", baseUrl });
  const names = new Set(calls.map(([name]) => name));
  const tools = [...names].map((name) => ({
    name,
    description: "",
    parameters: { type: "object" } as const,
  }));
  return readAll(model, { tools });
}

function textOf(events: readonly ModelEvent[], type: "text" | "thought"): string {
  let text = "";
  for (const event of events) {
    // What came so far was no answer.
    if (event.type === "thought" && event.takesText && type === "text") text = "";
    if (event.type === type) text += event.text;
  }
  return text;
}

describe("P10 what services were seen to stream is read as what it means:", () => {
  it.each(STREAMS)("$who ($at)", async (stream) => {
    const { text = "", thought = "", calls = [], usage, signatures, lost, end, notice } = stream;
    const events = await eventsOf(stream);
    expect(textOf(events, "text")).toBe(text);
    expect(textOf(events, "thought")).toBe(thought);
    const made = events.flatMap((event) => (event.type === "function_call" ? [event.call] : []));
    expect(made.map(({ name, args }) => [name, args])).toEqual(calls);
    expect(made.flatMap(({ argsError }) => argsError ?? []).join()).toMatch(lost ? new RegExp(lost) : /^$/);
    if (usage) expect(events.find((event) => event.type === "usage")).toMatchObject({ usage });
    const signed = events.filter((event) => event.type === "thought" && event.signature !== undefined);
    if (signatures !== undefined) expect(signed).toHaveLength(signatures);
    const told = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
    if (notice !== undefined) expect(told.join()).toContain(notice);
    if (end === undefined || end === "length") {
      expect(events.at(-1)).toMatchObject({ type: "end", reason: end ?? "stop" });
      return;
    }
    const failure = findFailure(events);
    expect(failure).toMatchObject({ type: end });
    if (stream.passes !== undefined) expect(failure.isPassing ?? false).toBe(stream.passes);
    expect(failure.contextWindow).toBe(stream.window);
    expect(failure.message).toContain(stream.says ?? "");
  });
});
