import type { JsonSchema } from "./json-schema.ts";
import { type CheckOptions, type SchemaFault, schemaFaults } from "./schema-faults.ts";
import { parseJson } from "./untrusted-json.ts";

/** What is wrong with a value, every fault named with its key and what was expected; null when it fits. */
export function schemaError(schema: JsonSchema, value: unknown, how?: CheckOptions): string | null {
  const faults = schemaFaults(schema, value, how);
  return faults.length === 0 ? null : describeFaults(faults, "the arguments");
}

/** `whole` names the value itself, where no key does. */
export function describeFaults(faults: readonly SchemaFault[], whole: string): string {
  const told = faults.map(({ path, says, ...fault }) => {
    const where = path.length === 0 ? whole : `"${path.join(".")}"`;
    return `${where} ${says}${"got" in fault ? `, got ${shown(fault.got)}` : ""}`;
  });
  return [...new Set(told)].join("; ");
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return value === null ? "null" : "nothing";
  const text = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "");
  const type = Array.isArray(value) ? "array" : typeof value;
  return `${type} ${text.length > 60 ? `${text.slice(0, 57)}...` : text}`;
}

/**
 * The arguments with values that models often send as text ("10", "true", "[\"a\"]") turned to what the
 * schema asks for. Only where the schema does not allow a string there, and only when the text is
 * exactly such a value; everything else stays as it was said, for validation to judge. A null says the
 * same as leaving the key out, where the key may be missing and must not be null.
 */
export function coerceArguments(
  schema: JsonSchema,
  args: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // An embedder in JavaScript, or a model, may hand over anything.
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const coerced: Record<string, unknown> = { ...args };
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const value = args[name];
    if (typeof value === "string") coerced[name] = coerceText(property, value);
    const isLeftOut = value === null && ![schema.required].flat().includes(name);
    if (isLeftOut && schemaFaults(property, null).length > 0) delete coerced[name];
  }
  return coerced;
}

function coerceText(schema: JsonSchema, text: string): unknown {
  // A schema that somebody else wrote may be anything.
  const types = schema?.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0 || types.includes("string")) return text;
  // Some models write True and False, as in Python.
  const said = text.trim().replace(/^(True|False)$/, (word) => word.toLowerCase());
  const value = parseJson(said);
  const isWhole = Number.isSafeInteger(value);
  const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return types.includes(type) || (isWhole && types.includes("integer")) ? value : text;
}
