import { RESPONSES_CALLS } from "./responses-calls.ts";
import {
  added,
  BOTH,
  CREATED,
  call,
  DONE,
  done,
  E,
  ended,
  HELLO,
  HELLO_AT,
  message,
  reasoning,
  summaryDelta,
  textDelta,
  usage,
} from "./responses-events.ts";
import { GLOB_JSON, READ_JSON, type Shape, shape } from "./shape.ts";

export const RESPONSES: readonly Shape[] = [
  shape("text in pieces", [CREATED, ...HELLO_AT(0), DONE], HELLO),
  shape(
    "in progress and parts between",
    [
      CREATED,
      E("in_progress"),
      E("content_part.added", { output_index: 0 }),
      ...HELLO_AT(0),
      E("content_part.done", { output_index: 0 }),
      DONE,
    ],
    HELLO,
  ),
  shape("deltas alone", [textDelta("Hel"), textDelta("lo"), DONE], HELLO),
  shape(
    "deltas without any place",
    [E("output_text.delta", { delta: "Hel" }), E("output_text.delta", { delta: "lo" }), DONE],
    HELLO,
  ),
  shape("items without deltas", [CREATED, done(0, message("Hello")), DONE], HELLO),
  shape(
    "output in the last event only",
    [CREATED, ended("completed", { output: [message("Hello")] })],
    HELLO,
  ),
  shape(
    "output once more in the last event",
    [CREATED, ...HELLO_AT(0), ended("completed", { output: [message("Hello")] })],
    HELLO,
  ),
  shape(
    "the response at once",
    [{ object: "response", status: "completed", output: [message("Hello")], usage }],
    HELLO,
  ),
  shape(
    "the response at once, with calls",
    [
      {
        object: "response",
        status: "completed",
        output: [call("A", "read_file", READ_JSON), call("B", "glob", GLOB_JSON)],
      },
    ],
    BOTH,
  ),
  shape(
    "two messages",
    [CREATED, textDelta("Hel", 0), done(0, message("Hel")), textDelta("lo", 1), done(1, message("lo")), DONE],
    HELLO,
  ),
  shape(
    "the whole text alone",
    [CREATED, E("output_text.done", { output_index: 0, text: "Hello" }), DONE],
    HELLO,
  ),
  shape("a response that was cancelled", [CREATED, textDelta("Hello"), ended("cancelled")], {
    ...HELLO,
    end: "server_error",
  }),
  shape("another name of the last event", [CREATED, ...HELLO_AT(0), ended("done")], HELLO),
  shape("a refusal as text", [CREATED, E("refusal.delta", { output_index: 0, delta: "Hello" }), DONE], HELLO),
  shape("P34 no last event", [CREATED, ...HELLO_AT(0)], HELLO),
  shape("[DONE] at the end", [CREATED, ...HELLO_AT(0), DONE, "[DONE]"], HELLO),
  shape("data after the end", [CREATED, ...HELLO_AT(0), DONE, textDelta("again")], HELLO),
  shape("no usage", [CREATED, ...HELLO_AT(0), E("completed", { response: { status: "completed" } })], HELLO),
  shape(
    "events of an unknown type",
    [
      CREATED,
      E("new_thing.delta", { delta: "x" }),
      { type: "keepalive", sequence_number: 2 },
      ...HELLO_AT(1),
      DONE,
    ],
    HELLO,
  ),
  shape(
    "an item of an unknown type",
    [
      CREATED,
      added(0, { id: "w", type: "web_search_call" }),
      done(0, { id: "w", type: "web_search_call" }),
      ...HELLO_AT(1),
      DONE,
    ],
    HELLO,
  ),
  shape(
    "a chunk that is no JSON among good ones",
    [CREATED, textDelta("Hel"), "{bad", textDelta("lo"), DONE],
    HELLO,
  ),
  shape("emoji and CJK", [CREATED, textDelta("漢字 "), textDelta("😀"), DONE], { text: "漢字 😀" }),
  shape(
    "a summary of the reasoning",
    [
      CREATED,
      added(0, reasoning([])),
      summaryDelta("h"),
      summaryDelta("m"),
      done(0, reasoning(["hm"], { encrypted_content: "x" })),
      ...HELLO_AT(1),
      DONE,
    ],
    { ...HELLO, thought: "hm" },
  ),
  shape(
    "two parts of a summary",
    [
      CREATED,
      summaryDelta("h"),
      E("reasoning_summary_part.added", { output_index: 0 }),
      summaryDelta("m"),
      ...HELLO_AT(1),
      DONE,
    ],
    { ...HELLO, thought: "h\n\nm" },
  ),
  shape("a summary without deltas", [CREATED, done(0, reasoning(["h", "m"])), ...HELLO_AT(1), DONE], {
    ...HELLO,
    thought: "h\n\nm",
  }),
  shape(
    "reasoning as text",
    [CREATED, E("reasoning_text.delta", { output_index: 0, delta: "hm" }), ...HELLO_AT(1), DONE],
    { ...HELLO, thought: "hm" },
  ),
  shape(
    "reasoning that is not shown",
    [CREATED, done(0, reasoning([], { encrypted_content: "x" })), ...HELLO_AT(1), DONE],
    HELLO,
  ),
  ...RESPONSES_CALLS,
];
