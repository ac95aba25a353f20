import type { JsonSchema } from "./message.ts";
import type { StandardIssue, StandardSchema } from "./schema-types.ts";
import { readValibot } from "./valibot-schema.ts";

/**
 * The JSON Schema that a model gets for a schema that checks itself. Throws when there is none: the schema's library
 * must offer it, as zod from 4.2 on and arktype from 2.1.28 on do. valibot's schemas are read as the data that they are.
 */
export function jsonSchemaOf(schema: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  if (jsonSchema !== undefined) return { ...jsonSchema.input({ target: "draft-07" }) };
  if (vendor === "valibot") return readValibot(schema);
  const wanted = vendor === "zod" ? "zod 4.2 or later offers it" : "convert it, and pass the result";
  throw new TypeError(`The schema of ${vendor} says nothing of JSON Schema, which models need: ${wanted}.`);
}

/** Says what is wrong, with the keys that lead there. */
export function describeIssues(issues: readonly StandardIssue[]): string {
  return issues
    .map(({ message, path = [] }) => {
      const keys = path.map((step) => String(typeof step === "object" ? step.key : step));
      return keys.length === 0 ? message : `"${keys.join(".")}": ${message}`;
    })
    .join("; ");
}
