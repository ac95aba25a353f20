import { readFile } from "node:fs/promises";
import type { JsonSchema } from "@burin/core";
import { UsageError } from "../terminal/exit-code.ts";

/** The schema in a file that the command line names. */
export async function readAnswerSchema(file: string): Promise<JsonSchema> {
  let value: unknown;
  try {
    value = JSON.parse((await readFile(file, "utf8")).replace(/^\ufeff/, ""));
  } catch (error) {
    throw new UsageError(`--json-schema ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonSchema;
  throw new UsageError(`--json-schema ${file} must hold a JSON Schema, which is an object.`);
}
