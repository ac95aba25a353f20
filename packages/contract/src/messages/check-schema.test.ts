import { describe, expect, it } from "vitest";
import { coerceArguments, findSchemaError } from "./check-schema.ts";
import type { JsonSchema } from "./message.ts";

const schema: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    limit: { type: "integer", minimum: 1 },
    deep: { type: "boolean" },
    names: { type: "array", items: { type: "string" } },
    mode: { enum: ["a", "b"] },
    any: {},
  },
  required: ["path"],
  additionalProperties: false,
};

describe("schemaError", () => {
  it.each([
    [{}, ['"path" is required (string)']],
    [{ path: 5 }, ['"path" must be a string', "number 5"]],
    [{ path: "x", limit: 0 }, ['"limit"', "1", "number 0"]],
    [{ path: "x", limit: 1.5 }, ['"limit" must be an integer', "1.5"]],
    [{ path: "x", names: ["a", 3] }, ['"names.1" must be a string']],
    [{ path: "x", mode: "c" }, ['"mode" must be one of "a", "b"']],
    [{ path: "x", pth: 1 }, ['"pth" is not a parameter']],
    [{ path: null }, ['"path" must be a string, got null']],
  ])("R6 P15 names the key and what is expected: %j", (value, texts) => {
    const error = findSchemaError(schema, value);
    for (const text of texts) expect(error).toContain(text);
  });

  it("R5 accepts draft-07 and 2020-12 schemas, references included", () => {
    const old = { definitions: { n: { type: "number" } }, properties: { n: { $ref: "#/definitions/n" } } };
    const recent = { $defs: { n: { type: "number" } }, properties: { n: { $ref: "#/$defs/n" } } };
    for (const one of [old, recent]) {
      expect(findSchemaError(one, { n: 1 })).toBeNull();
      expect(findSchemaError(one, { n: "1" })).toContain('"n" must be a number');
    }
  });

  it("bounds what it repeats of a long value", () => {
    expect(findSchemaError(schema, { path: ["x".repeat(10_000)] })?.length).toBeLessThan(200);
  });
});

describe("coerceArguments", () => {
  it.each([
    [{ limit: "10" }, { limit: 10 }],
    [{ limit: " 10 " }, { limit: 10 }],
    [{ limit: "1.5" }, { limit: "1.5" }],
    [{ limit: "ten" }, { limit: "ten" }],
    [{ deep: "true" }, { deep: true }],
    [{ deep: "True" }, { deep: true }],
    [{ deep: "False" }, { deep: false }],
    [{ deep: "yes" }, { deep: "yes" }],
    [{ names: '["a","b"]' }, { names: ["a", "b"] }],
    [{ names: "a" }, { names: "a" }],
    [{ path: "10" }, { path: "10" }],
    [{ path: "true" }, { path: "true" }],
    [{ any: "10" }, { any: "10" }],
    [{ unknown: "10" }, { unknown: "10" }],
    [{ limit: 10 }, { limit: 10 }],
    [{ limit: null, deep: null }, {}],
    [{ path: null }, { path: null }],
    [
      { any: null, unknown: null },
      { any: null, unknown: null },
    ],
  ])("P15 turns text only into what the schema asks for: %j -> %j", (given, wanted) => {
    expect(coerceArguments(schema, given)).toEqual(wanted);
  });

  it.each([null, undefined, "text", ["a"], 5])("R6 leaves what is no object to validation: %j", (args) => {
    expect(coerceArguments(schema, args as never)).toEqual(args);
    expect(findSchemaError(schema, args)).toContain("the arguments must be an object");
  });
});
