import { withFallback } from "../with-fallback.ts";
import type { JsonSchema } from "./message.ts";
import { type CheckOptions, findSchemaFaults, type SchemaFault } from "./schema-faults.ts";
import { type JsonRecord, parseJson } from "./untrusted-json.ts";

/** Describes everything that is wrong with a value: each key, and what was expected. null when it is valid. */
export function findSchemaError(schema: JsonSchema, value: unknown, how?: CheckOptions): string | null {
  const faults = findSchemaFaults(schema, value, how);
  return faults.length === 0 ? null : describeFaults(faults, "the arguments");
}

/** Describes what is wrong with a call's parameters, and lists those that exist. null when they are valid. */
export function findParamsError(
  { name, parameterSchema: schema }: CheckedTool,
  params: object,
  how?: CheckOptions,
): string | null {
  const fault = findSchemaError(schema, params, how);
  if (fault === null) return null;
  const names = Object.keys(schema.properties ?? {}).join(", ");
  return `Invalid parameters for ${name}: ${fault}. It takes: ${names || "no parameters"}.`;
}

interface CheckedTool {
  readonly name: string;
  readonly parameterSchema: JsonSchema;
}

/** Like `findParamsError`, for a tool from outside: doubtful parameters pass, because the tool's author checks them. */
export function findForeignParamsError(tool: CheckedTool, params: object): string | null {
  // A regular expression from outside could block this process; only its author knows what an unusable schema means.
  return withFallback(null, () => findParamsError(tool, params, { areExpressionsRun: false }));
}

/** Joins the faults into one text. `whole` names the value itself, for faults without a key. */
export function describeFaults(faults: readonly SchemaFault[], whole: string): string {
  const told = faults.map(({ path, says, ...fault }) => {
    const where = path.length === 0 ? whole : `"${path.join(".")}"`;
    return `${where} ${says}${"got" in fault ? `, got ${formatValue(fault.got)}` : ""}`;
  });
  return [...new Set(told)].join("; ");
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return value === null ? "null" : "nothing";
  const text = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "");
  const type = Array.isArray(value) ? "array" : typeof value;
  return `${type} ${text.length > 60 ? `${text.slice(0, 57)}...` : text}`;
}

/**
 * Converts values that models often send as text ("10", "true", "[\"a\"]") to the type that the schema requires. It
 * does so only where the schema does not allow a string and the text is exactly such a value. Everything else stays
 * unchanged and is left to validation. null counts as leaving the key out, if the key is optional and does not allow
 * null.
 */
export function coerceArguments(schema: JsonSchema, args: JsonRecord): Record<string, unknown> {
  // A JavaScript embedder or a model may pass anything.
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const coerced: Record<string, unknown> = { ...args };
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (typeof property === "boolean") continue;
    const value = args[name];
    if (typeof value === "string") coerced[name] = coerceText(property, value);
    const isLeftOut = value === null && ![schema.required].flat().includes(name);
    if (isLeftOut && findSchemaFaults(property, null).length > 0) delete coerced[name];
  }
  return coerced;
}

function coerceText(schema: JsonSchema, text: string): unknown {
  // A schema from outside may be malformed.
  const types = schema?.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0 || types.includes("string")) return text;
  // Some models write True and False, as in Python.
  const said = text.trim().replace(/^(True|False)$/, (word) => word.toLowerCase());
  const value = parseJson(said);
  const isWhole = Number.isSafeInteger(value);
  const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return types.includes(type) || (isWhole && types.includes("integer")) ? value : text;
}
