import { GLOB, GLOB_JSON, READ, READ_JSON, type Shape, shape } from "./shape.ts";

const START = {
  type: "message_start",
  message: { id: "m", role: "assistant", content: [], usage: { input_tokens: 3, output_tokens: 1 } },
};
const PING = { type: "ping" };
const STOP = { type: "message_stop" };
const begin = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, fields: object) => ({ type: "content_block_delta", index, delta: fields });
const close = (index: number) => ({ type: "content_block_stop", index });
const end = (stop_reason: string | null, usage: object = { output_tokens: 5 }) => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  usage,
});
const FINE = [end("end_turn"), STOP];
const CALLED = [end("tool_use"), STOP];
const textAt = (index: number, ...pieces: string[]) => [
  begin(index, { type: "text", text: "" }),
  ...pieces.map((text) => delta(index, { type: "text_delta", text })),
  close(index),
];
const HELLO_AT = (index: number) => textAt(index, "Hel", "lo");
const callAt = (index: number, [id, name]: [unknown, string], ...pieces: string[]) => [
  begin(index, { type: "tool_use", id, name, input: {} }),
  ...pieces.map((partial_json) => delta(index, { type: "input_json_delta", partial_json })),
  close(index),
];
const readAt = (index: number, id: unknown = "A", ...pieces: string[]) =>
  callAt(index, [id, "read_file"], ...(pieces.length > 0 ? pieces : [READ_JSON]));
const globAt = (index: number, id: unknown = "B") => callAt(index, [id, "glob"], GLOB_JSON);
const thinkingAt = (index: number, ...pieces: string[]) => [
  begin(index, { type: "thinking", thinking: "", signature: "" }),
  ...pieces.map((thinking) => delta(index, { type: "thinking_delta", thinking })),
  delta(index, { type: "signature_delta", signature: "c2ln" }),
  close(index),
];
const HELLO = { text: "Hello" };
const BOTH = { calls: [READ, GLOB] };
const TOOL = { type: "tool_use", id: "A", name: "read_file" };

