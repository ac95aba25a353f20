import { isRecord, type JsonRecord } from "./untrusted-json.ts";

/** Keywords whose value is a schema, a list of schemas, or schemas by name. `items` is a schema or a list. */
export const SCHEMA_KEYWORDS = [
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
export const SCHEMA_LIST_KEYWORDS = ["allOf", "anyOf", "oneOf", "prefixItems"];
export const SCHEMA_MAP_KEYWORDS = [
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
];

/** Returns a copy of the schema with `change` applied to each schema directly inside it, except malformed ones. */
export function mapInnerSchemas(
  schema: JsonRecord,
  change: (inner: unknown, keyword: string) => unknown,
): JsonRecord {
  const mapKeywordValue = (given: unknown, keyword: string): unknown => {
    const mapInnerSchema = (inner: unknown): unknown => change(inner, keyword);
    const isItems = keyword === "items";
    if ((isItems || SCHEMA_LIST_KEYWORDS.includes(keyword)) && Array.isArray(given))
      return given.map(mapInnerSchema);
    if (!isRecord(given)) return given;
    if (SCHEMA_MAP_KEYWORDS.includes(keyword)) return mapValues(given, mapInnerSchema);
    return isItems || SCHEMA_KEYWORDS.includes(keyword) ? mapInnerSchema(given) : given;
  };
  return mapValues(schema, mapKeywordValue);
}

export function collectSchemas(schema: JsonRecord): JsonRecord[] {
  const found = [schema];
  mapInnerSchemas(schema, (inner) => {
    if (isRecord(inner)) found.push(...collectSchemas(inner));
  });
  return found;
}

function mapValues(record: JsonRecord, change: (value: unknown, key: string) => unknown): JsonRecord {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}
