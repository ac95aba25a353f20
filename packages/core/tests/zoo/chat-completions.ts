import { GLOB, GLOB_JSON, READ, READ_JSON, type Shape, shape } from "./shape.ts";

const D = (delta: unknown, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const STOP = D({}, "stop");
const CALLED = D({}, "tool_calls");
const DONE = "[DONE]";
const text = (content: unknown, finish: string | null = null) => D({ content }, finish);
const piece = (fields: object, name: string | undefined, given: unknown) => ({
  ...fields,
  function: { ...(name === undefined ? {} : { name }), arguments: given },
});
const T = (...tool_calls: object[]) => D({ tool_calls });
const read = (fields: object, given: unknown = READ_JSON) => T(piece(fields, "read_file", given));
const glob = (fields: object, given: unknown = GLOB_JSON) => T(piece(fields, "glob", given));
const more = (fields: object, given: unknown) => T(piece(fields, undefined, given));
const usage = { prompt_tokens: 3, completion_tokens: 1 };
const BOTH = { calls: [READ, GLOB] };
const HELLO = { text: "Hello" };
const TAGGED = `<tool_call>\n{"name": "read_file", "arguments": ${READ_JSON}}\n</tool_call>`;
const FUNCTION = "<function=read_file>\n<parameter=path>\na.ts\n</parameter>\n</function>";
const letters = (whole: string) => [...whole].map((letter) => text(letter));

export const CHAT_COMPLETIONS: readonly Shape[] = [
  shape("text in pieces", [text("Hel"), text("lo"), STOP, DONE], HELLO),
  shape("a role first, then text", [D({ role: "assistant", content: "" }), text("Hello"), STOP, DONE], HELLO),
  shape("no [DONE]", [text("Hello"), STOP], HELLO),
  shape("no finish reason", [text("Hello")], HELLO),
  shape("an empty finish reason", [text("Hello", ""), DONE], HELLO),
  shape("a finish reason on the last text", [text("Hello", "stop"), DONE], HELLO),
  shape("usage in a chunk of its own", [text("Hello"), STOP, { choices: [], usage }, DONE], HELLO),
  shape("usage beside null choices", [text("Hello"), STOP, { choices: null, usage }], HELLO),
  shape("a chunk without choices first", [{ choices: [] }, text("Hello"), STOP], HELLO),
  shape("null content between", [text("Hel"), text(null), text("lo"), STOP], HELLO),
  shape("content as parts", [text([{ type: "text", text: "Hello" }]), STOP], HELLO),
  shape(
    "a message in the place of a delta",
    [{ choices: [{ message: { content: "Hello" }, finish_reason: "stop" }] }],
    HELLO,
  ),
  shape("a chunk in a list", [[text("Hello")], STOP], HELLO),
  shape("a chunk that is no JSON among good ones", [text("Hel"), "{bad", text("lo"), STOP, DONE], HELLO),
  shape("data after [DONE]", [text("Hello"), STOP, DONE, text("again")], HELLO),
  shape("emoji and CJK", [text("漢字 "), text("😀"), STOP], { text: "漢字 😀" }),
  shape("content as one part", [text({ type: "text", text: "Hello" }), STOP], HELLO),
  shape("text in the place of a delta", [{ choices: [{ text: "Hello", finish_reason: "stop" }] }], HELLO),
  shape("a refusal as text", [D({ refusal: "Hello" }), STOP], HELLO),
  shape("reasoning_content", [D({ reasoning_content: "hm" }), text("Hello"), STOP], {
    ...HELLO,
    thought: "hm",
  }),
  shape("reasoning", [D({ reasoning: "hm", content: null }), text("Hello"), STOP], {
    ...HELLO,
    thought: "hm",
  }),
  shape("reasoning then calls", [D({ reasoning_content: "hm" }), read({ index: 0, id: "A" }), CALLED], {
    thought: "hm",
    calls: [READ],
  }),
  shape(
    "two calls by index",
    [
      read({ index: 0, id: "A" }, '{"path":'),
      more({ index: 0 }, '"a.ts"}'),
      glob({ index: 1, id: "B" }),
      CALLED,
      DONE,
    ],
    BOTH,
  ),
  shape("index 0 on all", [read({ index: 0, id: "A" }), glob({ index: 0, id: "B" }), CALLED], BOTH),
  shape("no index", [read({ id: "A" }), glob({ id: "B" }), CALLED], BOTH),
  shape("no index and no id", [read({}), glob({}), CALLED], BOTH),
  shape("counted from one", [read({ index: 1, id: "A" }), glob({ index: 2, id: "B" }), CALLED], BOTH),
  shape(
    "an index that is text",
    [read({ index: "0", id: "A" }), glob({ index: "1", id: "B" }), CALLED],
    BOTH,
  ),
  shape(
    "index on the first piece only",
    [read({ index: 0, id: "A" }, '{"path":'), more({}, '"a.ts"}'), CALLED],
    { calls: [READ] },
  ),
  shape("null ids", [read({ index: 0, id: null }), glob({ index: 1, id: null }), CALLED], BOTH),
  shape("ids that are numbers", [read({ index: 0, id: 1 }), glob({ index: 1, id: 2 }), CALLED], BOTH),
  shape("one id for both", [read({ index: 0, id: "A" }), glob({ index: 1, id: "A" }), CALLED], BOTH),
  shape(
    "the id comes late",
    [read({ index: 0 }, '{"path":'), T({ index: 0, id: "A", function: { arguments: '"a.ts"}' } }), CALLED],
    { calls: [READ] },
  ),
  shape(
    "the name comes late",
    [T({ index: 0, id: "A", function: { arguments: "" } }), read({ index: 0 }), CALLED],
    { calls: [READ] },
  ),
  shape(
    "interleaved",
    [
      read({ index: 0, id: "A" }, '{"pa'),
      glob({ index: 1, id: "B" }, '{"pat'),
      more({ index: 0 }, 'th":"a.ts"}'),
      more({ index: 1 }, 'tern":"*.ts"}'),
      CALLED,
    ],
    BOTH,
  ),
  shape(
    "both in one chunk",
    [
      T(
        piece({ index: 0, id: "A" }, "read_file", READ_JSON),
        piece({ index: 1, id: "B" }, "glob", GLOB_JSON),
      ),
      CALLED,
    ],
    BOTH,
  ),
  shape("arguments as an object", [read({ index: 0, id: "A" }, { path: "a.ts" }), CALLED], { calls: [READ] }),
  shape("arguments encoded twice", [read({ index: 0, id: "A" }, JSON.stringify(READ_JSON)), CALLED], {
    calls: [READ],
  }),
  shape("an empty object first", [read({ index: 0, id: "A" }, "{}"), more({ index: 0 }, READ_JSON), CALLED], {
    calls: [READ],
  }),
  shape(
    "the whole once more at the end",
    [
      read({ index: 0, id: "A" }, '{"path":'),
      more({ index: 0 }, '"a.ts"}'),
      read({ index: 0, id: "A" }),
      CALLED,
    ],
    { calls: [READ] },
  ),
  shape(
    "id and name on every piece",
    [read({ index: 0, id: "A" }, '{"path":'), read({ index: 0, id: "A" }, '"a.ts"}'), CALLED],
    { calls: [READ] },
  ),
  shape(
    "a new id on every piece",
    [read({ index: 0, id: "A" }, ""), T({ index: 0, id: "X", function: { arguments: READ_JSON } }), CALLED],
    { calls: [READ] },
  ),
  shape("no arguments", [T(piece({ index: 0, id: "A" }, "ls", "")), CALLED], { calls: [["ls", {}]] }),
  shape("null arguments", [T(piece({ index: 0, id: "A" }, "ls", null)), CALLED], { calls: [["ls", {}]] }),
  shape("a call that ends in stop", [read({ index: 0, id: "A" }), STOP], { calls: [READ] }),
  shape("text, then a call", [text("Hello"), read({ index: 0, id: "A" }), CALLED], {
    ...HELLO,
    calls: [READ],
  }),
  shape("a call, then text", [read({ index: 0, id: "A" }), text("Hello"), CALLED], {
    ...HELLO,
    calls: [READ],
  }),
  shape("arguments cut by the limit", [read({ index: 0, id: "A" }, '{"path":"a'), D({}, "length")], {
    calls: [["read_file", "output limit"]],
    end: "length",
  }),
  shape(
    "a piece of the arguments lost",
    [read({ index: 0, id: "A" }, '{"path":"a'), "{bad", more({ index: 0 }, 'b"}'), CALLED],
    { calls: [["read_file", "lost"]] },
  ),
  shape("arguments that are no JSON", [read({ index: 0, id: "A" }, "{'path': 1}"), CALLED], {
    calls: [["read_file", "not valid JSON"]],
  }),
  shape("text cut by the limit", [text("Hello"), D({}, "length")], { ...HELLO, end: "length" }),
  shape("P15 a call in tags, letter by letter", [...letters(`I look.\n${TAGGED}`), STOP], {
    text: "I look.\n",
    calls: [READ],
  }),
  shape(
    "P15 two calls in tags",
    [text(`${TAGGED}\n${TAGGED.replace("read_file", "glob").replace(READ_JSON, GLOB_JSON)}`), STOP],
    BOTH,
  ),
  shape("P15 a closing tag forgotten", [text(TAGGED.replace("\n</tool_call>", "")), STOP], { calls: [READ] }),
  shape("P15 a function with parameters", [...letters(FUNCTION), STOP], { calls: [READ] }),
  shape("P15 a function in tags", [text(`<tool_call>\n${FUNCTION}\n</tool_call>`), STOP], { calls: [READ] }),
  shape("P15 bare JSON", [...letters(`{"name": "read_file", "parameters": ${READ_JSON}}`), STOP], {
    calls: [READ],
  }),
  shape(
    "P15 Mistral's brackets",
    [text(`[TOOL_CALLS][{"name": "read_file", "arguments": ${READ_JSON}}]`), STOP],
    { calls: [READ] },
  ),
  shape("P15 Mistral's newer brackets", [...letters(`[TOOL_CALLS]read_file[ARGS]${READ_JSON}`), STOP], {
    calls: [READ],
  }),
  shape("P15 the same inside a fence stays text", [text(`\`\`\`xml\n${TAGGED}\n\`\`\`\n`), STOP], {
    text: `\`\`\`xml\n${TAGGED}\n\`\`\`\n`,
  }),
  shape("P15 in backticks it stays text", [text("Write `<tool_call>` first."), STOP], {
    text: "Write `<tool_call>` first.",
  }),
  shape("P15 a tool that is not offered stays text", [text(TAGGED.replace("read_file", "rm")), STOP], {
    text: TAGGED.replace("read_file", "rm"),
  }),
  shape("P15 an answer in JSON stays text", [...letters('{"name": "Ada", "age": 36}'), STOP], {
    text: '{"name": "Ada", "age": 36}',
  }),
  shape("P15 written and made is made once", [text(TAGGED), read({ index: 0, id: "A" }), CALLED], {
    calls: [READ],
  }),
  shape("an error inside the stream", [{ error: { message: "boom", type: "server_error" } }], {
    end: "server_error",
  }),
  shape("an error that is only a sign", [{ error: true, message: "insufficient balance" }], { end: "quota" }),
  shape("an error after text", [text("Hello"), { error: { message: "slow down", code: 429 } }], {
    ...HELLO,
    end: "rate_limited",
  }),
  shape("a withheld reply", [text("Hello"), D({}, "content_filter")], { ...HELLO, end: "bad_reply" }),
  shape("P34 nothing at all", [DONE], { end: "bad_reply" }),
  shape("P34 usage only", [{ choices: [], usage }, DONE], { end: "bad_reply" }),
];
