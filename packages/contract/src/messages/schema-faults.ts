import { orElse } from "../or-else.ts";
import type { JsonSchema } from "./message.ts";
import { isRecord, type JsonRecord, stableJson } from "./untrusted-json.ts";

export interface SchemaFault {
  /** The keys that lead to the value. */
  readonly path: readonly string[];
  /** What the value must be, as the end of a sentence. */
  readonly says: string;
  /** The actual value; absent when there is none, or when the key itself is the fault. */
  readonly got?: unknown;
}

/** A value and the schema that it is checked against. */
interface Place {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly path: readonly string[];
  readonly root: JsonSchema;
  /** The references followed at this same value; following one twice would never end. */
  readonly references: readonly string[];
  readonly depth: number;
  /** Shared by all places of one check. */
  readonly budget: { left: number };
  readonly areExpressionsRun: boolean;
}

export interface CheckOptions {
  /** false: regular expressions, and what depends on them, forbid nothing. */
  readonly areExpressionsRun?: boolean;
}

type Faults = readonly SchemaFault[];
type Rule = (place: Place, given: unknown) => Faults;

export const TYPES = ["string", "number", "integer", "boolean", "null", "array", "object"];
/** Nesting of a value; deeper nesting is a fault. */
const MOST_NESTING = 200;
/** Nesting of schemas; what is deeper is not checked. */
const MOST_DEPTH = 500;
/** Steps of one check, far more than a sensible schema requires; some schemas double the work with every line. */
const MOST_STEPS = 50_000;

/**
 * Finds everything that is wrong with a value by a JSON Schema of draft-07 or 2020-12. A keyword that is unknown
 * or malformed forbids nothing, because the schema's author checks too; nor does one that takes too long. A key
 * whose value is undefined counts as absent, as it would be in JSON.
 */
export function schemaFaults(
  schema: JsonSchema,
  value: unknown,
  { areExpressionsRun = true }: CheckOptions = {},
): Faults {
  const budget = { left: MOST_STEPS };
  const start = { path: [], root: schema, references: [], depth: 0 };
  const faults = faultsAt({ schema, value, ...start, budget, areExpressionsRun });
  return budget.left < 0 ? [] : faults;
}

function faultsAt(place: Place): Faults {
  const { schema, path, depth, budget } = place as Omit<Place, "schema"> & { readonly schema: unknown };
  if (schema === false) return [{ path, says: "is not allowed" }];
  budget.left -= depth > MOST_DEPTH ? MOST_STEPS + 1 : 1;
  if (!isRecord(schema) || budget.left < 0) return [];
  if (path.length > MOST_NESTING) return [{ path: path.slice(0, 3), says: "is nested too deeply" }];
  return Object.entries(schema).flatMap(([keyword, given]) => RULES.get(keyword)?.(place, given) ?? []);
}

/** The faults of the same value by another schema. */
function also(place: Place, schema: unknown): Faults {
  return faultsAt({ ...place, schema: schema as JsonSchema, depth: place.depth + 1 });
}

/** The faults of a part of the value. */
function inside(place: Place, key: string, schema: unknown): Faults {
  const value = (place.value as JsonRecord)[key];
  return also({ ...place, value, path: [...place.path, key], references: [] }, schema);
}

function fits(place: Place, schema: unknown): boolean {
  return also(place, schema).length === 0;
}

