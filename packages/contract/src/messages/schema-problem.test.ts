import { describe, expect, it } from "vitest";
import { schemaProblem } from "./schema-problem.ts";

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
    expect(schemaProblem(schema)).toBe(null);
  });

  it.each([
    [[], "is an object"],
    [{ type: "strnig" }, "#/type must be one of string, number"],
    [{ properties: { n: { type: [] } } }, "#/properties/n/type"],
    [{ properties: [] }, "#/properties must be an object of schemas"],
    [{ items: "string" }, "#/items must be a schema"],
    [{ items: [{ minLength: -1 }] }, "#/items/0/minLength must be a whole number"],
    [{ anyOf: [] }, "#/anyOf must be a list of schemas"],
    [{ not: { required: "n" } }, "#/not/required must be a list of names"],
    [{ required: ["n", 7] }, "#/required must be a list of names"],
    [{ minItems: 1.5 }, "#/minItems must be a whole number"],
    [{ $ref: 7 }, "#/$ref must lead to a place in this schema"],
    [{ $defs: { "a~b": { allOf: {} } } }, "#/$defs/a~0b/allOf must be a list of schemas"],
    [nested(250), "it is nested too deeply"],
    [{ pattern: 7 }, "#/pattern must be a regular expression"],
    [{ pattern: "(" }, "#/pattern must be a regular expression"],
    [{ $defs: { "a/b": { maximum: "3" } } }, "#/$defs/a~1b/maximum must be a number"],
    [{ $ref: "#/$defs/none" }, "leads nowhere: #/$defs/none"],
    [{ $ref: "other.json" }, "#/$ref must lead to a place in this schema"],
  ])("%j cannot, and the place is named", (schema, words) => {
    expect(schemaProblem(schema)).toContain(words);
  });
});
