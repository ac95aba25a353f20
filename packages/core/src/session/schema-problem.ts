import { describeFaults } from "@burin/contract/messages/check-schema";
import {
  collectSchemas,
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
} from "@burin/contract/messages/inner-schemas";
import type { JsonSchema } from "@burin/contract/messages/message";
import {
  compileExpression,
  findSchemaFaults,
  resolveReference,
  TYPES,
} from "@burin/contract/messages/schema-faults";
import { isRecord } from "@burin/contract/messages/untrusted-json";

const SCHEMA: JsonSchema = { $ref: "#" };
const SCHEMAS: JsonSchema = { type: "array", minItems: 1, items: SCHEMA };
const TYPE: JsonSchema = { enum: TYPES };
const COUNT: JsonSchema = { type: "integer", minimum: 0 };

/** The schema that a usable schema must match. It matches itself. */
const SCHEMA_OF_SCHEMAS: JsonSchema = {
  type: ["object", "boolean"],
  properties: {
    ...mapKeywords(SCHEMA_KEYWORDS, SCHEMA),
    ...mapKeywords(SCHEMA_LIST_KEYWORDS, SCHEMAS),
    ...mapKeywords(SCHEMA_MAP_KEYWORDS, { type: "object", additionalProperties: SCHEMA }),
    items: { anyOf: [SCHEMA, SCHEMAS] },
    type: { anyOf: [TYPE, { type: "array", minItems: 1, items: TYPE }] },
    enum: { type: "array" },
    required: { type: "array", items: { type: "string" } },
    pattern: { type: "string" },
    $ref: { type: "string", pattern: "^#" },
    ...mapKeywords(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], {
      type: "number",
    }),
    ...mapKeywords(
      ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
      COUNT,
    ),
  },
};

function mapKeywords(keywords: readonly string[], schema: JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, schema]));
}

/**
 * Says why a schema cannot be used to check values, or returns null. This is for a user's own schema: ignoring a bad
 * keyword in it would accept values that the user meant to reject.
 */
export function findSchemaProblem(schema: unknown): string | null {
  if (!isRecord(schema)) return "a JSON Schema is an object";
  const faults = findSchemaFaults(SCHEMA_OF_SCHEMAS, schema);
  if (faults.length > 0) return describeFaults(faults, "the schema");
  for (const { pattern, $ref } of collectSchemas(schema)) {
    if (pattern !== undefined && compileExpression(String(pattern)) === null)
      return `"${pattern}" is not a regular expression`;
    if ($ref !== undefined && resolveReference(schema, String($ref)) === undefined)
      return `"${$ref}" leads nowhere`;
  }
  return null;
}
