import { readFile } from "node:fs/promises";
import { type JsonSchema, messageOf, parseAnswerSchema } from "@burin/core";
import { UsageError } from "../../terminal/exit-code.ts";

/** The schema in a file that the command line names. */
export async function answerSchemaIn(file: string): Promise<{ answerSchema: JsonSchema }> {
  try {
    return { answerSchema: await parseAnswerSchema(await readFile(file, "utf8")) };
  } catch (error) {
    throw new UsageError(`--json-schema ${file}: ${messageOf(error)}`);
  }
}
