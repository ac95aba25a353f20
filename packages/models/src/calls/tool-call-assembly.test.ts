import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ReplyEnd, ToolCallAssembly } from "./tool-call-assembly.ts";

const COMPLETE: ReplyEnd = { ending: "complete", takenIds: new Set() };
const TWO = [
  { id: "A", name: "read_file", args: { path: "a.ts" } },
  { id: "B", name: "glob", args: { pattern: "*.ts" } },
];

/** Each argument is the `tool_calls` of one chunk. */
function assembled(chunks: readonly unknown[], end: ReplyEnd = COMPLETE) {
  const assembly = new ToolCallAssembly();
  for (const chunk of chunks) assembly.add(chunk);
  return assembly.buildCalls(end).map(({ call }) => call);
}

function piece(fields: object, name?: string | null, text?: unknown): object {
  return {
    ...fields,
    function: { ...(name === undefined ? {} : { name }), ...(text === undefined ? {} : { arguments: text }) },
  };
}

describe("P10 fragments of two calls give the same two calls", () => {
  const cases: Record<string, unknown[]> = {
    "by index, as the protocol says": [
      [piece({ index: 0, id: "A", type: "function" }, "read_file", "")],
      [piece({ index: 0 }, undefined, '{"path":')],
      [piece({ index: 0 }, undefined, '"a.ts"}')],
      [piece({ index: 1, id: "B", type: "function" }, "glob", "")],
      [piece({ index: 1 }, undefined, '{"pattern":"*.ts"}')],
    ],
    "with null in the fields of later fragments": [
      [piece({ index: 0, id: "A" }, "read_file", null)],
      [piece({ index: 0, id: null }, null, '{"path":"a.ts"}')],
      [piece({ index: 1, id: "B" }, "glob", '{"pattern":')],
      [piece({ index: 1, id: "" }, "", '"*.ts"}')],
    ],
    "index absent": [
      [piece({ id: "A" }, "read_file", '{"pa')],
      [piece({}, undefined, 'th":"a.ts"}')],
      [piece({ id: "B" }, "glob", "")],
      [piece({}, undefined, '{"pattern":"*.ts"}')],
    ],
    "index absent and the id on every fragment, interleaved": [
      [piece({ id: "A" }, "read_file", '{"path":')],
      [piece({ id: "B" }, "glob", '{"pattern":')],
      [piece({ id: "A" }, undefined, '"a.ts"}')],
      [piece({ id: "B" }, undefined, '"*.ts"}')],
    ],
    "index 0 on all": [
      [piece({ index: 0, id: "A" }, "read_file", '{"path":')],
      [piece({ index: 0 }, undefined, '"a.ts"}')],
      [piece({ index: 0, id: "B" }, "glob", "")],
      [piece({ index: 0 }, undefined, '{"pattern":"*.ts"}')],
    ],
    "index 0 on all, interleaved by id": [
      [piece({ index: 0, id: "A" }, "read_file", '{"path":')],
      [piece({ index: 0, id: "B" }, "glob", '{"pattern":')],
      [piece({ index: 0, id: "A" }, undefined, '"a.ts"}')],
      [piece({ index: 0, id: "B" }, undefined, '"*.ts"}')],
    ],
    "1-based": [
      [piece({ index: 1, id: "A" }, "read_file", '{"path":"a.ts"}')],
      [piece({ index: 2, id: "B" }, "glob", '{"pattern":"*.ts"}')],
    ],
    "id late": [
      [piece({ index: 0 }, "read_file", '{"path":')],
      [piece({ index: 0, id: "A" }, undefined, '"a.ts"}')],
      [piece({ index: 1 }, "glob", "")],
      [piece({ index: 1, id: "B" }, undefined, '{"pattern":"*.ts"}')],
    ],
    "name late": [
      [piece({ index: 0, id: "A" }, undefined, "")],
      [piece({ index: 0 }, "read_file", '{"path":"a.ts"}')],
      [piece({ index: 1, id: "B" })],
      [piece({ index: 1 }, "glob", '{"pattern":"*.ts"}')],
    ],
    "index on the first fragment only": [
      [piece({ index: 0, id: "A" }, "read_file", '{"path":')],
      [piece({}, undefined, '"a.ts"}')],
      [piece({ index: 1, id: "B" }, "glob", '{"pattern":')],
      [piece({}, undefined, '"*.ts"}')],
    ],
    interleaved: [
      [piece({ index: 0, id: "A" }, "read_file", '{"path"'), piece({ index: 1, id: "B" }, "glob", '{"pat')],
      [piece({ index: 1 }, undefined, 'tern":"*.ts"}'), piece({ index: 0 }, undefined, ':"a.ts"}')],
    ],
    "whole calls in one chunk, no index": [
      [piece({ id: "A" }, "read_file", '{"path":"a.ts"}'), piece({ id: "B" }, "glob", '{"pattern":"*.ts"}')],
    ],
    "arguments as objects": [
      [piece({ index: 0, id: "A" }, "read_file", { path: "a.ts" })],
      [piece({ index: 0, id: "B" }, "glob", { pattern: "*.ts" })],
    ],
    "arguments encoded twice": [
      [piece({ index: 0, id: "A" }, "read_file", '"{\\"path\\":\\"a.ts\\"}"')],
      [piece({ index: 1, id: "B" }, "glob", '{"pattern":"*.ts"}')],
    ],
    "an empty object first, or the whole once more at the end": [
      [piece({ index: 0, id: "A" }, "read_file", "{}")],
      [piece({ index: 0 }, undefined, '{"path":"a.ts"}')],
      [piece({ index: 1, id: "B" }, "glob", '{"pattern":"*.ts"}')],
      [piece({ index: 1, id: "B" }, "glob", '{"pattern":"*.ts"}')],
    ],
    "id and name repeated on every fragment": [
      [piece({ index: 0, id: "A" }, "read_file", '{"path":')],
      [piece({ index: 0, id: "A" }, "read_file", '"a.ts"}')],
      [piece({ index: 1, id: "B" }, "glob", '{"pattern":')],
      [piece({ index: 1, id: "B" }, "glob", '"*.ts"}')],
    ],
    "a new id made up for every fragment": [
      [piece({ index: 0, id: "A" }, "read_file", "")],
      [piece({ index: 0, id: "A2" }, undefined, '{"path":')],
      [piece({ index: 0, id: "A3" }, undefined, '"a.ts"}')],
      [piece({ index: 1, id: "B" }, "glob", "")],
      [piece({ index: 1, id: "B2" }, undefined, '{"pattern":"*.ts"}')],
    ],
    "a new id made up for every fragment, also for those that say nothing": [
      [piece({ index: 0, id: "A" }, "read_file", "")],
      [piece({ index: 0, id: "A2" }, "", "")],
      [piece({ index: 0, id: "A3" }, "", '{"path":"a.ts"}')],
      [piece({ index: 0, id: "A4" }, "", "")],
      [piece({ index: 1, id: "B" }, "glob", '{"pattern":"*.ts"}')],
      [piece({ index: 1, id: "B2" }, "", "\n")],
    ],
  };
  it.each(Object.entries(cases))("P10 %s", (_title, chunks) => {
    expect(assembled(chunks)).toEqual(TWO);
  });

  it("P10 however the arguments are cut and the two calls are interleaved", () => {
    const texts = TWO.map((call) => JSON.stringify(call.args));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 5 }))), (steps) => {
        const left = [...texts];
        const chunks: unknown[] = TWO.map((call, index) => [piece({ index, id: call.id }, call.name, "")]);
        const take = (index: number, size: number): void => {
          const text = left[index] ?? "";
          chunks.push([piece({ index }, undefined, text.slice(0, size))]);
          left[index] = text.slice(size);
        };
        for (const [second, size] of steps) take(second ? 1 : 0, size);
        take(0, 100);
        take(1, 100);
        expect(assembled(chunks)).toEqual(TWO);
      }),
    );
  });
});

