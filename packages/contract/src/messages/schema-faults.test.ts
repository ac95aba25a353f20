import { describe, expect, it } from "vitest";
import { findSchemaError } from "./check-schema.ts";
import type { JsonSchema } from "./message.ts";
import { findSchemaFaults } from "./schema-faults.ts";

/** A schema, values that fit it and values that do not. */
type Row = readonly [schema: object, fitting: readonly unknown[], unfit: readonly unknown[]];

const TREE: JsonSchema = {
  $ref: "#/$defs/node",
  $defs: {
    node: {
      type: "object",
      required: ["name"],
      properties: { inner: { type: "array", items: { $ref: "#" } } },
    },
  },
};

const ROWS: readonly Row[] = [
  [{ type: ["string", "null"] }, ["", null], [0, {}, []]],
  [{ type: "integer" }, [1, 2.0, -3], [1.5, "1", null]],
  [{ type: "number" }, [1.5], [Number.NaN, "1"]],
  [{ type: "object" }, [{}], [[], null]],
  [{ enum: [1, { a: [1], b: 2 }] }, [1, { b: 2, a: [1] }], ["1", { a: [1] }]],
  [{ const: null }, [null], [0, ""]],
  [{ minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, "any"], [0, 3]],
  [{ exclusiveMinimum: 0, maximum: 1 }, [0.1, 1], [0, 1.1]],
  [{ multipleOf: 0.1 }, [0.3, 5], [0.35]],
  [{ minLength: 2, maxLength: 2 }, ["ab", "😀é", 1], ["a", "abc"]],
  [{ minItems: 1, maxItems: 2, uniqueItems: true }, [[1], [1, 2]], [[], [1, 2, 3], [{ a: 1 }, { a: 1 }]]],
  [{ minProperties: 1, maxProperties: 1 }, [{ a: 1 }], [{}, { a: 1, b: 2 }]],
  [{ pattern: "^\\p{Lu}" }, ["Éa", 5], ["a"]],
  [{ pattern: "^[\\w-.]+$" }, ["a-b.c"], ["a b"]],
  [{ required: ["a"] }, [{ a: null }, [], "x"], [{}, { a: undefined }]],
  [{ properties: { a: false, b: true } }, [{ b: 1 }, {}], [{ a: 1 }]],
  [
    { properties: { a: {} }, patternProperties: { "^x-": { type: "string" } }, additionalProperties: false },
    [{ a: 1, "x-b": "" }],
    [{ "x-b": 1 }, { c: 1 }],
  ],
  [{ additionalProperties: { type: "string" } }, [{ a: "" }], [{ a: 1 }, JSON.parse('{"__proto__":1}')]],
  [{ propertyNames: { maxLength: 1 } }, [{ a: 1 }], [{ ab: 1 }]],
  [{ dependentRequired: { a: ["b"] } }, [{ a: 1, b: 1 }, {}], [{ a: 1 }]],
  [{ dependencies: { a: ["b"], c: { required: ["d"] } } }, [{ b: 1 }], [{ a: 1 }, { c: 1 }]],
  [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, [["a", 1], []], [[1], ["a", "b"]]],
  [{ items: [{ type: "string" }], additionalItems: false }, [["a"]], [["a", 1]]],
  [{ items: { type: "string" }, additionalItems: false }, [["a", "b"]], [[1]]],
  [{ additionalItems: false }, [["a", 1]], []],
  [{ contains: { type: "number" }, maxContains: 1 }, [["a", 1]], [[], ["a"], [1, 2]]],
  [{ contains: { type: "number" }, minContains: 0 }, [[]], []],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [0, 3]],
  [{ anyOf: [{ type: "string" }, { minimum: 5 }] }, ["a", 6], [4]],
  [{ oneOf: [{ type: "number" }, { minimum: 5 }] }, [4, "a"], [6]],
  [{ not: { type: "string" } }, [1], ["a"]],
  [
    JSON.parse('{ "if": {"required":["a"]}, "then": {"required":["b"]}, "else": {"required":["c"]} }'),
    [{ a: 1, b: 1 }, { c: 1 }],
    [{ a: 1 }, {}],
  ],
  [TREE, [{ name: 1, inner: [{ name: 2, inner: [] }] }], [{ name: 1, inner: [{}] }]],
  [{ $defs: { a: { $anchor: "one", type: "string" } }, $ref: "#one" }, ["a"], [1]],
  [{ definitions: { one: { $id: "#old", type: "string" } }, $ref: "#old" }, ["a"], [1]],
  [{ definitions: { "%": { type: "string" } }, $ref: "#/definitions/%" }, ["a"], [1]],
  [{ definitions: { a: { type: "string" } }, $ref: "other.json#/definitions/a" }, ["a", 1], []],
  [{ definitions: { "a~b": { type: "string" } }, $ref: "#/definitions/a~0b" }, ["a"], [1]],
  [{ type: "strnig" }, ["a", 1], []],
  [{ type: [] }, ["a", 1], []],
  [{ anyOf: [] }, ["a", 1], []],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ multipleOf: 0 }, [5, 0.3], []],
  [{ minItems: 1, minProperties: 1 }, ["a", 1, null], [[], {}]],
  [{ contains: { type: "number" } }, ["a", {}, null], [[]]],
  [{ properties: { toString: { type: "string" } }, required: ["toString"] }, [{ toString: "a" }], [{}]],
  [{ definitions: { "a/b": { type: "string" } }, $ref: "#/definitions/a~1b" }, ["a"], [1]],
];