export const ANTHROPIC: readonly Shape[] = [
  shape("text in pieces", [START, ...HELLO_AT(0), ...FINE], HELLO),
  shape(
    "pings between",
    [
      START,
      PING,
      begin(0, { type: "text", text: "" }),
      PING,
      delta(0, { type: "text_delta", text: "Hello" }),
      PING,
      close(0),
      ...FINE,
    ],
    HELLO,
  ),
  shape(
    "text in the start of the block",
    [START, begin(0, { type: "text", text: "Hello" }), close(0), ...FINE],
    HELLO,
  ),
  shape(
    "a call's arguments at once, as text",
    [
      START,
      begin(0, { type: "tool_use", id: "A", name: "read_file", input: READ_JSON }),
      close(0),
      ...CALLED,
    ],
    { calls: [READ] },
  ),
  shape("two blocks of text", [START, ...textAt(0, "Hel"), ...textAt(1, "lo"), ...FINE], HELLO),
  shape("no start of the message", [...HELLO_AT(0), ...FINE], HELLO),
  shape(
    "no start of the block",
    [START, delta(0, { type: "text_delta", text: "Hello" }), close(0), ...FINE],
    HELLO,
  ),
  shape(
    "no stop of the block",
    [START, begin(0, { type: "text", text: "" }), delta(0, { type: "text_delta", text: "Hello" }), ...FINE],
    HELLO,
  ),
  shape("P34 no message_stop", [START, ...HELLO_AT(0), end("end_turn")], HELLO),
  shape("P34 no reason and no stop", [START, ...HELLO_AT(0)], HELLO),
  shape("a null reason", [START, ...HELLO_AT(0), end(null), STOP], HELLO),
  shape("a stop sequence", [START, ...HELLO_AT(0), end("stop_sequence"), STOP], HELLO),
  shape("a reason that is new", [START, ...HELLO_AT(0), end("done_for_today"), STOP], HELLO),
  shape(
    "usage at the end only",
    [{ ...START, message: {} }, ...HELLO_AT(0), end("end_turn", { input_tokens: 3, output_tokens: 5 }), STOP],
    HELLO,
  ),
  shape(
    "no usage",
    [
      { type: "message_start", message: {} },
      ...HELLO_AT(0),
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      STOP,
    ],
    HELLO,
  ),
  shape(
    "events of an unknown type",
    [START, { type: "new_thing", index: 7 }, ...HELLO_AT(0), ...FINE],
    HELLO,
  ),
  shape(
    "a delta of an unknown type",
    [START, ...HELLO_AT(0), delta(0, { type: "citations_delta", citation: {} }), ...FINE],
    HELLO,
  ),
  shape(
    "a block of an unknown type",
    [
      START,
      begin(0, { type: "server_tool_use", id: "s", name: "web", input: {} }),
      delta(0, { type: "note" }),
      close(0),
      ...HELLO_AT(1),
      ...FINE,
    ],
    HELLO,
  ),
  shape("[DONE] at the end", [START, ...HELLO_AT(0), ...FINE, "[DONE]"], HELLO),
  shape("data after the stop", [START, ...HELLO_AT(0), ...FINE, ...textAt(1, "again")], HELLO),
  shape(
    "a chunk that is no JSON among good ones",
    [START, ...textAt(0, "Hel"), "{bad", ...textAt(1, "lo"), ...FINE],
    HELLO,
  ),
  shape("emoji and CJK", [START, ...textAt(0, "漢字 ", "😀"), ...FINE], { text: "漢字 😀" }),
  shape(
    "the message at once",
    [{ type: "message", content: [{ type: "text", text: "Hello" }], stop_reason: "end_turn", usage: {} }],
    HELLO,
  ),
  shape(
    "the message at once, with calls",
    [
      {
        type: "message",
        content: [
          { ...TOOL, input: READ[1] },
          { ...TOOL, id: "B", name: "glob", input: GLOB[1] },
        ],
        stop_reason: "tool_use",
      },
    ],
    BOTH,
  ),
  shape("thinking and its signature", [START, ...thinkingAt(0, "h", "m"), ...HELLO_AT(1), ...FINE], {
    ...HELLO,
    thought: "hm",
  }),
  shape(
    "thinking without a signature",
    [START, begin(0, { type: "thinking", thinking: "hm" }), close(0), ...HELLO_AT(1), ...FINE],
    { ...HELLO, thought: "hm" },
  ),
  shape("thinking that is not shown", [START, ...thinkingAt(0), ...HELLO_AT(1), ...FINE], HELLO),
  shape(
    "thinking that is encrypted",
    [START, begin(0, { type: "redacted_thinking", data: "eA==" }), close(0), ...HELLO_AT(1), ...FINE],
    HELLO,
  ),
  shape("a call in pieces", [START, ...readAt(0, "A", "", '{"pa', 'th":', '"a.ts"}'), ...CALLED], {
    calls: [READ],
  }),
  shape("two calls", [START, ...readAt(0), ...globAt(1), ...CALLED], BOTH),
  shape("text and two calls", [START, ...HELLO_AT(0), ...readAt(1), ...globAt(2), ...CALLED], {
    ...HELLO,
    ...BOTH,
  }),
  shape("thinking and a call", [START, ...thinkingAt(0, "hm"), ...readAt(1), ...CALLED], {
    thought: "hm",
    calls: [READ],
  }),
  shape("text behind a call", [START, ...readAt(0), ...HELLO_AT(1), ...CALLED], { ...HELLO, calls: [READ] }),
  shape(
    "interleaved blocks",
    [
      START,
      begin(0, TOOL),
      begin(1, { ...TOOL, id: "B", name: "glob" }),
      delta(0, { type: "input_json_delta", partial_json: READ_JSON }),
      delta(1, { type: "input_json_delta", partial_json: GLOB_JSON }),
      close(0),
      close(1),
      ...CALLED,
    ],
    BOTH,
  ),
  shape(
    "the input in the start of the block",
    [START, begin(0, { ...TOOL, input: READ[1] }), close(0), ...CALLED],
    { calls: [READ] },
  ),
  shape("no input", [START, ...callAt(0, ["A", "ls"]), ...CALLED], { calls: [["ls", {}]] }),
  shape("an empty object as input", [START, ...callAt(0, ["A", "ls"], "{}"), ...CALLED], {
    calls: [["ls", {}]],
  }),
  shape("one index for both", [START, ...readAt(0), ...globAt(0), ...CALLED], BOTH),
  shape("one id for both", [START, ...readAt(0, "A"), ...globAt(1, "A"), ...CALLED], BOTH),
  shape("no ids", [START, ...readAt(0, null), ...globAt(1, null), ...CALLED], BOTH),
  shape("a call that ends the turn", [START, ...readAt(0), ...FINE], { calls: [READ] }),
  shape("a call and no end", [START, ...readAt(0)], { calls: [READ] }),
  shape("the input cut by the limit", [START, ...readAt(0, "A", '{"path":"a'), end("max_tokens"), STOP], {
    calls: [["read_file", "output limit"]],
    end: "length",
  }),
  shape("the input cut by the window", [START, begin(0, TOOL), end("model_context_window_exceeded"), STOP], {
    calls: [["read_file", "output limit"]],
    end: "length",
  }),
  shape(
    "the input cut with the stream",
    [START, begin(0, TOOL), delta(0, { type: "input_json_delta", partial_json: '{"path"' })],
    { calls: [["read_file", "broke off"]] },
  ),
  shape(
    "a piece of the input lost",
    [
      START,
      begin(0, TOOL),
      delta(0, { type: "input_json_delta", partial_json: '{"path":"a' }),
      "{bad",
      delta(0, { type: "input_json_delta", partial_json: 'b"}' }),
      close(0),
      ...CALLED,
    ],
    { calls: [["read_file", "lost"]] },
  ),
  shape("text cut by the limit", [START, ...HELLO_AT(0), end("max_tokens"), STOP], {
    ...HELLO,
    end: "length",
  }),
  shape("a refusal", [START, ...HELLO_AT(0), end("refusal"), STOP], { ...HELLO, end: "bad_reply" }),
  shape(
    "overload at the start",
    [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
    { end: "server_error" },
  ),
  shape(
    "overload after text",
    [START, ...HELLO_AT(0), { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
    { ...HELLO, end: "server_error" },
  ),
  shape(
    "a rate limit inside the stream",
    [START, { type: "error", error: { type: "rate_limit_error", message: "slow" } }],
    { end: "rate_limited" },
  ),
  shape(
    "a wrong key inside the stream",
    [{ type: "error", error: { type: "authentication_error", message: "no" } }],
    { end: "unauthorized" },
  ),
  shape(
    "no call of a reply that failed",
    [START, ...readAt(0), { type: "error", error: { type: "api_error", message: "boom" } }],
    { end: "server_error" },
  ),
  shape("P34 nothing at all", [START, STOP], { end: "bad_reply" }),
  shape("P34 a call was promised", [START, ...CALLED], { end: "bad_reply" }),
  shape("P34 an empty turn that is properly ended", [START, ...FINE], {}),
];
