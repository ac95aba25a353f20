import { GLOB, READ, type Shape, shape } from "./shape.ts";

const candidate = (parts: unknown, finishReason?: string) => ({
  content: { role: "model", parts },
  index: 0,
  ...(finishReason ? { finishReason } : {}),
});
const C = (parts: unknown, finishReason?: string) => ({ candidates: [candidate(parts, finishReason)] });
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 };
const T = (text: string, more: object = {}) => ({ text, ...more });
const call = ([name, args]: readonly [string, unknown], more: object = {}) => ({
  functionCall: { name, args, ...more },
});
const HELLO = { text: "Hello" };
const BOTH = { calls: [READ, GLOB] };
const END = { candidates: [{ finishReason: "STOP", index: 0 }], usageMetadata };
const SIGNED = { thoughtSignature: "c2ln" };

export const GEMINI: readonly Shape[] = [
  shape("text in pieces", [C([T("Hel")]), C([T("lo")], "STOP")], HELLO),
  shape("several parts in a chunk", [C([T("Hel"), T("lo")], "STOP")], HELLO),
  shape("the reason in a chunk of its own", [C([T("Hello")]), END], HELLO),
  shape("an empty text at the end", [C([T("Hello")]), C([T("")], "STOP")], HELLO),
  shape(
    "usage in each chunk",
    [
      { ...C([T("Hel")]), usageMetadata },
      { ...C([T("lo")], "STOP"), usageMetadata },
    ],
    HELLO,
  ),
  shape("usage in a chunk of its own", [C([T("Hello")], "STOP"), { usageMetadata }], HELLO),
  shape("P34 no reason", [C([T("Hello")])], HELLO),
  shape("the reason is not specified", [C([T("Hello")], "FINISH_REASON_UNSPECIFIED")], HELLO),
  shape("the reason is other, with text", [C([T("Hello")], "OTHER")], HELLO),
  shape(
    "no parts at the end",
    [C([T("Hello")]), { candidates: [{ content: { role: "model" }, finishReason: "STOP" }] }],
    HELLO,
  ),
  shape("no content at the end", [C([T("Hello")]), { candidates: [{ finishReason: "STOP" }] }], HELLO),
  shape("empty candidates first", [{ candidates: [], usageMetadata }, C([T("Hello")], "STOP")], HELLO),
  shape("text after the reason", [C([T("Hel")], "STOP"), C([T("lo")], "STOP")], HELLO),
  shape("[DONE] at the end", [C([T("Hello")], "STOP"), "[DONE]", C([T("again")])], HELLO),
  shape("the whole stream as a list", [[C([T("Hel")]), C([T("lo")], "STOP")]], HELLO),
  shape("wrapped in a response", [{ response: C([T("Hel")]) }, { response: C([T("lo")], "STOP") }], HELLO),
  shape(
    "grounding and ratings beside it",
    [
      {
        candidates: [{ ...candidate([T("Hello")], "STOP"), safetyRatings: [], groundingMetadata: {} }],
        modelVersion: "x",
        responseId: "y",
      },
    ],
    HELLO,
  ),
  shape("a part of an unknown kind", [C([{ executableCode: { code: "1" } }, T("Hello")], "STOP")], HELLO),
  shape("a chunk that is no JSON among good ones", [C([T("Hel")]), "{bad", C([T("lo")], "STOP")], HELLO),
  shape("emoji and CJK", [C([T("漢字 ")]), C([T("😀")], "STOP")], { text: "漢字 😀" }),
  shape("a thought", [C([T("hm", { thought: true })]), C([T("Hello")], "STOP")], { ...HELLO, thought: "hm" }),
  shape(
    "a thought in pieces, with its signature",
    [C([T("h", { thought: true })]), C([T("m", { thought: true, ...SIGNED })]), C([T("Hello")], "STOP")],
    { ...HELLO, thought: "hm" },
  ),
  shape("a signature on the text", [C([T("Hello", SIGNED)], "STOP")], HELLO),
  shape("a signature on an empty text", [C([T("Hello")]), C([T("", SIGNED)], "STOP")], HELLO),
  shape("a call", [C([call(READ)], "STOP")], { calls: [READ] }),
  shape("two calls in a chunk", [C([call(READ), call(GLOB)], "STOP")], BOTH),
  shape("two calls in two chunks", [C([call(READ)]), C([call(GLOB)], "STOP")], BOTH),
  shape("two calls with ids", [C([call(READ, { id: "A" }), call(GLOB, { id: "B" })], "STOP")], BOTH),
  shape("one id for both", [C([call(READ, { id: "A" }), call(GLOB, { id: "A" })], "STOP")], BOTH),
  shape("the same call twice", [C([call(READ), call(READ)], "STOP")], { calls: [READ, READ] }),
  shape("the same call in two chunks", [C([call(READ)]), C([call(READ)], "STOP")], { calls: [READ, READ] }),
  shape("a signature on the first call", [C([{ ...call(READ), ...SIGNED }, call(GLOB)], "STOP")], BOTH),
  shape("a signature inside the call", [C([call(READ, SIGNED)], "STOP")], { calls: [READ] }),
  shape("text, then a call", [C([T("Hello")]), C([call(READ)], "STOP")], { ...HELLO, calls: [READ] }),
  shape("a call, then text", [C([call(READ), T("Hello")], "STOP")], { ...HELLO, calls: [READ] }),
  shape("a thought, then a call", [C([T("hm", { thought: true }), { ...call(READ), ...SIGNED }], "STOP")], {
    thought: "hm",
    calls: [READ],
  }),
  shape("no arguments", [C([{ functionCall: { name: "ls" } }], "STOP")], { calls: [["ls", {}]] }),
  shape("null arguments", [C([call(["ls", null])], "STOP")], { calls: [["ls", {}]] }),
  shape("arguments as text", [C([call(["read_file", '{"path":"a.ts"}'])], "STOP")], { calls: [READ] }),
  shape("a call and no reason", [C([call(READ)])], { calls: [READ] }),
  shape("a call without a name is none", [C([call(["", {}]), T("Hello")], "STOP")], HELLO),
  shape("a call beside the limit", [C([call(READ)], "MAX_TOKENS")], { calls: [READ], end: "length" }),
  shape("text cut by the limit", [C([T("Hello")], "MAX_TOKENS")], { ...HELLO, end: "length" }),
  shape(
    "thinking up to the limit",
    [C([T("hm", { thought: true })]), { candidates: [{ finishReason: "MAX_TOKENS" }], usageMetadata }],
    { thought: "hm", end: "length" },
  ),
  shape("withheld for safety", [C([T("Hello")], "SAFETY")], { ...HELLO, end: "bad_reply" }),
  shape("withheld as a recitation", [C([T("Hello")]), { candidates: [{ finishReason: "RECITATION" }] }], {
    ...HELLO,
    end: "bad_reply",
  }),
  shape("a prompt that is blocked", [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }], {
    end: "bad_reply",
  }),
  shape(
    "a call that failed to take form",
    [{ candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "x" }] }],
    { end: "bad_reply" },
  ),
  shape(
    "an error inside the stream",
    [{ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }],
    { end: "server_error" },
  ),
  shape("an error in a list", [[{ error: { code: 429, message: "slow", status: "RESOURCE_EXHAUSTED" } }]], {
    end: "rate_limited",
  }),
  shape(
    "an error after text",
    [C([T("Hello")]), { error: { code: 500, message: "boom", status: "INTERNAL" } }],
    { ...HELLO, end: "server_error" },
  ),
  shape("no call of a reply that failed", [C([call(READ)]), { error: { code: 500, message: "boom" } }], {
    end: "server_error",
  }),
  shape("P34 a stop with nothing said", [END], { end: "bad_reply" }),
  shape("P34 only an empty text", [C([T("")], "STOP")], { end: "bad_reply" }),
  shape("P34 usage only", [{ usageMetadata }], { end: "bad_reply" }),
];
