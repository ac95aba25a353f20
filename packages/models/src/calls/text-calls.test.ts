import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { repairArguments } from "./repair-arguments.ts";
import { isAlreadyInHistory } from "./repeated-call.ts";
import { MARKS, readWrittenCalls } from "./text-call-forms.ts";
import { TextCalls } from "./text-calls.ts";

const OFFERED = new Set(["ls", "cat"]);

/** Returns the shown text and the calls when the text arrives in these pieces. */
function played(pieces: readonly string[], { offered = OFFERED, isWhole = true } = {}) {
  const reader = new TextCalls(offered);
  const shown = pieces.map((piece) => reader.add(piece)).join("");
  const { text, calls } = reader.finishReply([], isWhole, new Set());
  return { text: shown + text, calls: calls.map(({ name, args }) => ({ name, args })) };
}

function cut(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((start, index) => text.slice(start, ends[index] ?? text.length));
}

const TOKENS = [
  "<tool_call>",
  "</tool_call>",
  "<function=ls>",
  "<function=rm>",
  "</function>",
  "<parameter=path>",
  "</parameter>",
  "[TOOL_CALLS]",
  "[ARGS]",
  "<tool_calls>",
  "</tool_calls>",
  '<invoke name="ls">',
  '<parameter name="path">',
  "</invoke>",
  "<｜DSML｜tool_calls>",
  '<｜DSML｜invoke name="ls">',
  '<｜DSML｜parameter name="path" string="true">',
  "</｜DSML｜parameter>",
  "</｜DSML｜invoke>",
  "<|tool_calls_section_begin|>",
  "<|tool_call_begin|>",
  "functions.ls:0<|tool_call_argument_begin|>",
  "<｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n",
  "<|tool_call_end|>",
  "<|python_tag|>",
  "<|channel|>commentary to=functions.ls <|constrain|>json<|message|>",
  "<|call|>",
  '<|tool_call>call:ls{path:<|"|>',
  '<|"|>}<tool_call|>',
  "<arg_key>path</arg_key>",
  "<arg_value>",
  "</arg_value>",
  '{"name":"ls","arguments":{"path":"a"}}',
  '{"name": "rm", "arguments": {}}',
  "[ls(path='a')",
  ', cat(n=1, deep={"b": [True]})]',
  "(",
  ")",
  "<|python_start|>",
  '{"a":1}',
  "```",
  "~~~",
  "`",
  "\n",
  "\n\n",
  " ",
  "{",
  "}",
  "[",
  "]",
  '"',
  "ls",
  "text",
  "<",
  "<tool",
  "😀",
] as const;
const texts = fc.array(fc.constantFrom(...TOKENS), { maxLength: 14 }).map((tokens) => tokens.join(""));
const places = fc.array(fc.nat(200), { maxLength: 12 });

