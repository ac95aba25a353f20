import { describeFaults } from "@burin/contract/messages/check-schema";
import {
  ONE_SCHEMA,
  SCHEMA_LISTS,
  SCHEMAS_BY_NAME,
  schemasInside,
} from "@burin/contract/messages/inner-schemas";
import type { JsonSchema } from "@burin/contract/messages/message";
import { expressionOf, schemaAt, schemaFaults, TYPES } from "@burin/contract/messages/schema-faults";
import { isRecord } from "@burin/contract/messages/untrusted-json";

const SCHEMA: JsonSchema = { $ref: "#" };
const SCHEMAS: JsonSchema = { type: "array", minItems: 1, items: SCHEMA };
const TYPE: JsonSchema = { enum: TYPES };
const COUNT: JsonSchema = { type: "integer", minimum: 0 };

/** What a schema must look like. It describes itself. */
const SCHEMA_OF_SCHEMAS: JsonSchema = {
  type: ["object", "boolean"],
  properties: {
    ...all(ONE_SCHEMA, SCHEMA),
    ...all(SCHEMA_LISTS, SCHEMAS),
    ...all(SCHEMAS_BY_NAME, { type: "object", additionalProperties: SCHEMA }),
    items: { anyOf: [SCHEMA, SCHEMAS] },
    type: { anyOf: [TYPE, { type: "array", minItems: 1, items: TYPE }] },
    enum: { type: "array" },
    required: { type: "array", items: { type: "string" } },
    pattern: { type: "string" },
    $ref: { type: "string", pattern: "^#" },
    ...all(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], { type: "number" }),
    ...all(["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"], COUNT),
  },
};

function all(keywords: readonly string[], schema: JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, schema]));
}

/**
 * Says why a schema cannot be used to check values; null when it can. For a user's own schema, ignoring bad
 * keywords would accept values that were meant to be refused.
 */
export function schemaProblem(schema: unknown): string | null {
  if (!isRecord(schema)) return "a JSON Schema is an object";
  const faults = schemaFaults(SCHEMA_OF_SCHEMAS, schema);
  if (faults.length > 0) return describeFaults(faults, "the schema");
  for (const { pattern, $ref } of schemasInside(schema)) {
    if (pattern !== undefined && expressionOf(String(pattern)) === null)
      return `"${pattern}" is not a regular expression`;
    if ($ref !== undefined && schemaAt(schema, String($ref)) === undefined) return `"${$ref}" leads nowhere`;
  }
  return null;
}
