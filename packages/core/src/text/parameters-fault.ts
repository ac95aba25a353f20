import { isStandardSchema } from "@burin/contract/messages/schema-types";
import { isRecord, nestsDeeper } from "@burin/contract/messages/untrusted-json";
import { orElse } from "@burin/contract/or-else";

const MOST_SCHEMA_BYTES = 256 * 1024;
export const MOST_NESTING = 60;

/** What is wrong with the schema of a tool's parameters, so that services would refuse it; null when nothing is. */
export function parametersFault(given: unknown): string | null {
  if (isStandardSchema(given)) {
    return `its parameters are a schema of ${given["~standard"].vendor}, which defineTool turns into JSON Schema`;
  }
  if (!isRecord(given)) return `its parameters must be a JSON Schema object, but are ${shapeOf(given)}`;
  if (nestsDeeper(given, MOST_NESTING)) return `its parameters are nested more than ${MOST_NESTING} deep`;
  const json = orElse(null, () => JSON.stringify(given));
  if (json === null) return "its parameters cannot be written as JSON";
  if (Buffer.byteLength(json) > MOST_SCHEMA_BYTES) {
    return `its parameters take more than ${MOST_SCHEMA_BYTES / 1024} KiB`;
  }
  const { type, properties = {} } = given;
  if (type !== undefined && type !== "object") {
    return `its parameters must be of type object, not ${JSON.stringify(type)}`;
  }
  return isRecord(properties) ? null : `its "properties" must be an object, but are ${shapeOf(properties)}`;
}

/** Names the kind of a value, as a part of a sentence. */
export function shapeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
