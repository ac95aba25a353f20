import type { JsonSchema } from "./json-schema.ts";
import { SCALAR_CHECKS } from "./schema-scalars.ts";
import { isRecord, type JsonRecord } from "./untrusted-json.ts";

/** One thing that is wrong with a value. */
export interface SchemaFault {
  /** The keys from the top to it. */
  readonly path: readonly string[];
  /** What it must be, as the end of a sentence. */
  readonly says: string;
  /** What stands there; absent when nothing does, or when the key itself is the fault. */
  readonly got?: unknown;
}

/** A value and the schema that it is held against. */
interface Place {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly path: readonly string[];
  readonly root: JsonSchema;
  /** The references that led here without going deeper into the value; a second visit would never end. */
  readonly references: readonly string[];
  /** Shared by all places of one check. */
  readonly budget: { left: number };
}

type Check = (place: Place, given: unknown) => readonly SchemaFault[];
const MOST_NESTING = 200;
/** Steps of one check, far more than any schema that is meant takes; some double the work with every line. */
const MOST_STEPS = 50_000;

/**
 * Everything that is wrong with a value by a JSON Schema of draft-07 or 2020-12. A keyword that is not known
 * here, or is badly formed, forbids nothing: whoever wrote the schema checks by it too. Neither does one
 * that takes too long. A key whose value is undefined counts as absent, as it would be in JSON.
 */
export function schemaFaults(schema: JsonSchema, value: unknown): readonly SchemaFault[] {
  const budget = { left: MOST_STEPS };
  const faults = faultsAt({ schema, value, path: [], root: schema, references: [], budget });
  return budget.left < 0 ? [] : faults;
}

function faultsAt(place: Place): readonly SchemaFault[] {
  const { schema, value, path } = place as { schema: unknown; value: unknown; path: readonly string[] };
  if (schema === false) return [{ path, says: "is not allowed" }];
  place.budget.left -= 1;
  if (!isRecord(schema) || place.budget.left < 0) return [];
  if (path.length > MOST_NESTING) return [{ path: path.slice(0, 3), says: "is nested too deeply" }];
  const faults: SchemaFault[] = [];
  for (const [keyword, given] of Object.entries(schema)) {
    const says = SCALAR_CHECKS.get(keyword)?.(value, given) ?? null;
    if (says !== null) faults.push({ path, says, got: value });
    faults.push(...(CHECKS.get(keyword)?.(place, given) ?? []));
  }
  return faults;
}

/** The faults of the same value by another schema. */
function also(place: Place, schema: unknown): readonly SchemaFault[] {
  return faultsAt({ ...place, schema: schema as JsonSchema });
}

function fits(place: Place, schema: unknown): boolean {
  return also(place, schema).length === 0;
}

/** The faults of a part of the value. */
function inside(place: Place, key: string, schema: unknown): readonly SchemaFault[] {
  const value = (place.value as JsonRecord)[key];
  const path = [...place.path, key];
  return faultsAt({ ...place, schema: schema as JsonSchema, value, path, references: [] });
}

function keysOf(value: unknown): string[] {
  return isRecord(value) ? Object.keys(value).filter((key) => value[key] !== undefined) : [];
}

function has(value: unknown, key: string): boolean {
  return isRecord(value) && Object.hasOwn(value, key) && value[key] !== undefined;
}

function listOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : [];
}

function fieldsOf(given: unknown): JsonRecord {
  return isRecord(given) ? given : {};
}

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["$ref", reference],
  ["required", (place, given) => missing(place, listOf(given))],
  ["properties", (place, given) => properties(place, fieldsOf(given))],
  ["patternProperties", (place, given) => patternProperties(place, fieldsOf(given))],
  ["additionalProperties", additionalProperties],
  ["propertyNames", propertyNames],
  ["dependentRequired", (place, given) => dependencies(place, fieldsOf(given))],
  ["dependentSchemas", (place, given) => dependencies(place, fieldsOf(given))],
  ["dependencies", (place, given) => dependencies(place, fieldsOf(given))],
  ["prefixItems", (place, given) => leadingItems(place, listOf(given))],
  ["items", items],
  ["additionalItems", (place, given) => restOfItems(place, given, listOf(place.schema.items).length)],
  ["contains", contains],
  ["allOf", (place, given) => listOf(given).flatMap((schema) => also(place, schema))],
  ["anyOf", (place, given) => anyOf(place, listOf(given))],
  ["oneOf", (place, given) => oneOf(place, listOf(given))],
  ["not", (place, given) => (fits(place, given) ? [wrong(place, "is of a kind that is not allowed")] : [])],
  ["if", condition],
]);

function wrong({ path, value }: Place, says: string): SchemaFault {
  return { path, says, got: value };
}

function reference(place: Place, given: unknown): readonly SchemaFault[] {
  if (typeof given !== "string" || place.references.includes(given)) return [];
  const target = given.startsWith("#") ? schemaAt(place.root, given.slice(1)) : undefined;
  return also({ ...place, references: [...place.references, given] }, target);
}

