import { mapInnerSchemas } from "@burin/contract/messages/inner-schemas";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";

/** Keywords that say which type is meant where `type` does not. */
const TYPE_OF: readonly (readonly [string, string])[] = [
  ["properties", "object"],
  ["additionalProperties", "object"],
  ["items", "array"],
  ["prefixItems", "array"],
  ["minItems", "array"],
  ["pattern", "string"],
  ["format", "string"],
  ["minLength", "string"],
  ["maxLength", "string"],
  ["minimum", "number"],
  ["maximum", "number"],
];
const SAYS_TYPE = ["type", "anyOf", "oneOf", "allOf", "not", "$ref", "if"];
/** Any value at all, in words that narrow services take. */
const ANYTHING = [
  { type: "string" },
  { type: "number" },
  { type: "boolean" },
  { type: "object" },
  { type: "array", items: { type: "string" } },
];

const done = new WeakMap<JsonSchema, JsonSchema>();

/**
 * The same schema for services that take a narrow dialect only, and it means the same to the others: a choice
 * says its type in each of its parts, everything has a type, and only what is described is asked for.
 */
export function narrowSchema(schema: JsonSchema): JsonSchema {
  const known = done.get(schema) ?? (narrowed(schema) as JsonSchema);
  done.set(schema, known);
  return known;
}

function narrowed(schema: JsonRecord): JsonRecord {
  const { anyOf, oneOf, ...rest } = mapInnerSchemas(schema, (inner, keyword) => {
    if (!isRecord(inner)) return inner;
    return keyword === "properties" || keyword === "items" ? typed(narrowed(inner)) : narrowed(inner);
  });
  // That exactly one fits is still checked; narrow services know no word for it.
  const choices = anyOf ?? oneOf;
  if (!Array.isArray(choices)) return withKnownRequired(rest);
  const { type, ...others } = rest;
  const parts = choices.filter(isRecord).map((part) => {
    const whole = withParentsProperties(part, rest);
    return type === undefined ? typed(whole) : withKnownRequired({ type, ...whole });
  });
  const both = anyOf !== undefined && oneOf !== undefined ? { oneOf } : {};
  return { ...withKnownRequired(others), anyOf: parts, ...both };
}

/** A part of a choice that only asks for properties is told what they are. */
function withParentsProperties(part: JsonRecord, { properties: described }: JsonRecord): JsonRecord {
  if (part.properties !== undefined || !Array.isArray(part.required) || !isRecord(described)) return part;
  const entries = knownNames(part.required, described).map((name) => [name, described[name]]);
  return { ...part, properties: Object.fromEntries(entries) };
}

function withKnownRequired(schema: JsonRecord): JsonRecord {
  const { required, ...rest } = schema;
  if (!Array.isArray(required) || !isRecord(schema.properties)) return schema;
  const kept = knownNames(required, schema.properties);
  return kept.length > 0 ? { ...schema, required: kept } : rest;
}

/** A property or an item, which has to say its type. */
function typed(schema: JsonRecord): JsonRecord {
  if (SAYS_TYPE.some((key) => schema[key] !== undefined)) return schema;
  const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : [];
  const types = new Set(values.map((value) => (value === null ? "null" : typeof value)));
  const [only = "object"] = types;
  if (types.size === 1 && only !== "object") return { type: only, ...schema };
  if (types.size > 0) return schema;
  const told = TYPE_OF.find(([key]) => schema[key] !== undefined)?.[1];
  return told === undefined ? { ...schema, anyOf: ANYTHING } : { type: told, ...schema };
}

/** Those of the names that are described. */
export function knownNames(required: unknown, properties: unknown): string[] {
  const asked = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  return asked.filter((name) => isRecord(properties) && Object.hasOwn(properties, name));
}