describe("ids", () => {
  const NAMES = [
    ["read_file", "a"],
    ["read_file", "b"],
    ["read_file", "b"],
  ] as const;

  it.each([
    ["index 0 on all, id null", { index: 0, id: null }],
    ["neither index nor id", {}],
    ["empty ids", { id: "" }],
    ["one id for all", { id: "same" }],
  ])("P10 calls to one tool with %s stay apart and get ids of their own", (_title, fields) => {
    const whole = NAMES.map(([name, text]) => piece(fields, name, `{"p":"${text}"}`));
    const calls = assembled(whole.slice(0, 2).map((entry) => [entry]));
    expect(calls.map((call) => call.args)).toEqual([{ p: "a" }, { p: "b" }]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    const inOneChunk = assembled([whole]);
    expect(inOneChunk.map((call) => call.args)).toEqual([{ p: "a" }, { p: "b" }, { p: "b" }]);
    expect(new Set(inOneChunk.map((call) => call.id)).size).toBe(3);
  });

  it("P10 an id of the history or of a call with another index is not used twice", () => {
    const calls = assembled(
      [
        [piece({ index: 0, id: "x" }, "a", '{"n":1}')],
        [piece({ index: 1, id: "x" }, "a", '{"n":2}')],
        [piece({ index: 2, id: "old" }, "a", "{}")],
      ],
      { ending: "complete", takenIds: new Set(["old", "call00003"]) },
    );
    expect(calls[0]?.id).toBe("x");
    expect(new Set([...calls.map((call) => call.id), "old", "call00003"]).size).toBe(5);
  });

  it("made ids are the same every time and have nine letters and digits", () => {
    const once = assembled([[piece({}, "a", "{}"), piece({}, "b", "{}")]]);
    expect(once).toEqual(assembled([[piece({}, "a", "{}"), piece({}, "b", "{}")]]));
    for (const call of once) expect(call.id).toMatch(/^[a-z0-9]{9}$/);
  });
});

describe("arguments", () => {
  it.each([[""], ["  \n"], ["{}"], ["null"], [null], [undefined], [{}]])("P10 %j are none at all", (text) => {
    expect(assembled([[piece({ index: 0, id: "A" }, "ls", text)]])).toEqual([
      { id: "A", name: "ls", args: {} },
    ]);
  });

  it.each(['{"path": "a', "{'path': 1}", '{"a":1}{"a":2}', '{"a":1} and more'])(
    "%s is no object and is said so",
    (text) => {
      const [call] = assembled([[piece({ index: 0, id: "A" }, "ls", text)]]);
      expect(call?.args).toEqual({});
      expect(call?.argsError).toMatch(/^The arguments are not valid JSON .*Nothing was run/);
    },
  );

  it.each([
    ["[1]", "a list"],
    ["3", "a number"],
    ['"x"', "a string"],
    ["true", "a boolean"],
  ])("%s is %s", (text, kind) => {
    expect(assembled([[piece({ id: "A" }, "ls", text)]])[0]?.argsError).toContain(kind);
  });

  const cut = [
    [piece({ index: 0, id: "A" }, "ls", "")],
    [piece({ index: 1, id: "B" }, "write_file", '{"content":"abc')],
  ];

  it("P9 what the output limit cut is said in words the model can act on, and the whole calls before it stay", () => {
    const [whole, broken] = assembled(cut, { ending: "limit", takenIds: new Set() });
    expect(whole).toEqual({ id: "A", name: "ls", args: {} });
    expect(broken?.argsError).toMatch(/output limit cut .* Nothing was run .* smaller pieces/);
  });

  it("P9 a call that the limit cut before its first argument is not a call without arguments", () => {
    const [call] = assembled([[piece({ id: "A" }, "write_file", "")]], {
      ending: "limit",
      takenIds: new Set(),
    });
    expect(call?.argsError).toContain("output limit");
    const [open] = assembled([[piece({ id: "A" }, "write_file", "")]], {
      ending: "open",
      takenIds: new Set(),
    });
    expect(open?.argsError).toContain("broke off");
  });

  it("P9 P10 of calls that began together and were broken off, none is one without arguments", () => {
    const both = [piece({ id: "A" }, "read_file", ""), piece({ id: "B" }, "glob", "")];
    const calls = assembled([both, [piece({ id: "A" }, undefined, "")]], { ...COMPLETE, ending: "open" });
    expect(calls.map(({ argsError }) => argsError)).toEqual(
      Array(2).fill(expect.stringContaining("broke off")),
    );
  });

  it("a lost chunk spoils the calls that were open, also where the rest would read as JSON", () => {
    const assembly = new ToolCallAssembly();
    assembly.add([piece({ index: 0, id: "A" }, "ls", "{}")]);
    assembly.add([piece({ index: 1, id: "B" }, "write_file", '{"content":"abc')]);
    assembly.noteLostChunk();
    assembly.add([piece({ index: 1 }, undefined, 'ghi"}')]);
    const [whole, spoiled] = assembly.buildCalls(COMPLETE).map(({ call }) => call);
    expect(whole?.argsError).toBeUndefined();
    expect(spoiled?.args).toEqual({});
    expect(spoiled?.argsError).toContain("lost");
  });

  it("P10 P12 thousands of calls under one id are all made, and none is parsed for each other", () => {
    const chunks = [...Array(8000).keys()].map((at) => [piece({ id: "A" }, "w", `{"path": "${at}"}`)]);
    const calls = assembled(chunks);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(8000);
    expect(calls.at(-1)?.args).toEqual({ path: "7999" });
  });

  it.each<[string, (at: number) => object]>([
    ["index grows", (at) => (at === 0 ? { index: 0, id: "A" } : { index: at })],
    ["id changes", (at) => ({ id: `A${at}` })],
    ["name is repeated", () => ({ index: 0, id: "A" })],
  ])("P10 P7 long arguments whose %s with each piece cost no more than their length", (how, fields) => {
    const args = { path: "a", content: 'a "line" { of } code\n'.repeat(40_000) };
    const texts = JSON.stringify(args).match(/[\s\S]{1,8}/g) ?? [];
    const isNamed = (at: number) => at === 0 || how.startsWith("name");
    const chunks = texts.map((text, at) => [piece(fields(at), isNamed(at) ? "w" : undefined, text)]);
    expect(assembled(chunks)).toEqual([{ id: expect.stringMatching(/^A/), name: "w", args }]);
  });

  it("things that are no fragments are passed over", () => {
    expect(assembled([null, 3, "x", [null, 4, []], {}, [{ index: 0, function: null }]])).toEqual([]);
  });
});
