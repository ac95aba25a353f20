import { describe, expect, it } from "vitest";
import { findSchemaProblem } from "./schema-problem.ts";

function nested(levels: number): object {
  return Array.from({ length: levels }).reduce<object>((inner) => ({ not: inner }), {});
}

describe("a schema that values are to be checked by", () => {
  it.each([
    [{}],
    [{ type: ["object", "null"], additionalProperties: false, "x-note": { type: 7 } }],
    [{ properties: { type: { type: "string" }, items: { items: [{ minimum: 1 }, true] } } }],
    [{ $ref: "#/$defs/a~1b", $defs: { "a/b": { pattern: "^a+$", maxLength: 3 } } }],
    [{ $ref: "#node", $defs: { node: { $anchor: "node", anyOf: [{ $ref: "#" }, { enum: [1] }] } } }],
    [{ const: { $ref: "elsewhere" }, default: { required: "x" } }],
  ])("%j can be used", (schema) => {
    expect(findSchemaProblem(schema)).toBe(null);
  });

  it.each([
    [[], "is an object"],
    [{ type: "strnig" }, '"type" must be one of "string", "number"'],
    [{ properties: { n: { type: [] } } }, '"properties.n.type" must be one of'],
    [{ properties: [] }, '"properties" must be an object'],
    [{ items: "string" }, '"items" must be an object or boolean'],
    [{ items: [{ minLength: -1 }] }, '"items.0.minLength" must be at least 0'],
    [{ anyOf: [] }, '"anyOf" must have at least 1 items'],
    [{ not: { required: "n" } }, '"not.required" must be an array'],
    [{ properties: { n: { anyOf: [{}, { pattern: "(" }] } } }, '"(" is not a regular expression'],
    [{ required: ["n", 7] }, '"required.1" must be a string'],
    [{ minItems: 1.5 }, '"minItems" must be an integer'],
    [{ $ref: 7 }, '"$ref" must be a string'],
    [{ $defs: { "a~b": { allOf: {} } } }, '"$defs.a~b.allOf" must be an array'],
    [nested(250), "is nested too deeply"],
    [{ pattern: 7 }, '"pattern" must be a string'],
    [{ pattern: "(" }, '"(" is not a regular expression'],
    [{ $defs: { "a/b": { maximum: "3" } } }, '"$defs.a/b.maximum" must be a number'],
    [{ $ref: "#/$defs/none" }, '"#/$defs/none" leads nowhere'],
    [{ $ref: "other.json" }, '"$ref" must match ^#'],
  ])("%j cannot, and the place is named", (schema, words) => {
    expect(findSchemaProblem(schema)).toContain(words);
  });
});