/** By a JSON pointer or the name of an anchor; undefined, which forbids nothing, when it leads nowhere. */
export function schemaAt(root: JsonSchema, fragment: string): unknown {
  if (fragment !== "" && !fragment.startsWith("/")) return anchored(root, fragment);
  let found: unknown = root;
  for (const part of fragment.split("/").slice(1)) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = (found as JsonRecord | null | undefined)?.[key];
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function anchored(root: JsonSchema, name: string): unknown {
  const all = Object.values({ ...fieldsOf(root.definitions), ...fieldsOf(root.$defs) });
  return all.find((one) => isRecord(one) && (one.$anchor === name || one.$id === `#${name}`));
}

function missing(place: Place, names: readonly unknown[]): readonly SchemaFault[] {
  if (!isRecord(place.value)) return [];
  return names
    .filter((name) => typeof name === "string")
    .filter((name) => !has(place.value, name))
    .map((name) => {
      const type = place.schema.properties?.[name]?.type;
      const kind = type === undefined ? "" : ` (${[type].flat().join(" or ")})`;
      return { path: [...place.path, name], says: `is required${kind}` };
    });
}

function properties(place: Place, schemas: JsonRecord): readonly SchemaFault[] {
  return keysOf(place.value)
    .filter((key) => Object.hasOwn(schemas, key))
    .flatMap((key) => inside(place, key, schemas[key]));
}

function patternProperties(place: Place, schemas: JsonRecord): readonly SchemaFault[] {
  return Object.entries(schemas).flatMap(([pattern, schema]) =>
    keysOf(place.value)
      .filter((key) => matchesPattern(pattern, key))
      .flatMap((key) => inside(place, key, schema)),
  );
}

function matchesPattern(pattern: string, key: string): boolean {
  return SCALAR_CHECKS.get("pattern")?.(key, pattern) === null;
}

function additionalProperties(place: Place, given: unknown): readonly SchemaFault[] {
  const known = fieldsOf(place.schema.properties);
  const patterns = Object.keys(fieldsOf(place.schema.patternProperties));
  return keysOf(place.value)
    .filter((key) => !Object.hasOwn(known, key) && !patterns.some((pattern) => matchesPattern(pattern, key)))
    .flatMap((key) =>
      given === false
        ? [{ path: [...place.path, key], says: "is not a parameter" }]
        : inside(place, key, given),
    );
}

function propertyNames(place: Place, given: unknown): readonly SchemaFault[] {
  return keysOf(place.value).flatMap((key) =>
    fits({ ...place, value: key }, given)
      ? []
      : [{ path: [...place.path, key], says: "has a name that is not allowed" }],
  );
}

/** A key may ask for other keys (a list) or for more of the whole value (a schema). */
function dependencies(place: Place, given: JsonRecord): readonly SchemaFault[] {
  return Object.entries(given)
    .filter(([key]) => has(place.value, key))
    .flatMap(([, needed]) => (Array.isArray(needed) ? missing(place, needed) : also(place, needed)));
}

function leadingItems(place: Place, schemas: readonly unknown[]): readonly SchemaFault[] {
  const count = Math.min(listOf(place.value).length, schemas.length);
  return schemas.slice(0, count).flatMap((schema, index) => inside(place, String(index), schema));
}

function items(place: Place, given: unknown): readonly SchemaFault[] {
  if (Array.isArray(given)) return leadingItems(place, given);
  return restOfItems(place, given, listOf(place.schema.prefixItems).length);
}

function restOfItems(place: Place, given: unknown, from: number): readonly SchemaFault[] {
  return listOf(place.value).flatMap((_item, index) =>
    index < from ? [] : inside(place, String(index), given),
  );
}

function contains(place: Place, given: unknown): readonly SchemaFault[] {
  if (!Array.isArray(place.value)) return [];
  const { minContains: least = 1, maxContains: most = Number.POSITIVE_INFINITY } = place.schema;
  const count = place.value.filter((value: unknown) =>
    fits({ ...place, value, references: [] }, given),
  ).length;
  if (count < Number(least)) return [wrong(place, `must contain at least ${least} fitting items`)];
  return count > Number(most) ? [wrong(place, `must contain at most ${most} fitting items`)] : [];
}

function anyOf(place: Place, schemas: readonly unknown[]): readonly SchemaFault[] {
  const tried = schemas.map((schema) => also(place, schema));
  return tried.some((faults) => faults.length === 0) ? [] : unfit(place, tried);
}

function oneOf(place: Place, schemas: readonly unknown[]): readonly SchemaFault[] {
  const tried = schemas.map((schema) => also(place, schema));
  const count = tried.filter((faults) => faults.length === 0).length;
  if (count === 0) return unfit(place, tried);
  return count > 1 ? [wrong(place, `must fit one kind only, but fits ${count} of them`)] : [];
}

/** The faults by the one schema that was meant, where that is plain; else what each of them asks for. */
function unfit(place: Place, tried: readonly (readonly SchemaFault[])[]): readonly SchemaFault[] {
  const meant = tried.filter((faults) => faults.every((fault) => fault.path.length > place.path.length));
  if (meant.length === 1 && meant[0] !== undefined) return meant[0];
  const wishes = new Set(tried.map((faults) => faults.map((fault) => wish(fault, place)).join(" and ")));
  return wishes.size === 0 ? [] : [wrong(place, [...wishes].join(", or "))];
}

function wish({ path, says }: SchemaFault, place: Place): string {
  const key = path.slice(place.path.length).join(".");
  return key === "" ? says : `"${key}" ${says}`;
}

function condition(place: Place, given: unknown): readonly SchemaFault[] {
  return also(place, fits(place, given) ? place.schema.then : place.schema.else);
}
