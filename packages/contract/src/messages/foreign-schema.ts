import { schemaError } from "./check-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { isRecord } from "./untrusted-json.ts";

/** The schema of a tool that came from outside. Whoever wrote it checks its arguments too, so what is doubtful passes. */
export class ForeignSchema {
  readonly #names: string;
  readonly #checked: JsonSchema;

  constructor(schema: JsonSchema) {
    this.#names = Object.keys(schema.properties ?? {}).join(", ");
    this.#checked = withoutPatterns(schema) as JsonSchema;
  }

  /** What is wrong with arguments, and what there is to give; null when they may be passed on. */
  fault(tool: string, args: Readonly<Record<string, unknown>>): string | null {
    try {
      const fault = schemaError(this.#checked, args);
      if (fault === null) return null;
      return `Invalid parameters for ${tool}: ${fault}. It takes: ${this.#names || "no parameters"}.`;
    } catch {
      // Of a schema that cannot be used here only its writer knows what it means.
      return null;
    }
  }
}

/** Under these the keys are names, not keywords. */
const MAPS = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** These hold values, not schemas. */
const VALUES = new Set(["const", "enum", "default", "examples", "required"]);

/** Regular expressions of others could hold up this program for as long as they like. */
function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (!isRecord(schema)) return schema;
  const dropped = new Set(["pattern", "patternProperties", "format"]);
  // Without its patterns nobody can say which key is additional.
  if (Object.hasOwn(schema, "patternProperties")) dropped.add("additionalProperties");
  const kept = Object.entries(schema).filter(([key]) => !dropped.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, partWithoutPatterns(key, value)]));
}

function partWithoutPatterns(key: string, value: unknown): unknown {
  if (VALUES.has(key)) return value;
  if (!MAPS.has(key) || !isRecord(value)) return withoutPatterns(value);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutPatterns(one)]));
}
