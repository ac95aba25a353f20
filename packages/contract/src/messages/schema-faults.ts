import { withFallback } from "../with-fallback.ts";
import type { JsonSchema } from "./message.ts";
import { isRecord, type JsonRecord, stringifySorted } from "./untrusted-json.ts";

export interface SchemaFault {
  /** The keys that lead to the faulty value. */
  readonly path: readonly string[];
  /** What the value must be, as the end of a sentence ("must be ..."). */
  readonly says: string;
  /** The actual value. Absent when there is none, or when the key itself is the fault. */
  readonly got?: unknown;
}

/** A value and the schema that checks it, with the state of the check. */
interface SchemaPosition {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly path: readonly string[];
  readonly root: JsonSchema;
  /** References already followed at this value. Following one twice would never end. */
  readonly references: readonly string[];
  readonly depth: number;
  /** The remaining steps, shared by the whole check. */
  readonly budget: { left: number };
  readonly areExpressionsRun: boolean;
}

export interface CheckOptions {
  /** If false, regular expressions are not run, and keywords that depend on them forbid nothing. */
  readonly areExpressionsRun?: boolean;
}

type Faults = readonly SchemaFault[];
type Rule = (place: SchemaPosition, given: unknown) => Faults;

export const TYPES = ["string", "number", "integer", "boolean", "null", "array", "object"];
/** The deepest allowed nesting of a value. Deeper nesting is a fault. */
const MAX_NESTING = 200;
/** The deepest nesting of schemas that is checked. Deeper ones forbid nothing. */
const MAX_DEPTH = 500;
/** The maximum number of steps of one check. A sensible schema needs far fewer, but some schemas double the work with every line. */
const MAX_STEPS = 50_000;

/**
 * Finds everything that is wrong with a value according to a JSON Schema (draft-07 or 2020-12). Unknown and malformed
 * keywords forbid nothing, because the schema's author checks too. A check that takes too long finds nothing. A key
 * whose value is undefined counts as absent, as in JSON.
 */
export function findSchemaFaults(
  schema: JsonSchema,
  value: unknown,
  { areExpressionsRun = true }: CheckOptions = {},
): Faults {
  const budget = { left: MAX_STEPS };
  const start = { path: [], root: schema, references: [], depth: 0 };
  const faults = checkSchema({ schema, value, ...start, budget, areExpressionsRun });
  return budget.left < 0 ? [] : faults;
}

function checkSchema(place: SchemaPosition): Faults {
  const { schema, path, depth, budget } = place as Omit<SchemaPosition, "schema"> & {
    readonly schema: unknown;
  };
  if (schema === false) return [{ path, says: "is not allowed" }];
  budget.left -= depth > MAX_DEPTH ? MAX_STEPS + 1 : 1;
  if (!isRecord(schema) || budget.left < 0) return [];
  if (path.length > MAX_NESTING) return [{ path: path.slice(0, 3), says: "is nested too deeply" }];
  return Object.entries(schema).flatMap(([keyword, given]) => RULES.get(keyword)?.(place, given) ?? []);
}

/** Checks the same value with another schema. */
function checkSameValue(place: SchemaPosition, schema: unknown): Faults {
  return checkSchema({ ...place, schema: schema as JsonSchema, depth: place.depth + 1 });
}

/** Checks a property or item of the value. */
function checkMember(place: SchemaPosition, key: string, schema: unknown): Faults {
  const value = (place.value as JsonRecord)[key];
  return checkSameValue({ ...place, value, path: [...place.path, key], references: [] }, schema);
}

function isValid(place: SchemaPosition, schema: unknown): boolean {
  return checkSameValue(place, schema).length === 0;
}

function createFault({ path, value }: SchemaPosition, says: string): Faults {
  return [{ path, says, got: value }];
}

function listKeys(value: unknown): string[] {
  return isRecord(value) ? Object.keys(value).filter((key) => value[key] !== undefined) : [];
}

function hasKey(value: unknown, key: string): boolean {
  return isRecord(value) && Object.hasOwn(value, key) && value[key] !== undefined;
}

