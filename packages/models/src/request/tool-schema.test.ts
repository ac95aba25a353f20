import type { JsonSchema } from "@burin/contract/messages/message";
import { describe, expect, it } from "vitest";
import { formatToolSchema, simplifySchema } from "./tool-schema.ts";
import { toWireId, toWireName } from "./wire.ts";

const string = { type: "string" };

function both(schema: JsonSchema): [JsonSchema, JsonSchema] {
  return [simplifySchema(schema, "full"), simplifySchema(schema, "plain")];
}

function object(properties: Record<string, unknown>, more: object = {}): JsonSchema {
  return { type: "object", properties, ...more } as JsonSchema;
}

describe("P16 references", () => {
  it.each<[string, JsonSchema]>([
    ["$defs", object({ a: { $ref: "#/$defs/s" } }, { $defs: { s: string } })],
    ["definitions", object({ a: { $ref: "#/definitions/s" } }, { definitions: { s: string } })],
    ["an anchor", object({ a: { $ref: "#s" } }, { $defs: { x: { $anchor: "s", ...string } } })],
    ["a property", object({ b: string, a: { $ref: "#/properties/b" } })],
    ["an escaped name", object({ a: { $ref: "#/$defs/x~1y%20z" } }, { $defs: { "x/y z": string } })],
    [
      "a reference to a reference",
      object({ a: { $ref: "#/$defs/p" } }, { $defs: { p: { $ref: "#/$defs/s" }, s: string } }),
    ],
  ])("by %s are replaced by what they name", (_title, schema) => {
    for (const clean of both(schema)) {
      expect(clean.properties?.a).toEqual(string);
      expect(JSON.stringify(clean)).not.toMatch(/\$ref|\$defs|definitions|anchor/);
    }
  });

  it("keep what stands beside them, and lose nothing of a property that has such a name", () => {
    const schema = object(
      { $ref: string, definitions: string, a: { $ref: "#/$defs/s", description: "mine" } },
      { $defs: { s: { ...string, description: "theirs" } } },
    );
    for (const clean of both(schema)) {
      expect(clean.properties).toEqual({
        $ref: string,
        definitions: string,
        a: { ...string, description: "mine" },
      });
    }
  });

  it("that never end are cut, and say what stood there", () => {
    const node = object(
      { name: string, children: { type: "array", items: { $ref: "#/$defs/node" } } },
      { description: "A node." },
    );
    const schema = object({ root: { $ref: "#/$defs/node" }, me: { $ref: "#" } }, { $defs: { node } });
    for (const clean of both(schema)) {
      const root = clean.properties?.root as JsonSchema;
      const children = root.properties?.children as JsonSchema | undefined;
      expect(children?.items).toEqual({
        type: "object",
        description: "A node.",
      });
      expect(clean.properties?.me).toEqual({ type: "object" });
    }
    for (const clean of both(object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: { $ref: "#/$defs/a" } } }))) {
      expect(clean.properties).toEqual({ a: {} });
    }
  });

  it("to what is not there, or outside, become anything", () => {
    for (const $ref of ["#/$defs/gone", "https://example.org/schema.json", "#/%E0%A4%A", "other.json#/x"]) {
      for (const clean of both(object({ a: { $ref, description: "d" } }))) {
        expect(clean.properties).toEqual({ a: { description: "d" } });
      }
    }
  });

  it("that unfold without measure stay small", () => {
    const $defs: Record<string, unknown> = { d0: string };
    for (let level = 1; level < 30; level += 1) {
      const $ref = `#/$defs/d${level - 1}`;
      $defs[`d${level}`] = object({ a: { $ref }, b: { $ref }, c: { $ref } });
    }
    for (const clean of both(object({ a: { $ref: "#/$defs/d29" } }, { $defs }))) {
      expect(JSON.stringify(clean).length).toBeLessThan(500_000);
    }
  });
});

describe("P16 what a service would refuse a whole tool for, as seen with servers of others", () => {
  it.each<[string, object, object]>([
    ["chattermate/chattermate.chat#303", { type: "object", additionalProperties: {} }, { type: "object" }],
    [
      "TencentCloudBase/CloudBase-AI-Toolkit#626",
      { anyOf: [{ not: {} }, string], description: "d" },
      { anyOf: [string], description: "d" },
    ],
    ["vercel/ai#7005", { type: "None", description: "d" }, { description: "d" }],
    [
      "a bound of draft 4",
      { type: "number", minimum: 0, exclusiveMinimum: true },
      { type: "number", minimum: 0 },
    ],
    ["draft 3", { type: "string", required: true }, string],
    ["an empty choice", { type: "string", enum: [] }, string],
  ])("is left out: %s", (_title, given, wanted) => {
    for (const clean of both(object({ a: given }))) expect(clean.properties?.a).toEqual(wanted);
  });
});

describe("P16 the top is a plain object", () => {
  it("whatever was there", () => {
    for (const schema of [
      {},
      { type: "object" },
      { type: ["object", "null"] },
      { $schema: "x", type: "object" },
      { properties: {} },
    ] as JsonSchema[]) {
      for (const clean of both(schema)) expect(clean).toEqual({ type: "object", properties: {} });
    }
  });

  it("allOf is joined, anyOf and oneOf are united", () => {
    const one = object({ a: string, c: string }, { required: ["a", "c"] });
    const two = object({ b: { type: "number" }, c: { type: "number" } }, { required: ["b", "c"] });
    for (const clean of both({ allOf: [one, two] })) {
      expect(clean).toEqual(
        object({ a: string, b: { type: "number" }, c: { type: "number" } }, { required: ["a", "c", "b"] }),
      );
    }
    for (const key of ["anyOf", "oneOf"]) {
      for (const clean of both({
        type: "object",
        [key]: [one, two],
        properties: { d: string },
        required: ["d"],
      })) {
        expect(clean).toEqual(
          object(
            { a: string, b: { type: "number" }, c: { anyOf: [string, { type: "number" }] }, d: string },
            { required: ["d", "c"] },
          ),
        );
      }
    }
  });
});

