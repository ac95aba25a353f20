import { isStandardSchema } from "@burin/contract/messages/schema-types";
import { isRecord, isTooDeep } from "@burin/contract/messages/untrusted-json";
import { withFallback } from "@burin/contract/with-fallback";

const MAX_SCHEMA_BYTES = 256 * 1024;
export const MAX_NESTING = 60;

/** Returns what is wrong with the schema of a tool's parameters: services would reject it. null if nothing is. */
export function findParametersFault(given: unknown): string | null {
  if (isStandardSchema(given)) {
    return `its parameters are a schema of ${given["~standard"].vendor}, which defineTool turns into JSON Schema`;
  }
  if (!isRecord(given)) return `its parameters must be a JSON Schema object, but are ${describeShape(given)}`;
  if (isTooDeep(given, MAX_NESTING)) return `its parameters are nested more than ${MAX_NESTING} deep`;
  const json = withFallback(null, () => JSON.stringify(given));
  if (json === null) return "its parameters cannot be written as JSON";
  if (Buffer.byteLength(json) > MAX_SCHEMA_BYTES) {
    return `its parameters take more than ${MAX_SCHEMA_BYTES / 1024} KiB`;
  }
  const { type, properties = {} } = given;
  if (type !== undefined && type !== "object") {
    return `its parameters must be of type object, not ${JSON.stringify(type)}`;
  }
  return isRecord(properties)
    ? null
    : `its "properties" must be an object, but are ${describeShape(properties)}`;
}

/** Returns a value's kind in words, for use in a sentence. */
export function describeShape(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