function toList(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : [];
}

function toRecord(given: unknown): JsonRecord {
  return isRecord(given) ? given : {};
}

type Measure = (value: unknown) => number | null;
type Comparison = (size: number, given: number) => boolean;

const readNumber: Measure = (value) => (typeof value === "number" ? value : null);
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;
/** Counts code points, as a reader would count characters. */
const countCharacters: Measure = (value) =>
  typeof value === "string" ? value.replace(PAIR, "-").length : null;
const countItems: Measure = (value) => (Array.isArray(value) ? value.length : null);
const countKeys: Measure = (value) => (isRecord(value) ? listKeys(value).length : null);
const atLeast: Comparison = (size, given) => size >= given;
const atMost: Comparison = (size, given) => size <= given;

/** Whether the value is a multiple of the step. Allows for rounding: 0.3 is a multiple of 0.1. */
function isMultipleOf(value: number, step: number): boolean {
  const times = value / step;
  return step <= 0 || Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

/** Creates a rule that limits a measure of the value, where it applies. `says` has # in place of the number. */
function createLimitRule(measure: Measure, isMet: Comparison, says: string): Rule {
  return (place, given) => {
    const size = measure(place.value);
    if (size === null || typeof given !== "number" || isMet(size, given)) return [];
    const isEmpty = given === 1 && size === 0 && measure === countCharacters;
    return createFault(place, isEmpty ? "must not be empty" : says.replace("#", String(given)));
  };
}

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["type", checkType],
  ["enum", (place, given) => (Array.isArray(given) ? checkAllowedValue(place, given, "must be one of") : [])],
  ["const", (place, given) => checkAllowedValue(place, [given], "must be")],
  ["minimum", createLimitRule(readNumber, atLeast, "must be at least #")],
  ["maximum", createLimitRule(readNumber, atMost, "must be at most #")],
  ["exclusiveMinimum", createLimitRule(readNumber, (size, given) => size > given, "must be more than #")],
  ["exclusiveMaximum", createLimitRule(readNumber, (size, given) => size < given, "must be less than #")],
  ["multipleOf", createLimitRule(readNumber, isMultipleOf, "must be a multiple of #")],
  ["minLength", createLimitRule(countCharacters, atLeast, "must have at least # characters")],
  ["maxLength", createLimitRule(countCharacters, atMost, "must have at most # characters")],
  ["minItems", createLimitRule(countItems, atLeast, "must have at least # items")],
  ["maxItems", createLimitRule(countItems, atMost, "must have at most # items")],
  ["minProperties", createLimitRule(countKeys, atLeast, "must have at least # keys")],
  ["maxProperties", createLimitRule(countKeys, atMost, "must have at most # keys")],
  ["pattern", checkPattern],
  ["uniqueItems", checkUniqueItems],
  ["$ref", checkReference],
  ["required", checkRequired],
  ["properties", checkProperties],
  ["patternProperties", checkPatternProperties],
  ["additionalProperties", checkAdditionalProperties],
  ["propertyNames", checkPropertyNames],
  ["dependentRequired", checkDependencies],
  ["dependentSchemas", checkDependencies],
  ["dependencies", checkDependencies],
  ["prefixItems", checkLeadingItems],
  ["items", checkItems],
  ["additionalItems", checkAdditionalItems],
  ["contains", checkContains],
  ["allOf", (place, given) => toList(given).flatMap((schema) => checkSameValue(place, schema))],
  ["anyOf", (place, given) => checkAnyOrOneOf(place, given, Number.POSITIVE_INFINITY)],
  ["oneOf", (place, given) => checkAnyOrOneOf(place, given, 1)],
  [
    "not",
    (place, given) => (isValid(place, given) ? createFault(place, "has a form that is not allowed") : []),
  ],
  [
    "if",
    (place, given) => checkSameValue(place, isValid(place, given) ? place.schema.then : place.schema.else),
  ],
]);

