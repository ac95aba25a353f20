import { schemaError } from "./check-schema.ts";
import type { JsonSchema } from "./json-schema.ts";

/** The schema of a tool that came from outside. Whoever wrote it checks its arguments too, so what is doubtful passes. */
export class ForeignSchema {
  readonly #names: string;
  readonly #schema: JsonSchema;

  constructor(schema: JsonSchema) {
    this.#names = Object.keys(schema.properties ?? {}).join(", ");
    this.#schema = schema;
  }

  /** What is wrong with arguments, and what there is to give; null when they may be passed on. */
  fault(tool: string, args: Readonly<Record<string, unknown>>): string | null {
    try {
      // Regular expressions of others could hold up this program for as long as they like.
      const fault = schemaError(this.#schema, args, { areExpressionsRun: false });
      if (fault === null) return null;
      return `Invalid parameters for ${tool}: ${fault}. It takes: ${this.#names || "no parameters"}.`;
    } catch {
      // Of a schema that cannot be used here only its writer knows what it means.
      return null;
    }
  }
}
