import { orElse } from "../or-else.ts";
import type { JsonSchema } from "./message.ts";
import { type CheckOptions, type SchemaFault, schemaFaults } from "./schema-faults.ts";
import { type JsonRecord, parseJson } from "./untrusted-json.ts";

/** Describes every fault of a value, with its key and what was expected; null when the value is valid. */
export function schemaError(schema: JsonSchema, value: unknown, how?: CheckOptions): string | null {
  const faults = schemaFaults(schema, value, how);
  return faults.length === 0 ? null : describeFaults(faults, "the arguments");
}

/** Says what is wrong with the parameters of a call, and which ones exist; null when they are valid. */
export function paramsFault(
  { name, parameterSchema: schema }: CheckedTool,
  params: object,
  how?: CheckOptions,
): string | null {
  const fault = schemaError(schema, params, how);
  if (fault === null) return null;
  const names = Object.keys(schema.properties ?? {}).join(", ");
  return `Invalid parameters for ${name}: ${fault}. It takes: ${names || "no parameters"}.`;
}

interface CheckedTool {
  readonly name: string;
  readonly parameterSchema: JsonSchema;
}

/** The same for a tool from outside, whose author checks them too: doubtful ones pass. */
export function foreignParamsFault(tool: CheckedTool, params: object): string | null {
  // A foreign expression could block this program; what an unusable schema means, only its author knows.
  return orElse(null, () => paramsFault(tool, params, { areExpressionsRun: false }));
}

/** `whole` names the value itself, for faults that have no key. */
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
 * Converts values that models often send as text ("10", "true", "[\"a\"]") to the type that the schema requires.
 * Only where the schema does not allow a string, and only when the text is exactly such a value; everything else
 * stays unchanged, for validation to judge. A null means the same as leaving the key out, if the key is optional
 * and must not be null.
 */
export function coerceArguments(schema: JsonSchema, args: JsonRecord): Record<string, unknown> {
  // An embedder in JavaScript, or a model, may pass anything.
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const coerced: Record<string, unknown> = { ...args };
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (typeof property === "boolean") continue;
    const value = args[name];
    if (typeof value === "string") coerced[name] = coerceText(property, value);
    const isLeftOut = value === null && ![schema.required].flat().includes(name);
    if (isLeftOut && schemaFaults(property, null).length > 0) delete coerced[name];
  }
  return coerced;
}

function coerceText(schema: JsonSchema, text: string): unknown {
  // A schema that comes from outside may be anything.
  const types = schema?.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0 || types.includes("string")) return text;
  // Some models write True and False, as in Python.
  const said = text.trim().replace(/^(True|False)$/, (word) => word.toLowerCase());
  const value = parseJson(said);
  const isWhole = Number.isSafeInteger(value);
  const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return types.includes(type) || (isWhole && types.includes("integer")) ? value : text;
}