function wrong({ path, value }: Place, says: string): Faults {
  return [{ path, says, got: value }];
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

type Measure = (value: unknown) => number | null;
type Comparison = (size: number, given: number) => boolean;

const amount: Measure = (value) => (typeof value === "number" ? value : null);
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;
/** Length in code points, as a reader counts. */
const characters: Measure = (value) => (typeof value === "string" ? value.replace(PAIR, "-").length : null);
const itemCount: Measure = (value) => (Array.isArray(value) ? value.length : null);
const keyCount: Measure = (value) => (isRecord(value) ? keysOf(value).length : null);
const atLeast: Comparison = (size, given) => size >= given;
const atMost: Comparison = (size, given) => size <= given;

/** Allows for rounding: 0.3 counts as a multiple of 0.1. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return step <= 0 || Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

/** A rule for values that the measure applies to; `says` has # in place of the number. */
function limit(measure: Measure, isMet: Comparison, says: string): Rule {
  return (place, given) => {
    const size = measure(place.value);
    if (size === null || typeof given !== "number" || isMet(size, given)) return [];
    const isEmpty = given === 1 && size === 0 && measure === characters;
    return wrong(place, isEmpty ? "must not be empty" : says.replace("#", String(given)));
  };
}

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["type", type],
  ["enum", (place, given) => (Array.isArray(given) ? among(place, given, "must be one of") : [])],
  ["const", (place, given) => among(place, [given], "must be")],
  ["minimum", limit(amount, atLeast, "must be at least #")],
  ["maximum", limit(amount, atMost, "must be at most #")],
  ["exclusiveMinimum", limit(amount, (size, given) => size > given, "must be more than #")],
  ["exclusiveMaximum", limit(amount, (size, given) => size < given, "must be less than #")],
  ["multipleOf", limit(amount, isMultiple, "must be a multiple of #")],
  ["minLength", limit(characters, atLeast, "must have at least # characters")],
  ["maxLength", limit(characters, atMost, "must have at most # characters")],
  ["minItems", limit(itemCount, atLeast, "must have at least # items")],
  ["maxItems", limit(itemCount, atMost, "must have at most # items")],
  ["minProperties", limit(keyCount, atLeast, "must have at least # keys")],
  ["maxProperties", limit(keyCount, atMost, "must have at most # keys")],
  ["pattern", pattern],
  ["uniqueItems", uniqueItems],
  ["$ref", reference],
  ["required", missing],
  ["properties", properties],
  ["patternProperties", patternProperties],
  ["additionalProperties", additionalProperties],
  ["propertyNames", propertyNames],
  ["dependentRequired", dependencies],
  ["dependentSchemas", dependencies],
  ["dependencies", dependencies],
  ["prefixItems", leadingItems],
  ["items", items],
  ["additionalItems", additionalItems],
  ["contains", contains],
  ["allOf", (place, given) => listOf(given).flatMap((schema) => also(place, schema))],
  ["anyOf", (place, given) => someOf(place, given, Number.POSITIVE_INFINITY)],
  ["oneOf", (place, given) => someOf(place, given, 1)],
  ["not", (place, given) => (fits(place, given) ? wrong(place, "has a form that is not allowed") : [])],
  ["if", (place, given) => also(place, fits(place, given) ? place.schema.then : place.schema.else)],
]);

function type(place: Place, given: unknown): Faults {
  const { value } = place;
  const types = [given].flat();
  const actual = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  const isAllowed = (name: unknown) =>
    !TYPES.includes(String(name)) ||
    (name === "integer" ? Number.isInteger(value) : name === actual && !Number.isNaN(value));
  if (types.length === 0 || types.some(isAllowed)) return [];
  const names = types.join(" or ");
  return wrong(place, `must be ${/^[aeio]/.test(names) ? "an" : "a"} ${names}`);
}

function among(place: Place, allowed: readonly unknown[], says: string): Faults {
  const wanted = stableJson(place.value);
  if (allowed.length === 0 || allowed.some((one) => stableJson(one) === wanted)) return [];
  return wrong(place, `${says} ${allowed.map(shown).join(", ")}`);
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}

function uniqueItems(place: Place, given: unknown): Faults {
  const items = given === true ? listOf(place.value) : [];
  return new Set(items.map(stableJson)).size === items.length
    ? []
    : wrong(place, "must not contain the same item twice");
}

function pattern(place: Place, given: unknown): Faults {
  const { value, areExpressionsRun } = place;
  const isChecked = areExpressionsRun && typeof value === "string" && typeof given === "string";
  const words = place.schema.patternErrorMessage;
  const says = typeof words === "string" ? words : `must match ${given}`;
  return isChecked && !matches(given, value) ? wrong(place, says) : [];
}

function matches(source: string, text: string): boolean {
  return expressionOf(source)?.test(text) ?? true;
}

/** Tries the `u` flag, which JSON Schema requires, and then none: older patterns are often not valid with it. */
export function expressionOf(source: string): RegExp | null {
  return orElse(null, () => new RegExp(source, "u")) ?? orElse(null, () => new RegExp(source));
}

function reference(place: Place, given: unknown): Faults {
  if (typeof given !== "string" || place.references.includes(given)) return [];
  const references = [...place.references, given];
  return also({ ...place, references }, schemaAt(place.root, given));
}

/** Resolves a reference in the schema, by a JSON pointer or an anchor; undefined when it leads nowhere. */
export function schemaAt(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  const given = reference.slice(1);
  const fragment = orElse(given, () => decodeURIComponent(given));
  if (fragment !== "" && !fragment.startsWith("/")) return anchored(root, fragment);
  let found: unknown = root;
  for (const part of fragment.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as JsonRecord)[key];
  }
  return found;
}

function anchored(root: JsonSchema, name: string): unknown {
  const all = Object.values({ ...fieldsOf(root.definitions), ...fieldsOf(root.$defs) });
  return all.find((one) => isRecord(one) && (one.$anchor === name || one.$id === `#${name}`));
}