describe("P15 calls in the text", () => {
  it("a text that calls nothing that is offered comes out as it went in, however it is cut", () => {
    fc.assert(
      fc.property(texts, places, (text, where) => {
        expect(played(cut(text, where), { offered: new Set(["other"]) })).toEqual({ text, calls: [] });
        expect(played(cut(text, where), { offered: new Set() })).toEqual({ text, calls: [] });
      }),
      { numRuns: 1000 },
    );
  });

  it("what is shown and called does not depend on how the text is cut", () => {
    fc.assert(
      fc.property(texts, places, (text, where) => {
        expect(played(cut(text, where))).toEqual(played([text]));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    "[TOOL_CALLS]ls[ARGS]",
    "[TOOL_CALLS]ls[CALL_ID]",
    "[TOOL_CALLS]ls[CALL_ID]a1[ARGS]",
    "[TOOL_CALLS]ls[AR",
  ])("a call is found though its text was cut behind %s", (first) => {
    const whole = '[TOOL_CALLS]ls[CALL_ID]a1[ARGS]{"path": "a"}';
    const text = first.includes("CALL_ID") ? whole : whole.replace("[CALL_ID]a1", "");
    expect(played([first, text.slice(first.length)])).toEqual(played([text]));
    expect(played([first, text.slice(first.length)]).calls).toHaveLength(1);
  });

  it("nothing is called by a reply that was cut short inside the call, and its text is shown", () => {
    for (const text of [
      '<tool_call>{"name":"ls"',
      "<function=ls><parameter=path>a",
      '{"name":"ls","argu',
      "[TOOL_CALLS]ls{",
    ]) {
      expect(played([text], { isWhole: false })).toEqual({ text, calls: [] });
      expect(played([text])).toEqual({ text, calls: [] });
    }
  });

  it.each<[string, object]>([
    [
      "<function=ls>\n<parameter=path>\n line one\n\nline two \n</parameter>\n</function>",
      { path: " line one\n\nline two " },
    ],
    [
      "<function=ls><parameter=path></parameter></parameter><parameter=b>{}</parameter></function>",
      { path: "</parameter>", b: "{}" },
    ],
    ['<function=ls>{"path": "</function>"}</function>', { path: "</function>" }],
    ["<function=ls>\n</function>", {}],
    [
      '<tool_call>{"name": "ls", "arguments": {"path": "</tool_call>"}}</tool_call>',
      { path: "</tool_call>" },
    ],
    ['<tool_call>\n{"name": "ls", "arguments": "{\\"path\\": \\"a\\"}"}\n</tool_call>', { path: "a" }],
    ['{"type": "function", "function": {"name": "ls", "arguments": {"path": "a"}}}', { path: "a" }],
    ['[{"name": "ls", "args": {"path": "a"}}]', { path: "a" }],
    ['[TOOL_CALLS]ls{"path": "}"}', { path: "}" }],
    [
      "<tool_call>ls\n<arg_key>path</arg_key>\n<arg_value>a </arg_value>\n<arg_key>b</arg_key><arg_value></arg_value></arg_value></tool_call>",
      { path: "a ", b: "</arg_value>" },
    ],
    ["<tool_call>ls</tool_call>", {}],
    [
      '<minimax:tool_call>\n<invoke name="ls">\n<parameter name="path">a\n b</parameter>\n</invoke>\n</minimax:tool_call>',
      { path: "a\n b" },
    ],
    [
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="ls">\n<｜DSML｜parameter name="path" string="true">a</｜DSML｜parameter>\n<｜DSML｜parameter name="n" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
      { path: "a", n: "2" },
    ],
    [
      '<｜｜DSML｜｜tool_calls><｜｜DSML｜｜invoke name="ls"></｜｜DSML｜｜invoke></｜｜DSML｜｜tool_calls>',
      {},
    ],
    [
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>',
      { path: "a" },
    ],
    [
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n{"path": "a"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      { path: "a" },
    ],
    [
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ls<｜tool▁sep｜>{"path": "a"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      { path: "a" },
    ],
    ['<|python_tag|>{"name": "ls", "parameters": {"path": "a"}}', { path: "a" }],
    ['<|tool_call|>[{"name": "ls", "arguments": {"path": "a"}}]', { path: "a" }],
    // The form of gpt-oss, as shown in lmstudio-ai/lmstudio-bug-tracker#942, waybarrios/vllm-mlx#50 and
    // ggml-org/llama.cpp#15181.
    [
      '<|start|>assistant<|channel|>commentary to=functions.ls<|constrain|>json<|message|>{"path":"a"}<|call|>',
      { path: "a" },
    ],
    [
      '<|channel|>commentary to=functions.ls\n<|constrain|>json\n<|message|>{"path": "a"}\n<|call|>',
      { path: "a" },
    ],
    [
      '<|start|>assistant to=functions.ls<|channel|>commentary <|constrain|>json<|message|>{ "path": "a" }',
      { path: "a" },
    ],
    // The form of Gemma 4, as shown in ml-explore/mlx-lm#1105 and raullenchai/Rapid-MLX#1102.
    [
      '<|tool_call>call:ls{path:<|"|>say "}" <b><|"|>,num:42,all:true,in:{list:[1,<|"|>x<|"|>]}}<tool_call|>',
      { path: 'say "}" <b>', num: 42, all: true, in: { list: [1, "x"] } },
    ],
    // The form of Llama 4 and LFM2, as shown in their makers' model cards.
    ["[ls(path='it\\'s (a), [b]', n=-1.5, all=True)]", { path: "it's (a), [b]", n: -1.5, all: true }],
    [
      '<|tool_call_start|>[ls(paths=["a", "b"], in={"x": None})]<|tool_call_end|>',
      { paths: ["a", "b"], in: { x: null } },
    ],
    ["<|python_start|>[ls()]<|python_end|>", {}],
  ])("keeps the arguments to the letter: %s", (text, args) => {
    expect(played([...text])).toEqual({ text: "", calls: [{ name: "ls", args }] });
  });

  it("calls in Python's form are several, and what only looks like one stays text", () => {
    const calls = [
      { name: "ls", args: { path: "a" } },
      { name: "cat", args: { path: "b" } },
    ];
    for (const quote of ["'", '"'])
      expect(played([`[ls(path='a'), cat(pa`, `th=${quote}b${quote})]`])).toEqual({ text: "", calls });
    for (const text of [
      "[ls](https://a.example/ls)",
      "[ls(1)](x)",
      "[ls(path='a') is one]",
      "[rm(path='a')]",
      "[ls(path='a', b='c')]', d='e')]",
    ])
      expect(played([...text])).toEqual({ text, calls: [] });
    const text = `[cat(content="${"f(x), y ".repeat(20_000)}")]`;
    expect(
      played(
        cut(
          text,
          [...Array(2000).keys()].map((at) => at * 80),
        ),
      ).calls,
    ).toHaveLength(1);
  });

  it("long arguments in many pieces cost no more than their length", () => {
    const content = "x < y > {z} [w] \n".repeat(20_000);
    const text = `<function=cat>\n<parameter=content>\n${content}\n</parameter>\n</function>`;
    const pieces = cut(
      text,
      Array.from({ length: 5000 }, (_none, index) => index * 70),
    );
    expect(played(pieces).calls).toEqual([{ name: "cat", args: { content } }]);
  });

  it.each(["<tool_call>", '<tool_call>{"name": "ls", "arguments": {"path": "'])(
    "a model that repeats a closing tag without end behind %s costs no more than the length",
    (start) => {
      const text = start + "</tool_call>".repeat(30_000);
      expect(
        played(
          cut(
            text,
            [...Array(1000).keys()].map((at) => at * 360),
          ),
        ),
      ).toEqual({ text, calls: [] });
    },
  );

  it("P12 a model that begins calls without end, and ends none, costs no more than the length", () => {
    const begun = '\n<tool_call>{"name": "ls", ';
    const text = begun.repeat(40_000);
    expect(played([text])).toEqual({ text, calls: [] });
    const last = '\n<tool_call>{"name": "ls"}</tool_call>';
    const few = begun.repeat(30);
    expect(played([few + last])).toEqual({ text: `${few}\n`, calls: [{ name: "ls", args: {} }] });
  });

  it.each(["<code", "\\", "\n"])("%j without end before a call costs no more than its length", (sign) => {
    const call = '<tool_call>{"name": "ls"}</tool_call>';
    const many = sign.repeat(300_000);
    const read = played([`a${many}\n`, call]);
    expect(read).toEqual({ text: `a${many}\n`, calls: [{ name: "ls", args: {} }] });
    const parsed = { name: "ls", args: { path: `${many}x` } };
    expect(isAlreadyInHistory(parsed, call, { system: many, history: [], tools: [] })).toBe(false);
    const fenced = `\`\`\`\n{'a': 1,${many.slice(0, 190_000)}`;
    for (let time = 0; time < 8; time += 1) expect(repairArguments(fenced, () => true)).toBeUndefined();
  });

  it("text in single quotes with many more quotes in it is given up in little time", () => {
    for (let time = 0; time < 20; time += 1)
      expect(repairArguments(`{'a': '${"it's, '".repeat(24_000)}'}`, () => true)).toBeUndefined();
  });

  it.each(["<|start|>assistant", "<|channel|>commentary to=ls"])(
    "spaces without end behind %s cost no more than their length",
    (start) => {
      const text = start + " ".repeat(1_000_000);
      expect(played([text])).toEqual({ text, calls: [] });
    },
  );

  it("calls at the end are made, and those with words behind them stay in the text, in order and once", () => {
    const call = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>';
    const made = { name: "ls", args: {} };
    expect(played([`before\n${call}\nafter\n`, call, `\n${call}\n`])).toEqual({
      text: `before\n${call}\nafter\n`,
      calls: [made, made],
    });
    expect(played([`${call}\nafter`])).toEqual({ text: `${call}\nafter`, calls: [] });
  });

  it.each([
    'I would write <tool_call>{"name": "ls", "arguments": {}}</tool_call>',
    '> <tool_call>{"name": "ls", "arguments": {}}</tool_call>',
    '> They wrote:\n<tool_call>{"name": "ls", "arguments": {}}</tool_call>',
    '    <tool_call>{"name": "ls", "arguments": {}}</tool_call>',
    '- <tool_call>{"name": "ls", "arguments": {}}</tool_call>',
    '<p>\n<pre>\n<tool_call>{"name": "ls", "arguments": {}}</tool_call>',
    '<!-- hidden\n<tool_call>{"name": "ls", "arguments": {}}</tool_call>',
    'They say \u201clook:\n<tool_call>{"name": "ls", "arguments": {}}</tool_call>',
    '```\n<tool_call>{"name": "ls", "arguments": {}}</tool_call>',
    'The line\n{"name": "ls", "arguments": {}}\nis in the file.',
    'The line {"name": "ls", "arguments": {}}',
    "<function_calls>\nand so on",
    'They write <invoke name="ls"></invoke>',
    "<tool_calls>\n</tool_calls>",
  ])("no call is made by what is only shown: %j", (text) => {
    expect(played([text])).toEqual({ text, calls: [] });
    expect(played([...text])).toEqual({ text, calls: [] });
  });
});

describe("marks around calls", () => {
  it.each(MARKS)("P15 are read without a call: %s, as in %s", (_mark, example) => {
    const length = example.indexOf(">") + 1;
    expect(readWrittenCalls(`${example}\n`, true)).toEqual({ calls: [], length });
  });
});
