import type { JsonSchema } from "./message.ts";
import type { StandardIssue, StandardSchema } from "./schema-types.ts";
import { readValibot } from "./valibot-schema.ts";

/**
 * Returns the JSON Schema for a StandardSchema, for the model. The schema's library must be able to produce it, as zod
 * from 4.2 and arktype from 2.1.28 can. valibot schemas are read directly, because they are plain data. Throws when no
 * JSON Schema is available.
 */
export function toJsonSchema(schema: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  if (jsonSchema !== undefined) return { ...jsonSchema.input({ target: "draft-07" }) };
  if (vendor === "valibot") return readValibot(schema);
  const wanted = vendor === "zod" ? "zod 4.2 or later offers it" : "convert it, and pass the result";
  throw new TypeError(
    `The schema of ${vendor} cannot be converted to JSON Schema, which models need: ${wanted}.`,
  );
}

/** Joins the issues into one text, each with the keys that lead to it. */
export function describeIssues(issues: readonly StandardIssue[]): string {
  return issues
    .map(({ message, path = [] }) => {
      const keys = path.map((step) => String(typeof step === "object" ? step.key : step));
      return keys.length === 0 ? message : `"${keys.join(".")}": ${message}`;
    })
    .join("; ");
}
