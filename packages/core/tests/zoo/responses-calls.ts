import {
  added,
  argsDelta,
  BOTH,
  CREATED,
  call,
  callAt,
  DONE,
  done,
  E,
  ended,
  globAt,
  HELLO,
  HELLO_AT,
  readAt,
  reasoning,
} from "./responses-events.ts";
import { GLOB_JSON, READ, READ_JSON, type Shape, shape } from "./shape.ts";

export const RESPONSES_CALLS: readonly Shape[] = [
  shape(
    "reasoning and a call",
    [CREATED, done(0, reasoning(["hm"], { encrypted_content: "x" })), ...readAt(1), DONE],
    { thought: "hm", calls: [READ] },
  ),
  shape("a call in pieces", [CREATED, ...readAt(0), DONE], { calls: [READ] }),
  shape("two calls", [CREATED, ...readAt(0), ...globAt(1), DONE], BOTH),
  shape("text and two calls", [CREATED, ...HELLO_AT(0), ...readAt(1), ...globAt(2), DONE], {
    ...HELLO,
    ...BOTH,
  }),
  shape(
    "interleaved calls",
    [
      CREATED,
      added(0, call("A", "read_file", "")),
      added(1, call("B", "glob", "")),
      argsDelta(0, '{"path":'),
      argsDelta(1, GLOB_JSON),
      argsDelta(0, '"a.ts"}'),
      DONE,
    ],
    BOTH,
  ),
  shape(
    "calls by item id, without a position",
    [
      CREATED,
      E("output_item.added", { item: call("A", "read_file", "") }),
      E("function_call_arguments.delta", { item_id: "fc_A", delta: READ_JSON }),
      E("output_item.done", { item: call("A", "read_file", READ_JSON) }),
      DONE,
    ],
    { calls: [READ] },
  ),
  shape(
    "whole calls without deltas",
    [CREATED, done(0, call("A", "read_file", READ_JSON)), done(1, call("B", "glob", GLOB_JSON)), DONE],
    BOTH,
  ),
  shape(
    "calls in the last event only",
    [
      CREATED,
      ended("completed", { output: [call("A", "read_file", READ_JSON), call("B", "glob", GLOB_JSON)] }),
    ],
    BOTH,
  ),
  shape(
    "no done for the arguments",
    [CREATED, added(0, call("A", "read_file", "")), argsDelta(0, READ_JSON), DONE],
    { calls: [READ] },
  ),
  shape(
    "arguments done, the item not",
    [
      CREATED,
      added(0, call("A", "read_file", "")),
      E("function_call_arguments.done", { output_index: 0, arguments: READ_JSON }),
      DONE,
    ],
    { calls: [READ] },
  ),
  shape("arguments as an object", [CREATED, done(0, call("A", "read_file", READ[1])), DONE], {
    calls: [READ],
  }),
  shape("arguments at the start", [CREATED, added(0, call("A", "read_file", READ_JSON)), DONE], {
    calls: [READ],
  }),
  shape("no arguments", [CREATED, ...callAt(0, ["A", "ls"], ""), DONE], { calls: [["ls", {}]] }),
  shape("an empty object as arguments", [CREATED, ...callAt(0, ["A", "ls"], "{}"), DONE], {
    calls: [["ls", {}]],
  }),
  shape("one id for both", [CREATED, ...readAt(0, "A"), ...globAt(1, "A"), DONE], BOTH),
  shape("no call ids", [CREATED, ...readAt(0, undefined), ...globAt(1, undefined), DONE], BOTH),
  shape("a whole call and no last event", [CREATED, ...readAt(0)], { calls: [READ] }),
  shape(
    "a call cut by the limit",
    [
      CREATED,
      added(0, call("A", "read_file", "")),
      argsDelta(0, '{"path":"a'),
      ended("incomplete", { incomplete_details: { reason: "max_output_tokens" } }),
    ],
    { calls: [["read_file", "output limit"]], end: "length" },
  ),
  shape(
    "a call cut with the stream",
    [CREATED, added(0, call("A", "read_file", "")), argsDelta(0, '{"path"')],
    { calls: [["read_file", "broke off"]] },
  ),
  shape(
    "a piece of the arguments lost",
    [
      CREATED,
      added(0, call("A", "read_file", "")),
      argsDelta(0, '{"path":"a'),
      "{bad",
      argsDelta(0, 'b"}'),
      DONE,
    ],
    { calls: [["read_file", "lost"]] },
  ),
  shape(
    "a lost piece that the whole makes good",
    [
      CREATED,
      added(0, call("A", "read_file", "")),
      argsDelta(0, '{"path"'),
      "{bad",
      done(0, call("A", "read_file", READ_JSON)),
      DONE,
    ],
    { calls: [READ] },
  ),
  shape("arguments that are no JSON", [CREATED, ...callAt(0, ["A", "read_file"], "{'path': 1}"), DONE], {
    calls: [["read_file", "not valid JSON"]],
  }),
  shape(
    "text cut by the limit",
    [CREATED, ...HELLO_AT(0), ended("incomplete", { incomplete_details: { reason: "max_output_tokens" } })],
    { ...HELLO, end: "length" },
  ),
  shape(
    "withheld",
    [CREATED, ...HELLO_AT(0), ended("incomplete", { incomplete_details: { reason: "content_filter" } })],
    { ...HELLO, end: "bad_reply" },
  ),
  shape("failed", [CREATED, ended("failed", { error: { code: "server_error", message: "boom" } })], {
    end: "server_error",
  }),
  shape(
    "failed by the rate",
    [CREATED, ended("failed", { error: { code: "rate_limit_exceeded", message: "slow" } })],
    { end: "rate_limited" },
  ),
  shape(
    "failed by the request",
    [CREATED, ended("failed", { error: { code: "context_length_exceeded", message: "long" } })],
    { end: "context_length" },
  ),
  shape("an error event", [CREATED, { type: "error", code: "server_error", message: "boom", param: null }], {
    end: "server_error",
  }),
  shape(
    "an error event with an inner error",
    [{ type: "error", error: { type: "invalid_request_error", message: "no" } }],
    { end: "bad_request" },
  ),
  shape(
    "no call of a reply that failed",
    [CREATED, ...readAt(0), ended("failed", { error: { message: "boom" } })],
    { end: "server_error" },
  ),
  shape("P34 nothing at all", [CREATED, DONE], { end: "bad_reply" }),
  shape("P34 only reasoning", [CREATED, done(0, reasoning(["hm"])), DONE], {
    thought: "hm",
    end: "bad_reply",
  }),
];
