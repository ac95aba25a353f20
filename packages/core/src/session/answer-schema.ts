import type { JsonSchema } from "@burin/contract/messages/message";

/** Parses the schema for a final answer from the text of a file. Throws with the place of the fault. */
export async function parseAnswerSchema(text: string): Promise<JsonSchema> {
  const json = text.replace(/^\ufeff/, "");
  const { jsonFault } = await import("../settings/json-fault.ts");
  const { schemaProblem } = await import("./schema-problem.ts");
  const fault = await jsonFault(json);
  if (fault !== null) throw new Error(`it is not valid JSON: ${fault}`);
  const schema: unknown = JSON.parse(json);
  const problem = schemaProblem(schema);
  if (problem !== null) throw new Error(`it cannot be used to check an answer: ${problem}`);
  return schema as JsonSchema;
}
