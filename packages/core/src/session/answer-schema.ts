import type { JsonSchema } from "@burin/contract/messages/message";

/** Parses the JSON Schema for a final answer from the text of a file. Throws with the position of the fault. */
export async function parseAnswerSchema(text: string): Promise<JsonSchema> {
  const json = text.replace(/^\ufeff/, "");
  const { findJsonFault } = await import("../settings/json-fault.ts");
  const { findSchemaProblem } = await import("./schema-problem.ts");
  const fault = await findJsonFault(json);
  if (fault !== null) throw new Error(`it is not valid JSON: ${fault}`);
  const schema: unknown = JSON.parse(json);
  const problem = findSchemaProblem(schema);
  if (problem !== null) throw new Error(`it cannot be used to check an answer: ${problem}`);
  return schema as JsonSchema;
}
