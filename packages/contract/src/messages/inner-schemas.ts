import { isRecord, type JsonRecord } from "./untrusted-json.ts";

/** The keywords whose values are schemas: one schema, a list, or several by name. */
const KINDS: Readonly<Record<"one" | "list" | "named", readonly string[]>> = {
  one: [
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
  ],
  list: ["allOf", "anyOf", "oneOf", "prefixItems"],
  named: ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"],
};
const KIND_OF = new Map(
  Object.entries(KINDS).flatMap(([kind, keywords]) => keywords.map((keyword) => [keyword, kind] as const)),
);

/** Returns how a keyword holds schemas; undefined for one that holds values. */
export function kindOfKeyword(keyword: string, given: unknown): string | undefined {
  return keyword === "items" ? (Array.isArray(given) ? "list" : "one") : KIND_OF.get(keyword);
}

/** Returns the schema with each schema directly inside it changed; malformed ones stay as they are. */
export function mapInnerSchemas(
  schema: JsonRecord,
  change: (inner: unknown, keyword: string) => unknown,
): JsonRecord {
  const changed = (keyword: string, given: unknown): unknown => {
    const changedHere = (inner: unknown): unknown => change(inner, keyword);
    const kind = kindOfKeyword(keyword, given);
    if (kind === "list" && Array.isArray(given)) return given.map(changedHere);
    if (kind === "named" && isRecord(given)) return mapValues(given, changedHere);
    return kind === "one" && isRecord(given) ? changedHere(given) : given;
  };
  return mapValues(schema, (given, keyword) => changed(keyword, given));
}

function mapValues(record: JsonRecord, change: (value: unknown, key: string) => unknown): JsonRecord {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}
