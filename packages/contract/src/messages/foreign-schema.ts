import { schemaError } from "./check-schema.ts";
import type { JsonSchema } from "./json-schema.ts";

/** The schema of a tool from outside. Its author checks the arguments too, so doubtful ones pass. */
export class ForeignSchema {
  readonly #names: string;
  readonly #schema: JsonSchema;

  constructor(schema: JsonSchema) {
    this.#names = Object.keys(schema.properties ?? {}).join(", ");
    this.#schema = schema;
  }

  /** Describes what is wrong with the arguments, and which ones exist; null when they may be passed on. */
  fault(tool: string, args: Readonly<Record<string, unknown>>): string | null {
    try {
      // A foreign regular expression could block this program for any length of time.
      const fault = schemaError(this.#schema, args, { areExpressionsRun: false });
      if (fault === null) return null;
      return `Invalid parameters for ${tool}: ${fault}. It takes: ${this.#names || "no parameters"}.`;
    } catch {
      // Only its author knows the meaning of a schema that cannot be used here.
      return null;
    }
  }
}
