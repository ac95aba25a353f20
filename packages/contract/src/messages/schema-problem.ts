import { kindOfKeyword } from "./inner-schemas.ts";
import type { JsonSchema } from "./json-schema.ts";
import { expressionOf, schemaAt, TYPES } from "./schema-faults.ts";
import { isRecord } from "./untrusted-json.ts";

/** What a keyword must be, as the end of a sentence; null when it is valid. */
type Demand = (given: unknown) => string | null;

const MOST_NESTING = 200;

function demand(says: string, isMet: (given: unknown) => boolean): Demand {
  return (given) => (isMet(given) ? null : `must be ${says}`);
}

const number = demand("a number", (given) => typeof given === "number");
const count = demand("a whole number from 0", (given) => Number.isInteger(given) && Number(given) >= 0);

const DEMANDS: ReadonlyMap<string, Demand> = new Map([
  ["type", demand(`one of ${TYPES.join(", ")}, or a list of them`, isType)],
  ["enum", demand("a list", Array.isArray)],
  ["required", demand("a list of names", isListOfStrings)],
  ["pattern", demand("a regular expression", isExpression)],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"].map(
    (keyword) => [keyword, number] as const,
  ),
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"].map(
    (keyword) => [keyword, count] as const,
  ),
]);

function isType(given: unknown): boolean {
  const types = [given].flat();
  return types.length > 0 && types.every((one) => TYPES.includes(String(one)));
}

function isListOfStrings(given: unknown): boolean {
  return Array.isArray(given) && given.every((one) => typeof one === "string");
}

function isExpression(given: unknown): boolean {
  return typeof given === "string" && expressionOf(given) !== null;
}

/**
 * Says why a schema cannot be used to check values, with the place as a JSON pointer; null when it can. For a
 * user's own schema, ignoring bad keywords would accept values that were meant to be refused.
 */
export function schemaProblem(schema: unknown): string | null {
  if (!isRecord(schema)) return "a JSON Schema is an object";
  return problemAt(schema, { pointer: "#", root: schema });
}

interface Place {
  readonly pointer: string;
  readonly root: JsonSchema;
}

function problemAt(schema: unknown, place: Place): string | null {
  if (typeof schema === "boolean") return null;
  if (!isRecord(schema)) return `${place.pointer} must be a schema: an object, true or false`;
  if (place.pointer.split("/").length > MOST_NESTING) return "it is nested too deeply";
  for (const [keyword, given] of Object.entries(schema)) {
    const here = below(place, keyword);
    const problem =
      keyword === "$ref" ? referenceProblem(given, place.root) : (DEMANDS.get(keyword)?.(given) ?? null);
    if (problem !== null) return `${here.pointer} ${problem}`;
    const inner = innerProblem(keyword, given, here);
    if (inner !== null) return inner;
  }
  return null;
}

function innerProblem(keyword: string, given: unknown, place: Place): string | null {
  switch (kindOfKeyword(keyword, given)) {
    case "one":
      return problemAt(given, place);
    case "list":
      if (Array.isArray(given) && given.length > 0) return firstProblem(given, place);
      return `${place.pointer} must be a list of schemas`;
    case "named":
      if (isRecord(given)) return firstProblem(given, place);
      return `${place.pointer} must be an object of schemas`;
    default:
      return null;
  }
}

function firstProblem(schemas: object, place: Place): string | null {
  for (const [key, schema] of Object.entries(schemas)) {
    const problem = problemAt(schema, below(place, key));
    if (problem !== null) return problem;
  }
  return null;
}

function below({ pointer, root }: Place, key: string): Place {
  return { pointer: `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, root };
}

/** Only references within the schema itself can be resolved. */
function referenceProblem(given: unknown, root: JsonSchema): string | null {
  if (typeof given !== "string" || !given.startsWith("#"))
    return "must lead to a place in this schema, as #/...";
  return schemaAt(root, given) === undefined ? `leads nowhere: ${given}` : null;
}
