import { getOrCreate } from "@burin/contract/async/once";
import { mapInnerSchemas } from "@burin/contract/messages/inner-schemas";
import type { JsonSchema } from "@burin/contract/messages/message";
import { resolveReference } from "@burin/contract/messages/schema-faults";
import { filterRecords, isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { createWordSet } from "@burin/contract/text/words";
import { toWireKey } from "./wire.ts";

/**
 * The schemas that a provider accepts. `full`: JSON Schema without references and with a plain object at the top.
 * `plain`: only type, description, properties, required, items, enum, anyOf and the bounds.
 */
export type SchemaDialect = "full" | "plain";

/** The size limit: nested references can expand a small schema to a huge one. */
const MAX_NODES = 3000;
const MAX_DEPTH: Readonly<Record<SchemaDialect, number>> = { full: 24, plain: 12 };

const DROPPED = createWordSet(
  "$ref $defs definitions $schema $id id $comment $anchor $dynamicAnchor $dynamicRef $vocabulary",
);
const PLAIN = createWordSet(
  "type description required enum minimum maximum minItems maxItems nullable items properties anyOf",
);
const PLAIN_FORMATS: ReadonlySet<unknown> = createWordSet("date-time date time int32 int64 float double");
/** Keywords that no provider accepts at the top level of the parameters. */
const NOT_AT_TOP = createWordSet("not if then else enum const nullable type");

const WRITTEN: Readonly<Record<SchemaDialect, WeakMap<JsonSchema, JsonSchema>>> = {
  full: new WeakMap(),
  plain: new WeakMap(),
};

/** Converts a tool's parameters for services with this dialect. The result for each schema is cached. */
export function formatToolSchema(schema: JsonSchema, dialect: SchemaDialect): JsonSchema {
  return getOrCreate(WRITTEN[dialect], schema, () => {
    const clean = simplifySchema(schema, dialect);
    return useWireKeys(dialect === "plain" ? clean : adaptSchemaToStrictServices(clean)) as JsonSchema;
  });
}

/** Renames properties that providers would reject. They check only the names at the top level. */
function useWireKeys({ properties, required, ...rest }: JsonRecord): JsonRecord {
  const named = Object.entries(isRecord(properties) ? properties : {}).map(([key, value]) => [
    toWireKey(key),
    value,
  ]);
  const asked = required === undefined ? {} : { required: listNames(required).map(toWireKey) };
  return { ...rest, properties: Object.fromEntries(named), ...asked };
}

/**
 * Converts a tool's parameters for a provider: replaces references by their targets (cutting endless ones), and puts an
 * object at the top. Arguments are still checked against the tool's own schema, so what is left out here is only not
 * shown to the model.
 */
export function simplifySchema(schema: JsonSchema, dialect: SchemaDialect): JsonSchema {
  const start = { root: schema, levels: MAX_DEPTH[dialect], via: ["#"], budget: { nodes: MAX_NODES } };
  const whole = unfoldSchema(schema, start);
  return mergeAlternatives(dialect === "plain" ? toPlainSchema(whole) : whole);
}

interface UnfoldPosition {
  readonly root: JsonSchema;
  readonly levels: number;
  readonly via: readonly string[];
  /** Shared by all parts of one schema. */
  readonly budget: { nodes: number };
}

function unfoldSchema(schema: unknown, place: UnfoldPosition): JsonRecord {
  const { levels, via, budget } = place;
  budget.nodes -= 1;
  if (!isRecord(schema)) return schema === false ? { not: {} } : {};
  if (typeof schema.$ref === "string") return followReference(schema, schema.$ref, place);
  if (levels < 0 || budget.nodes < 0) return outlineSchema(schema);
  const kept = Object.entries(schema).filter(
    ([key, value]) => !DROPPED.has(key) && isValidKeyword(key, value),
  );
  const renameKeyword = (key: string, value: unknown) =>
    key === "items" && Array.isArray(value) ? "prefixItems" : key;
  const told = kept.map(([key, value]) => [renameKeyword(key, value), value]);
  const clean = mapInnerSchemas(Object.fromEntries(told), (inner) =>
    unfoldSchema(inner, { ...place, levels: levels - 1, via }),
  );
  const { anyOf, type, items } = clean;
  // Remove choices that no value can match, which some schemas offer for values that may be left out.
  const parts = Array.isArray(anyOf) ? { anyOf: anyOf.filter((part) => !isNeverSchema(part)) } : {};
  return { ...clean, ...parts, ...(type === "array" && !isRecord(items) ? { items: {} } : {}) };
}

const TYPES = createWordSet("string number integer boolean object array null");
/** Matches what JavaScript patterns have and Python's lack: services compile patterns with Python. */
const NOT_IN_PYTHON = /(?:^|[^\\])(?:\\\\)*(?:\\(?![AbBdDsSwWZafnrtvxuUN])[A-Za-z]|\\u\{|\(\?<[^=!])/;

/** Whether a keyword's value is valid. A service rejects the whole tool for an invalid one, as older drafts have. */
function isValidKeyword(keyword: string, value: unknown): boolean {
  if (keyword === "type") return [value].flat().every((type) => typeof type === "string" && TYPES.has(type));
  if (keyword === "required" || keyword === "enum") return Array.isArray(value) && String(value) !== "";
  if (keyword === "pattern") return typeof value === "string" && !NOT_IN_PYTHON.test(value);
  if (keyword === "patternProperties")
    return isRecord(value) && !Object.keys(value).some((key) => NOT_IN_PYTHON.test(key));
  if (keyword.startsWith("exclusive")) return typeof value === "number";
  return keyword !== "additionalProperties" || JSON.stringify(value) !== "{}";
}

function isNeverSchema(schema: unknown): boolean {
  return JSON.stringify(schema) === '{"not":{}}';
}

function followReference(schema: JsonRecord, reference: string, place: UnfoldPosition): JsonRecord {
  const target = resolveReference(place.root, reference);
  const { $ref: _, ...own } = schema;
  if (place.via.length > MAX_DEPTH.full || place.via.includes(reference) || !isRecord(target)) {
    return { ...(isRecord(target) ? outlineSchema(target) : {}), ...outlineSchema(own) };
  }
  const clean = unfoldSchema(target, { ...place, via: [...place.via, reference] });
  return mergeSchemas(clean, unfoldSchema(own, place));
}

function outlineSchema({ type, description, title }: JsonRecord): JsonRecord {
  const told = [description, title].find((text) => typeof text === "string");
  return { ...(type === undefined ? {} : { type }), ...(told === undefined ? {} : { description: told }) };
}

/** Converts the schema to the plain dialect, which writes some keywords differently and lacks others. */
function toPlainSchema(schema: unknown): JsonRecord {
  if (!isRecord(schema)) return {};
  const { allOf, oneOf, prefixItems, ...own } = mapInnerSchemas(schema, toPlainSchema);
  const named = {
    ...own,
    ...(Array.isArray(oneOf) ? { anyOf: oneOf } : {}),
    ...(Array.isArray(prefixItems) ? { items: { anyOf: prefixItems } } : {}),
  };
  const kept = Object.entries(named).filter(
    ([key, value]) => PLAIN.has(key) || (key === "format" && PLAIN_FORMATS.has(value)),
  );
  const whole = filterRecords(allOf).reduce<JsonRecord>(mergeSchemas, Object.fromEntries(kept));
  const { nullable, enum: values, required, ...rest } = whole;
  const result: Record<string, unknown> = rest;
  const choices = schema.const === undefined ? values : [schema.const];
  const isPlain = (value: unknown) => typeof value === "string" || typeof value === "number";
  if (Array.isArray(choices) && choices.length > 0 && choices.every(isPlain)) {
    result.type ??= typeof choices[0];
    result.enum = choices;
  }
  if (nullable === true && typeof result.type === "string") result.type = [result.type, "null"];
  // In the plain dialect, requiring a property without a description is an error.
  const isWhole = rest.properties !== undefined || rest.type === "object";
  const asked = isWhole ? filterKnownNames(required, rest.properties) : listNames(required);
  return asked.length > 0 ? { ...result, required: asked } : result;
}

/** Converts the parameters to one plain object that contains the properties of all alternatives. */
function mergeAlternatives(clean: JsonRecord): JsonSchema {
  const { allOf, anyOf, oneOf, ...rest } = clean;
  // Each part may itself consist of parts.
  const listTopLevelParts = (choice: unknown) => filterRecords(choice).map(mergeAlternatives);
  const whole = [
    listTopLevelParts(allOf).reduce(mergeSchemas, {}),
    uniteSchemas(listTopLevelParts(anyOf)),
    uniteSchemas(listTopLevelParts(oneOf)),
  ].reduce<JsonRecord>(mergeSchemas, rest);
  const kept = Object.entries(whole).filter(([key]) => !NOT_AT_TOP.has(key));
  const { properties, ...others } = Object.fromEntries(kept);
  return { type: "object", properties: isRecord(properties) ? properties : {}, ...others } as JsonSchema;
}

/** Combines two schemas that both apply, as in `allOf`. If they differ, the second one wins. */
function mergeSchemas(first: JsonRecord, second: JsonRecord): JsonRecord {
  const merged: Record<string, unknown> = { ...first, ...second };
  if (isRecord(first.properties) && isRecord(second.properties)) {
    merged.properties = { ...first.properties, ...second.properties };
  }
  const required = [...listNames(first.required), ...listNames(second.required)];
  if (required.length > 0) merged.required = [...new Set(required)];
  return merged;
}

/** Combines the objects of an `anyOf` into one, with all properties. It requires only what all of them require. */
function uniteSchemas(choices: readonly JsonRecord[]): JsonRecord {
  const properties = new Map<string, unknown[]>();
  for (const choice of choices) {
    for (const [name, schema] of Object.entries(isRecord(choice.properties) ? choice.properties : {})) {
      properties.set(name, [...(properties.get(name) ?? []), schema]);
    }
  }
  const asked = choices.map((choice) => listNames(choice.required));
  const required = [...new Set(asked[0])].filter((name) => asked.every((list) => list.includes(name)));
  return {
    ...(properties.size > 0 ? { properties: Object.fromEntries([...properties].map(uniteProperty)) } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

function uniteProperty([name, schemas]: [string, unknown[]]): [string, unknown] {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return [name, different.length === 1 ? different[0] : { anyOf: different }];
}

function listNames(required: unknown): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** Keywords that imply a type if `type` is missing. */
const TYPE_OF: Readonly<Record<string, ReadonlySet<string>>> = {
  object: createWordSet("properties additionalProperties"),
  array: createWordSet("items prefixItems minItems"),
  string: createWordSet("pattern format minLength maxLength"),
  number: createWordSet("minimum maximum"),
};
const SAYS_TYPE = ["type", "anyOf", "oneOf", "allOf", "not", "$ref", "if"];
/** Any value, in a form that strict services accept. */
const ANYTHING = [
  { type: "string" },
  { type: "number" },
  { type: "boolean" },
  { type: "object" },
  { type: "array", items: { type: "string" } },
];

/** Converts a schema for strict services: every property has a type, and only described properties are required. */
function adaptSchemaToStrictServices(schema: JsonRecord): JsonRecord {
  const { anyOf, oneOf, ...rest } = mapInnerSchemas(schema, (inner, keyword) => {
    if (!isRecord(inner)) return inner;
    return keyword === "properties" || keyword === "items"
      ? addImpliedType(adaptSchemaToStrictServices(inner))
      : adaptSchemaToStrictServices(inner);
  });
  // Later checks still require that exactly one choice matches; strict services have no keyword for that.
  const choices = anyOf ?? oneOf;
  if (!Array.isArray(choices)) return keepKnownRequired(rest);
  const { type, ...others } = rest;
  const parts = choices.filter(isRecord).map((part) => {
    const whole = inheritProperties(part, rest);
    return type === undefined ? addImpliedType(whole) : keepKnownRequired({ type, ...whole });
  });
  const both = anyOf !== undefined && oneOf !== undefined ? { oneOf } : {};
  return { ...keepKnownRequired(others), anyOf: parts, ...both };
}

/** Adds the descriptions of the required properties to a choice that has only `required`. */
function inheritProperties(part: JsonRecord, { properties: described }: JsonRecord): JsonRecord {
  if (part.properties !== undefined || !Array.isArray(part.required) || !isRecord(described)) return part;
  const entries = filterKnownNames(part.required, described).map((name) => [name, described[name]]);
  return { ...part, properties: Object.fromEntries(entries) };
}

function keepKnownRequired(schema: JsonRecord): JsonRecord {
  const { required, ...rest } = schema;
  if (!Array.isArray(required) || !isRecord(schema.properties)) return schema;
  const kept = filterKnownNames(required, schema.properties);
  return kept.length > 0 ? { ...schema, required: kept } : rest;
}

function addImpliedType(schema: JsonRecord): JsonRecord {
  if (SAYS_TYPE.some((key) => schema[key] !== undefined)) return schema;
  const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : [];
  const types = new Set(values.map((value) => (value === null ? "null" : typeof value)));
  const [only = "object"] = types;
  if (types.size === 1 && only !== "object") return { type: only, ...schema };
  if (types.size > 0) return schema;
  const hasAnyKeyword = (keywords: ReadonlySet<string>) =>
    Object.keys(schema).some((key) => keywords.has(key));
  const [told] = Object.entries(TYPE_OF).find(([, keywords]) => hasAnyKeyword(keywords)) ?? [];
  return told === undefined ? { ...schema, anyOf: ANYTHING } : { type: told, ...schema };
}

function filterKnownNames(required: unknown, properties: unknown): string[] {
  return listNames(required).filter((name) => isRecord(properties) && Object.hasOwn(properties, name));
}
