import { isRecord, type JsonRecord } from "./untrusted-json.ts";

/** The keywords whose value is one schema, a list of schemas, or several by name; `items` is one or a list. */
export const ONE_SCHEMA = [
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "additionalProperties",
  "additionalItems",
  "unevaluatedProperties",
  "unevaluatedItems",
];
export const SCHEMA_LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
export const SCHEMAS_BY_NAME = [
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
];

/** Returns the schema with each schema directly inside it changed; malformed ones stay as they are. */
export function mapInnerSchemas(
  schema: JsonRecord,
  change: (inner: unknown, keyword: string) => unknown,
): JsonRecord {
  const changed = (given: unknown, keyword: string): unknown => {
    const changedHere = (inner: unknown): unknown => change(inner, keyword);
    const isItems = keyword === "items";
    if ((isItems || SCHEMA_LISTS.includes(keyword)) && Array.isArray(given)) return given.map(changedHere);
    if (!isRecord(given)) return given;
    if (SCHEMAS_BY_NAME.includes(keyword)) return mapValues(given, changedHere);
    return isItems || ONE_SCHEMA.includes(keyword) ? changedHere(given) : given;
  };
  return mapValues(schema, changed);
}

export function schemasInside(schema: JsonRecord): JsonRecord[] {
  const found = [schema];
  mapInnerSchemas(schema, (inner) => {
    if (isRecord(inner)) found.push(...schemasInside(inner));
  });
  return found;
}

function mapValues(record: JsonRecord, change: (value: unknown, key: string) => unknown): JsonRecord {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}
