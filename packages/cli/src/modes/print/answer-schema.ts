import { readFile } from "node:fs/promises";
import { type JsonSchema, messageOf, parseAnswerSchema } from "@burin/core";
import { UsageError } from "../../terminal/exit-code.ts";

/** The schema in a file that the command line names. */
export async function readAnswerSchema(file: string): Promise<JsonSchema> {
  try {
    return await parseAnswerSchema(await readFile(file, "utf8"));
  } catch (error) {
    throw new UsageError(`--json-schema ${file}: ${messageOf(error)}`);
  }
}
