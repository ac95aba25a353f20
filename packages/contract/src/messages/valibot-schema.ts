import { isRecord } from "./untrusted-json.ts";

/** valibot's limits in a schema's pipe, and the JSON Schema keyword for each, by type where that differs. */
const LIMITS: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  min_length: { string: "minLength", array: "minItems" },
  max_length: { string: "maxLength", array: "maxItems" },
  min_value: "minimum",
  max_value: "maximum",
  gt_value: "exclusiveMinimum",
  lt_value: "exclusiveMaximum",
  multiple_of: "multipleOf",
};
const FORMATS: Readonly<Record<string, string>> = {
  email: "email",
  url: "uri",
  uuid: "uuid",
  iso_date: "date",
};
const NOTES = new Set(["title", "description"]);
const OPTIONAL = new Set(["optional", "exact_optional", "nullish", "undefinedable"]);
const MAX_DEPTH = 50;

type Json = Record<string, unknown>;

/** Converts a valibot schema. Leaves open what JSON Schema cannot express: valibot checks the value later. */
export function readValibot(given: unknown, depth = 0): Json {
  if (!isRecord(given) || depth > MAX_DEPTH) return {};
  const readInner = (one: unknown) => readValibot(one, depth + 1);
  const schema = readers[String(given.type)]?.(given, readInner) ?? {};
  const steps = Array.isArray(given.pipe) ? given.pipe.slice(1).filter(isRecord) : [];
  for (const step of steps) Object.assign(schema, readStep(step, schema));
  return schema;
}

const readers: Readonly<Record<string, (schema: Json, inner: (one: unknown) => Json) => Json>> = {
  ...Object.fromEntries(["string", "number", "boolean", "null"].map((type) => [type, () => ({ type })])),
  literal: ({ literal }) => ({ const: literal }),
  picklist: ({ options }) => ({ enum: options }),
  enum: ({ options }) => ({ enum: options }),
  array: ({ item }, inner) => ({ type: "array", items: inner(item) }),
  record: ({ value }, inner) => ({ type: "object", additionalProperties: inner(value) }),
  union: ({ options }, inner) => ({ anyOf: toList(options).map(inner) }),
  variant: ({ options }, inner) => ({ anyOf: toList(options).map(inner) }),
  intersect: ({ options }, inner) => ({ allOf: toList(options).map(inner) }),
  nullable: ({ wrapped }, inner) => ({ anyOf: [inner(wrapped), { type: "null" }] }),
  nullish: ({ wrapped }, inner) => ({ anyOf: [inner(wrapped), { type: "null" }] }),
  ...Object.fromEntries(
    ["optional", "exact_optional", "undefinedable", "non_optional"].map((kind) => [kind, readWrapped]),
  ),
  ...Object.fromEntries(["object", "loose_object", "object_with_rest"].map((kind) => [kind, readObject])),
  strict_object: (schema, inner) => ({ ...readObject(schema, inner), additionalProperties: false }),
};

function readWrapped(schema: Json, inner: (one: unknown) => Json): Json {
  const fallback = schema.default;
  const isPlain = fallback !== undefined && typeof fallback !== "function";
  return { ...inner(schema.wrapped), ...(isPlain ? { default: fallback } : {}) };
}

function readObject({ entries }: Json, inner: (one: unknown) => Json): Json {
  const all = Object.entries(isRecord(entries) ? entries : {});
  const required = all
    .filter(([, one]) => isRecord(one) && !OPTIONAL.has(String(one.type)))
    .map(([name]) => name);
  const properties = Object.fromEntries(all.map(([name, one]) => [name, inner(one)]));
  return { type: "object", properties, required };
}

/** Returns the keywords that one step of the pipe adds. */
function readStep(step: Json, so: Json): Json {
  const type = String(step.type);
  if (NOTES.has(type)) return { [type]: step[type] };
  if (type === "integer") return { type: "integer" };
  if (type in FORMATS) return { format: FORMATS[type] };
  const limit = LIMITS[type];
  const keyword = typeof limit === "object" ? limit[String(so.type)] : limit;
  return keyword !== undefined && typeof step.requirement === "number" ? { [keyword]: step.requirement } : {};
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