function checkType(place: SchemaPosition, given: unknown): Faults {
  const { value } = place;
  const types = [given].flat();
  const actual = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  const isTypeAllowed = (name: unknown) =>
    !TYPES.includes(String(name)) ||
    (name === "integer" ? Number.isInteger(value) : name === actual && !Number.isNaN(value));
  if (types.length === 0 || types.some(isTypeAllowed)) return [];
  const names = types.join(" or ");
  return createFault(place, `must be ${/^[aeio]/.test(names) ? "an" : "a"} ${names}`);
}

function checkAllowedValue(place: SchemaPosition, allowed: readonly unknown[], says: string): Faults {
  const wanted = stringifySorted(place.value);
  if (allowed.length === 0 || allowed.some((one) => stringifySorted(one) === wanted)) return [];
  return createFault(place, `${says} ${allowed.map(formatValue).join(", ")}`);
}

function formatValue(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}

function checkUniqueItems(place: SchemaPosition, given: unknown): Faults {
  const items = given === true ? toList(place.value) : [];
  return new Set(items.map(stringifySorted)).size === items.length
    ? []
    : createFault(place, "must not contain the same item twice");
}

function checkPattern(place: SchemaPosition, given: unknown): Faults {
  const { value, areExpressionsRun } = place;
  const isChecked = areExpressionsRun && typeof value === "string" && typeof given === "string";
  const words = place.schema.patternErrorMessage;
  const says = typeof words === "string" ? words : `must match ${given}`;
  return isChecked && !matchesExpression(given, value) ? createFault(place, says) : [];
}

function matchesExpression(source: string, text: string): boolean {
  return compileExpression(source)?.test(text) ?? true;
}

/** Compiles the expression with the `u` flag, which JSON Schema requires; without it if that fails. */
export function compileExpression(source: string): RegExp | null {
  return withFallback(null, () => new RegExp(source, "u")) ?? withFallback(null, () => new RegExp(source));
}

function checkReference(place: SchemaPosition, given: unknown): Faults {
  if (typeof given !== "string" || place.references.includes(given)) return [];
  const references = [...place.references, given];
  return checkSameValue({ ...place, references }, resolveReference(place.root, given));
}

/** Resolves a reference (a JSON pointer or an anchor) inside the schema. Returns undefined when it leads nowhere. */
export function resolveReference(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  const given = reference.slice(1);
  const fragment = withFallback(given, () => decodeURIComponent(given));
  if (fragment !== "" && !fragment.startsWith("/")) return findAnchor(root, fragment);
  let found: unknown = root;
  for (const part of fragment.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as JsonRecord)[key];
  }
  return found;
}

function findAnchor(root: JsonSchema, name: string): unknown {
  const all = Object.values({ ...toRecord(root.definitions), ...toRecord(root.$defs) });
  return all.find((one) => isRecord(one) && (one.$anchor === name || one.$id === `#${name}`));
}

function checkRequired(place: SchemaPosition, names: unknown): Faults {
  if (!isRecord(place.value)) return [];
  return toList(names)
    .filter((name) => typeof name === "string")
    .filter((name) => !hasKey(place.value, name))
    .map((name) => {
      const property = place.schema.properties?.[name];
      const type = isRecord(property) ? property.type : undefined;
      const kind = type === undefined ? "" : ` (${[type].flat().join(" or ")})`;
      return { path: [...place.path, name], says: `is required${kind}` };
    });
}

function checkProperties(place: SchemaPosition, given: unknown): Faults {
  const schemas = toRecord(given);
  return listKeys(place.value)
    .filter((key) => Object.hasOwn(schemas, key))
    .flatMap((key) => checkMember(place, key, schemas[key]));
}

function checkPatternProperties(place: SchemaPosition, schemas: unknown): Faults {
  if (!place.areExpressionsRun) return [];
  return Object.entries(toRecord(schemas)).flatMap(([pattern, schema]) =>
    listKeys(place.value)
      .filter((key) => matchesExpression(pattern, key))
      .flatMap((key) => checkMember(place, key, schema)),
  );
}

