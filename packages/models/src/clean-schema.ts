import type { JsonSchema } from "@burin/contract/messages/json-schema";
import { schemaAt } from "@burin/contract/messages/schema-faults";
import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { mergedSchemas, unitedSchemas } from "./schema-merge.ts";

/**
 * What a provider understands. `full`: JSON Schema, as long as nothing is a reference and the top is a plain
 * object. `plain`: only type, description, properties, required, items, enum, anyOf and the bounds.
 */
export type SchemaDialect = "full" | "plain";

/** References can be piled up so that a small schema unfolds to a huge one. */
const MOST_NODES = 3000;
const MOST_DEPTH: Readonly<Record<SchemaDialect, number>> = { full: 24, plain: 12 };

const DROPPED: ReadonlySet<string> = new Set([
  "$ref",
  "$defs",
  "definitions",
  "$schema",
  "$id",
  "id",
  "$comment",
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$vocabulary",
]);
const PLAIN: ReadonlySet<string> = new Set([
  "type",
  "description",
  "required",
  "enum",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "nullable",
  "items",
  "properties",
  "anyOf",
]);
const PLAIN_FORMATS: ReadonlySet<unknown> = new Set([
  "date-time",
  "date",
  "time",
  "int32",
  "int64",
  "float",
  "double",
]);
const LISTS_OF_SCHEMAS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const MAPS_OF_SCHEMAS: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"]);
const SCHEMAS: ReadonlySet<string> = new Set([
  "items",
  "additionalProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "unevaluatedProperties",
  "unevaluatedItems",
  "additionalItems",
]);
/** What no provider takes at the top of the parameters. */
const NOT_AT_TOP: ReadonlySet<string> = new Set(["not", "if", "then", "else", "enum", "const", "nullable"]);

const cleaned: Readonly<Record<SchemaDialect, WeakMap<JsonSchema, JsonSchema>>> = {
  full: new WeakMap(),
  plain: new WeakMap(),
};

/**
 * The parameters of a tool in the words of a provider: the same for the same schema, references replaced by
 * what they name (cut where they would never end), and an object at the top. Arguments are still checked
 * against the tool's own schema, so what is left out here is only not told.
 */
export function schemaFor(schema: JsonSchema, dialect: SchemaDialect): JsonSchema {
  const known = cleaned[dialect].get(schema);
  if (known) return known;
  const clean = new SchemaCleaner(schema, dialect).top();
  cleaned[dialect].set(schema, clean);
  return clean;
}

interface Place {
  readonly depth: number;
  /** The references that led here. */
  readonly via: readonly string[];
}

class SchemaCleaner {
  readonly #root: JsonSchema;
  readonly #dialect: SchemaDialect;
  #nodes = 0;

  constructor(root: JsonSchema, dialect: SchemaDialect) {
    this.#root = root;
    this.#dialect = dialect;
  }

  top(): JsonSchema {
    let schema: JsonRecord = this.#clean(this.#root, { depth: 0, via: ["#"] });
    for (const key of ["allOf", "anyOf", "oneOf"]) {
      const { [key]: parts, ...rest } = schema;
      if (!Array.isArray(parts)) continue;
      const records = parts.filter(isRecord);
      schema = mergedSchemas(
        rest,
        key === "allOf" ? records.reduce(mergedSchemas, {}) : unitedSchemas(records),
      );
    }
    const kept = Object.entries(schema).filter(([key]) => !NOT_AT_TOP.has(key) && key !== "type");
    const { properties = {}, ...rest } = Object.fromEntries(kept);
    return { type: "object", properties: isRecord(properties) ? properties : {}, ...rest } as JsonSchema;
  }

