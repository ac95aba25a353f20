import type { JsonSchema } from "@burin/contract/messages/json-schema";
import { type SchemaDialect, schemaFor } from "./clean-schema.ts";
import { narrowSchema } from "./narrow-schema.ts";
import { isPlain } from "./prepare-request.ts";

/** The parameters of a tool as services that speak this dialect take them. */
export function toolSchema(schema: JsonSchema, dialect: SchemaDialect): JsonSchema {
  if (dialect === "plain") return schemaFor(schema, dialect);
  return isPlain(schema) ? schema : narrowSchema(schemaFor(schema, dialect));
}