describe("P16 the plain dialect", () => {
  it.each<[string, unknown, unknown]>([
    ["const", { const: "a" }, { type: "string", enum: ["a"] }],
    ["an enum of numbers", { enum: [1, 2] }, { type: "number", enum: [1, 2] }],
    ["an enum of other things", { enum: [true, null] }, {}],
    ["oneOf", { oneOf: [string, { type: "null" }] }, { anyOf: [string, { type: "null" }] }],
    [
      "allOf",
      { allOf: [object({ a: string }), { required: ["a"] }] },
      object({ a: string }, { required: ["a"] }),
    ],
    ["nullable", { type: "string", nullable: true }, { type: ["string", "null"] }],
    ["two types", { type: ["string", "null"] }, { type: ["string", "null"] }],
    ["formats", { type: "string", format: "uri", pattern: "^a", minLength: 3 }, string],
    ["a known format", { type: "string", format: "date-time" }, { type: "string", format: "date-time" }],
    ["additionalProperties", object({ a: string }, { additionalProperties: false }), object({ a: string })],
    [
      "exclusive bounds",
      { type: "number", exclusiveMinimum: 0, minimum: 1, multipleOf: 2 },
      { type: "number", minimum: 1 },
    ],
    [
      "a tuple",
      { type: "array", items: [string, { type: "number" }] },
      { type: "array", items: { anyOf: [string, { type: "number" }] } },
    ],
    ["a list of anything", { type: "array" }, { type: "array", items: {} }],
    ["true and false", object({ a: true, b: false }), object({ a: {}, b: {} })],
    [
      "required without a property",
      object({ a: string }, { required: ["a", "b"] }),
      object({ a: string }, { required: ["a"] }),
    ],
    ["conditions", { type: "string", if: {}, else: {}, not: {} }, string],
    [
      "examples, defaults and titles",
      { type: "string", default: "a", examples: ["b"], title: "T", deprecated: true, "x-y": 1 },
      string,
    ],
  ])("says %s in words that are known", (_title, given, wanted) => {
    expect(simplifySchema(object({ p: given }), "plain").properties?.p).toEqual(wanted);
  });

  it("is cut where it goes too deep, and the full one keeps all its words", () => {
    let deep: unknown = string;
    for (let level = 0; level < 40; level += 1) deep = object({ a: deep });
    expect(
      JSON.stringify(simplifySchema(deep as JsonSchema, "plain")).match(/properties/g)?.length,
    ).toBeLessThan(15);
    const rich = object(
      { a: { type: "string", pattern: "^a", format: "uri", const: "a" }, b: { anyOf: [string] } },
      { additionalProperties: false },
    );
    expect(simplifySchema(rich, "full")).toEqual(rich);
  });

  it("is the same object for the same schema, so that it costs nothing twice", () => {
    const schema = object({ a: string });
    expect(formatToolSchema(schema, "plain")).toBe(formatToolSchema(schema, "plain"));
  });
});

describe("P16 names", () => {
  it.each(["read_file", "a", "github__create-issue", "_x", "A".repeat(64)])("that fit stay: %s", (name) => {
    expect(toWireName(name)).toBe(name);
  });

  it("that do not fit are changed, the same way each time, and never to the same", () => {
    const long = "server__".padEnd(70, "x");
    const names = [
      "",
      "1tool",
      "-tool",
      "a.b",
      "a/b",
      "a b",
      "a_b",
      "ünï",
      "名前",
      long,
      `${long}y`,
      `${long}z`,
      "a:b",
    ];
    const changed = names.map(toWireName);
    for (const name of changed) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
    expect(new Set(changed).size).toBe(names.length);
    expect(names.map(toWireName)).toEqual(changed);
    expect(toWireName("a.b")).toBe("a_b_108bf50c957f");
  });

  it("ids of calls keep to what strict services take", () => {
    expect(toWireId("call_1")).toBe("call_1");
    expect(toWireId("functions.ls:0")).toMatch(/^functions_ls_0_[0-9a-f]{12}$/);
    expect(toWireId("x".repeat(65))).toHaveLength(64);
  });
});

describe("P16 patterns that only JavaScript knows", () => {
  // The first schema is from Claude Code's tool Artifact, BerriAI/litellm#40485.
  it.each(['^(?!__.*__$)[^\\p{Cc}"]{1,200}$', "(?<year>\\d{4})-\\k<year>", "\\u{1F600}", "a\\cJ"])(
    "are left out, since services compile them with Python: %s",
    (pattern) => {
      expect(formatToolSchema(object({ a: { ...string, pattern } }), "full").properties?.a).toEqual(string);
    },
  );

  it.each(["^(?!\\.)[\\w.-]+\\.[A-Za-z]{2,}$", "(?<=a)b(?<!c)", "\\\\p{Cc}", "[\\s\\S]\\/\\x41\\u0041"])(
    "are others than %s",
    (pattern) => {
      const a = { ...string, pattern };
      expect(formatToolSchema(object({ a }), "full").properties?.a).toEqual(a);
    },
  );
});

it("P16 a long chain of references is cut, like one that never ends", () => {
  const chain = [...Array(20_000).keys()].map((at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }]);
  const schema = {
    type: "object",
    $defs: Object.fromEntries(chain),
    properties: { a: { $ref: "#/$defs/d0" } },
  };
  expect(simplifySchema(schema as JsonSchema, "full")).toMatchObject({ properties: { a: {} } });
});