  #clean(schema: unknown, place: Place): JsonRecord {
    this.#nodes += 1;
    if (!isRecord(schema)) return schema === false && this.#dialect === "full" ? { not: {} } : {};
    if (typeof schema.$ref === "string") return this.#followed(schema, schema.$ref, place);
    if (place.depth > MOST_DEPTH[this.#dialect] || this.#nodes > MOST_NODES) return outline(schema);
    const entries = Object.entries(schema).flatMap(([key, value]) => this.#entry(key, value, place));
    const clean = withItems(Object.fromEntries(entries));
    if (this.#dialect === "full") return clean;
    const { depth, via } = place;
    const parts = Array.isArray(schema.allOf) ? schema.allOf : [];
    const both = parts
      .map((part) => this.#clean(part, { depth: depth + 1, via }))
      .reduce(mergedSchemas, clean);
    return plain(both, schema.const);
  }

  #followed(schema: JsonRecord, reference: string, place: Place): JsonRecord {
    const target = schemaAt(this.#root, reference);
    const { $ref: _, ...own } = schema;
    if (place.via.includes(reference) || !isRecord(target)) {
      return { ...(isRecord(target) ? outline(target) : {}), ...outline(own) };
    }
    const { depth, via } = place;
    const clean = this.#clean(target, { depth, via: [...via, reference] });
    return mergedSchemas(clean, this.#clean(own, place));
  }

  #entry(key: string, value: unknown, { depth, via }: Place): [string, unknown][] {
    const below = { depth: depth + 1, via };
    if (DROPPED.has(key)) return [];
    if (this.#dialect === "full") {
      if (key === "items" && Array.isArray(value)) return [["prefixItems", this.#list(value, below)]];
      return [[key, this.#inner(key, value, below)]];
    }
    if ((key === "items" || key === "prefixItems") && Array.isArray(value)) {
      return [["items", { anyOf: this.#list(value, below) }]];
    }
    const name = key === "oneOf" ? "anyOf" : key;
    if (name === "format") return PLAIN_FORMATS.has(value) ? [[key, value]] : [];
    return PLAIN.has(name) ? [[name, this.#inner(name, value, below)]] : [];
  }

  /** The value of a keyword, with the schemas in it cleaned. */
  #inner(key: string, value: unknown, below: Place): unknown {
    if (LISTS_OF_SCHEMAS.has(key) && Array.isArray(value)) return this.#list(value, below);
    if (SCHEMAS.has(key) && isRecord(value)) return this.#clean(value, below);
    if (!MAPS_OF_SCHEMAS.has(key) || !isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.#clean(inner, below)]),
    );
  }

  #list(schemas: readonly unknown[], below: Place): JsonRecord[] {
    return schemas.map((schema) => this.#clean(schema, below));
  }
}

/** What is left of a schema that is not followed further. */
function outline({ type, description, title }: JsonRecord): JsonRecord {
  return {
    ...(type === undefined ? {} : { type }),
    ...(typeof description === "string"
      ? { description }
      : typeof title === "string"
        ? { description: title }
        : {}),
  };
}

function withItems(schema: JsonRecord): JsonRecord {
  return schema.type === "array" && !isRecord(schema.items) ? { ...schema, items: {} } : schema;
}

/** The keywords that the plain dialect says in another way, or not at all. */
function plain(schema: JsonRecord, constant: unknown): JsonRecord {
  const { nullable, enum: values, required, ...rest } = schema;
  const result: Record<string, unknown> = rest;
  const choices = constant === undefined ? values : [constant];
  if (Array.isArray(choices) && choices.length > 0 && choices.every(isNamable)) {
    result.type ??= typeof choices[0];
    result.enum = choices;
  }
  if (nullable === true && typeof result.type === "string") result.type = [result.type, "null"];
  // To ask for a property that is not described is an error there.
  const known = isRecord(rest.properties) ? rest.properties : undefined;
  const isWhole = known !== undefined || rest.type === "object";
  const asked = Array.isArray(required) ? required : [];
  const kept = isWhole ? asked.filter((name) => Object.hasOwn(known ?? {}, String(name))) : asked;
  return kept.length > 0 ? { ...result, required: kept } : result;
}

function isNamable(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}
