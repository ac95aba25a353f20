import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import type { JsonSchema } from "@burin/core";
import { describeError } from "@burin/core/internal";
import { parseAnswerSchema } from "@burin/core/sessions";
import { UsageError } from "../../terminal/exit-code.ts";

/** Far more than any service accepts. Stops the read of a device file, which has no end. */
const MAX_BYTES = 1024 * 1024;

/** Reads the schema from the file that the command line names. */
export async function readAnswerSchema(file: string): Promise<{ answerSchema: JsonSchema }> {
  try {
    const bytes = await buffer(createReadStream(file, { end: MAX_BYTES }));
    if (bytes.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    return { answerSchema: await parseAnswerSchema(bytes.toString("utf8")) };
  } catch (error) {
    throw new UsageError(`--json-schema ${file}: ${describeError(error)}`);
  }
}