function checkAdditionalProperties(place: SchemaPosition, given: unknown): Faults {
  const known = toRecord(place.schema.properties);
  const patterns = Object.keys(toRecord(place.schema.patternProperties));
  if (patterns.length > 0 && !place.areExpressionsRun) return [];
  return listKeys(place.value)
    .filter(
      (key) => !Object.hasOwn(known, key) && !patterns.some((pattern) => matchesExpression(pattern, key)),
    )
    .flatMap((key) =>
      given === false
        ? [{ path: [...place.path, key], says: "is not a parameter" }]
        : checkMember(place, key, given),
    );
}

function checkPropertyNames(place: SchemaPosition, given: unknown): Faults {
  return listKeys(place.value)
    .filter((key) => !isValid({ ...place, value: key }, given))
    .map((key) => ({ path: [...place.path, key], says: "has a name that is not allowed" }));
}

/** Checks dependent keys: a key may require other keys (a list) or apply a schema to the whole value. */
function checkDependencies(place: SchemaPosition, given: unknown): Faults {
  return Object.entries(toRecord(given))
    .filter(([key]) => hasKey(place.value, key))
    .flatMap(([, needed]) =>
      Array.isArray(needed) ? checkRequired(place, needed) : checkSameValue(place, needed),
    );
}

function checkLeadingItems(place: SchemaPosition, schemas: unknown): Faults {
  return toList(schemas)
    .slice(0, toList(place.value).length)
    .flatMap((schema, index) => checkMember(place, String(index), schema));
}

function checkItems(place: SchemaPosition, given: unknown): Faults {
  if (Array.isArray(given)) return checkLeadingItems(place, given);
  return checkRemainingItems(place, given, toList(place.schema.prefixItems).length);
}

/** Checks the items after those that a list in `items` covers. As in draft-07, ignored if `items` is not a list. */
function checkAdditionalItems(place: SchemaPosition, given: unknown): Faults {
  const { items: leading } = place.schema;
  return Array.isArray(leading) ? checkRemainingItems(place, given, leading.length) : [];
}

function checkRemainingItems(place: SchemaPosition, given: unknown, from: number): Faults {
  return toList(place.value).flatMap((_, index) =>
    index < from ? [] : checkMember(place, String(index), given),
  );
}

function checkContains(place: SchemaPosition, given: unknown): Faults {
  if (!Array.isArray(place.value)) return [];
  const { minContains: min = 1, maxContains: max = Number.POSITIVE_INFINITY } = place.schema;
  const count = place.value.filter((value: unknown) =>
    isValid({ ...place, value, references: [] }, given),
  ).length;
  if (count < Number(min)) return createFault(place, `must contain at least ${min} matching items`);
  return count > Number(max) ? createFault(place, `must contain at most ${max} matching items`) : [];
}

function checkAnyOrOneOf(place: SchemaPosition, schemas: unknown, max: number): Faults {
  const tried = toList(schemas).map((schema) => checkSameValue(place, schema));
  const count = tried.filter((faults) => faults.length === 0).length;
  if (count === 0) return mergeFaults(place, tried);
  return count > max ? createFault(place, `must match exactly one schema, but matches ${count} of them`) : [];
}

/** Returns the faults from the one schema that was clearly meant, or else what each of the schemas requires. */
function mergeFaults(place: SchemaPosition, tried: readonly Faults[]): Faults {
  const meant = tried.filter((faults) => faults.every((fault) => fault.path.length > place.path.length));
  if (meant.length === 1 && meant[0] !== undefined) return meant[0];
  const all = tried.map((faults) => faults.map((fault) => describeExpected(fault, place)).join(" and "));
  const wishes = [...new Set(all)];
  const missing = wishes.flatMap((one) => /^("[^"]+") is required(?: \([^"]*\))?$/.exec(one)?.[1] ?? []);
  if (wishes.length > 1 && missing.length === wishes.length)
    return createFault(place, `needs one of ${missing.join(", ")}`);
  return wishes.length === 0 ? [] : createFault(place, wishes.join(", or "));
}

function describeExpected({ path, says }: SchemaFault, place: SchemaPosition): string {
  const key = path.slice(place.path.length).join(".");
  return key === "" ? says : `"${key}" ${says}`;
}