function missing(place: Place, names: unknown): Faults {
  if (!isRecord(place.value)) return [];
  return listOf(names)
    .filter((name) => typeof name === "string")
    .filter((name) => !has(place.value, name))
    .map((name) => {
      const property = place.schema.properties?.[name];
      const type = isRecord(property) ? property.type : undefined;
      const kind = type === undefined ? "" : ` (${[type].flat().join(" or ")})`;
      return { path: [...place.path, name], says: `is required${kind}` };
    });
}

function properties(place: Place, given: unknown): Faults {
  const schemas = fieldsOf(given);
  return keysOf(place.value)
    .filter((key) => Object.hasOwn(schemas, key))
    .flatMap((key) => inside(place, key, schemas[key]));
}

function patternProperties(place: Place, schemas: unknown): Faults {
  if (!place.areExpressionsRun) return [];
  return Object.entries(fieldsOf(schemas)).flatMap(([pattern, schema]) =>
    keysOf(place.value)
      .filter((key) => matches(pattern, key))
      .flatMap((key) => inside(place, key, schema)),
  );
}

function additionalProperties(place: Place, given: unknown): Faults {
  const known = fieldsOf(place.schema.properties);
  const patterns = Object.keys(fieldsOf(place.schema.patternProperties));
  if (patterns.length > 0 && !place.areExpressionsRun) return [];
  return keysOf(place.value)
    .filter((key) => !Object.hasOwn(known, key) && !patterns.some((pattern) => matches(pattern, key)))
    .flatMap((key) =>
      given === false
        ? [{ path: [...place.path, key], says: "is not a parameter" }]
        : inside(place, key, given),
    );
}

function propertyNames(place: Place, given: unknown): Faults {
  return keysOf(place.value)
    .filter((key) => !fits({ ...place, value: key }, given))
    .map((key) => ({ path: [...place.path, key], says: "has a name that is not allowed" }));
}

/** A key may require other keys (a list) or put a schema on the whole value. */
function dependencies(place: Place, given: unknown): Faults {
  return Object.entries(fieldsOf(given))
    .filter(([key]) => has(place.value, key))
    .flatMap(([, needed]) => (Array.isArray(needed) ? missing(place, needed) : also(place, needed)));
}

function leadingItems(place: Place, schemas: unknown): Faults {
  return listOf(schemas)
    .slice(0, listOf(place.value).length)
    .flatMap((schema, index) => inside(place, String(index), schema));
}

function items(place: Place, given: unknown): Faults {
  if (Array.isArray(given)) return leadingItems(place, given);
  return restOfItems(place, given, listOf(place.schema.prefixItems).length);
}

/** Applies only together with a list of items; draft-07 ignores it otherwise. */
function additionalItems(place: Place, given: unknown): Faults {
  const { items: leading } = place.schema;
  return Array.isArray(leading) ? restOfItems(place, given, leading.length) : [];
}

function restOfItems(place: Place, given: unknown, from: number): Faults {
  return listOf(place.value).flatMap((_, index) => (index < from ? [] : inside(place, String(index), given)));
}

function contains(place: Place, given: unknown): Faults {
  if (!Array.isArray(place.value)) return [];
  const { minContains: least = 1, maxContains: most = Number.POSITIVE_INFINITY } = place.schema;
  const count = place.value.filter((value: unknown) =>
    fits({ ...place, value, references: [] }, given),
  ).length;
  if (count < Number(least)) return wrong(place, `must contain at least ${least} matching items`);
  return count > Number(most) ? wrong(place, `must contain at most ${most} matching items`) : [];
}

function someOf(place: Place, schemas: unknown, most: number): Faults {
  const tried = listOf(schemas).map((schema) => also(place, schema));
  const count = tried.filter((faults) => faults.length === 0).length;
  if (count === 0) return unfit(place, tried);
  return count > most ? wrong(place, `must match exactly one schema, but matches ${count} of them`) : [];
}

/** The faults by the one schema that was clearly meant; otherwise what each of the schemas requires. */
function unfit(place: Place, tried: readonly Faults[]): Faults {
  const meant = tried.filter((faults) => faults.every((fault) => fault.path.length > place.path.length));
  if (meant.length === 1 && meant[0] !== undefined) return meant[0];
  const all = tried.map((faults) => faults.map((fault) => wish(fault, place)).join(" and "));
  const wishes = [...new Set(all)];
  const missing = wishes.flatMap((one) => /^("[^"]+") is required(?: \([^"]*\))?$/.exec(one)?.[1] ?? []);
  if (wishes.length > 1 && missing.length === wishes.length)
    return wrong(place, `needs one of ${missing.join(", ")}`);
  return wishes.length === 0 ? [] : wrong(place, wishes.join(", or "));
}

function wish({ path, says }: SchemaFault, place: Place): string {
  const key = path.slice(place.path.length).join(".");
  return key === "" ? says : `"${key}" ${says}`;
}
