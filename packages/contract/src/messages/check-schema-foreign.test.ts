import { describe, expect, it } from "vitest";
import { findForeignParamsError } from "./check-schema.ts";
import type { JsonSchema } from "./message.ts";

const fault = (schema: JsonSchema, args: Record<string, unknown>) =>
  findForeignParamsError({ name: "t", parameterSchema: schema }, args);

describe("a schema from outside", () => {
  it("is checked by, with what may be given named", () => {
    const schema = { type: "object", properties: { a: { type: "integer" }, b: {} }, required: ["a"] };
    expect(fault(schema, { a: 1 })).toBeNull();
    expect(fault(schema, {})).toBe('Invalid parameters for t: "a" is required (integer). It takes: a, b.');
  });

  it("layer 12: its regular expressions are left to its writer, wherever they stand", () => {
    const evil = { type: "string", pattern: "^(a+)+$" };
    const text = `${"a".repeat(60)}!`;
    expect(fault({ properties: { a: evil } }, { a: text })).toBeNull();
    expect(
      fault({ patternProperties: { "^(a+)+$": false }, additionalProperties: false }, { [text]: 1 }),
    ).toBeNull();
    expect(fault({ propertyNames: evil }, { [text]: 1 })).toBeNull();
    expect(fault({ $defs: { e: evil }, properties: { a: { $ref: "#/$defs/e" } } }, { a: text })).toBeNull();
    expect(fault({ properties: { a: { anyOf: [evil, { type: "integer" }] } } }, { a: true })).not.toBeNull();
    expect(fault({ default: evil, properties: { a: { $ref: "#/default" } } }, { a: text })).toBeNull();
  });

  it("a parameter may be named as a keyword is", () => {
    const names = ["pattern", "format", "patternProperties", "properties", "enum"];
    const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const schema = { type: "object", properties, additionalProperties: false };
    for (const name of names) {
      expect(fault(schema, { [name]: "x" })).toBeNull();
      expect(fault(schema, { [name]: 1 })).toContain(`"${name}" must be a string`);
    }
  });

  it("P15 a choice of nothing, as of a server that could not load its list, allows what the server knows", () => {
    const schema = { properties: { a: { type: "string", enum: [] } } };
    expect(fault(schema, { a: "Button" })).toBeNull();
    expect(fault(schema, { a: 1 })).toContain('"a" must be a string');
  });

  it("values that look like schemas stay values", () => {
    const schema = { properties: { a: { enum: [{ pattern: "x" }] } } };
    expect(fault(schema, { a: { pattern: "x" } })).toBeNull();
    expect(fault(schema, { a: {} })).toContain('"a" must be one of');
  });
});