describe("schemaFaults", () => {
  it.each(ROWS)("R5 knows what %j allows and forbids", (schema, fitting, unfit) => {
    expect(fitting.filter((value) => findSchemaFaults(schema as JsonSchema, value).length > 0)).toEqual([]);
    expect(unfit.filter((value) => findSchemaFaults(schema as JsonSchema, value).length === 0)).toEqual([]);
  });

  it("ends on schemas that refer to themselves and on values nested without end", () => {
    expect(findSchemaFaults({ $ref: "#" }, 1)).toEqual([]);
    expect(findSchemaFaults({ $ref: "#/nowhere/at/all" }, 1)).toEqual([]);
    let deep: unknown = 1;
    for (let index = 0; index < 5000; index += 1) deep = [deep];
    expect(findSchemaError({ items: { $ref: "#" } }, deep)).toContain("nested too deeply");
    const choice: JsonSchema = { type: "array", items: { oneOf: [{ $ref: "#" }, { type: "string" }] } };
    let tall: unknown = [1];
    for (let index = 0; index < 100; index += 1) tall = [tall];
    expect(findSchemaFaults(choice, tall).length).toBeGreaterThan(0);
  });

  it("forbids nothing by schemas that nest without end, or double the work with every line", () => {
    let nested: JsonSchema = { type: "string" };
    for (let index = 0; index < 20_000; index += 1) nested = { allOf: [nested] };
    expect(findSchemaFaults(nested, 1)).toEqual([]);
    const $defs: Record<string, JsonSchema> = { d0: { type: "string" } };
    for (let index = 1; index < 40; index += 1) {
      const before = { $ref: `#/$defs/d${index - 1}` };
      $defs[`d${index}`] = { allOf: [before, before] };
    }
    expect(findSchemaFaults({ $defs, $ref: "#/$defs/d39" }, 1)).toEqual([]);
    expect(findSchemaFaults({ $defs, $ref: "#/$defs/d3" }, 1)).not.toEqual([]);
  });

  it("leaves to others what it does not know or cannot read", () => {
    const odd = JSON.parse(
      '{ "pattern": "(", "minimum": "1", "enum": 5, "$ref": 7, "required": [7], "format": "uri", "items": 3 }',
    );
    expect(findSchemaFaults(odd, { a: "x" })).toEqual([]);
    expect(findSchemaFaults(odd, "x")).toEqual([]);
  });

  it.each<[JsonSchema, unknown, string]>([
    [{ properties: { n: { minimum: 1 } } }, { n: 0 }, '"n" must be at least 1, got number 0'],
    [{ properties: { s: { minLength: 1 } } }, { s: "" }, '"s" must not be empty, got string ""'],
    [
      { properties: { v: { anyOf: [{ type: "string" }, { type: "array" }] } } },
      { v: 1 },
      '"v" must be a string, or must be an array, got number 1',
    ],
    [
      { properties: { v: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] } } },
      { v: [1] },
      '"v.0" must be a string, got number 1',
    ],
    [
      { properties: { o: { required: ["k"], properties: { k: { type: "string" } } } } },
      { o: {} },
      '"o.k" is required (string)',
    ],
    [
      { properties: { o: { anyOf: [{ required: ["a"] }, { required: ["b"] }] } } },
      { o: {} },
      '"o" needs one of "a", "b", got object {}',
    ],
    [{ additionalProperties: false }, { b: 1 }, '"b" is not a parameter'],
  ])("R6 says what is wrong in words: %j %j", (schema, value, text) => {
    expect(findSchemaError(schema, value)).toBe(text);
  });
});
