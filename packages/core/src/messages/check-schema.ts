import { Errors } from "typebox/schema";
import type { JsonSchema } from "./json-schema.ts";

/** What is wrong with a value, every fault named with its key and what was expected; null when it fits. */
export function schemaError(schema: JsonSchema, value: unknown): string | null {
  const [fits, faults] = Errors(schema as object, value);
  if (fits) return null;
  const told = new Set<string>();
  for (const fault of faults) {
    const text = faultText(schema, value, fault);
    if (text !== null) told.add(text);
  }
  return [...told].join("; ");
}

type Fault = ReturnType<typeof Errors>[1][number];

function faultText(schema: JsonSchema, params: unknown, fault: Fault): string | null {
  const key = keyOf(fault.instancePath);
  const where = key === "" ? "the arguments" : `"${key}"`;
  switch (fault.keyword) {
    case "required":
      return fault.params.requiredProperties
        .map((name) => `"${joined(key, name)}" is required${described(schema, joined(key, name))}`)
        .join("; ");
    case "additionalProperties":
      return fault.params.additionalProperties
        .map((name) => `"${joined(key, name)}" is not a parameter`)
        .join("; ");
    case "type":
      return `${where} must be ${withArticle([fault.params.type].flat().join(" or "))}, got ${shown(at(params, fault.instancePath))}`;
    case "enum":
      return `${where} must be one of ${fault.params.allowedValues.map((value) => JSON.stringify(value)).join(", ")}, got ${shown(at(params, fault.instancePath))}`;
    case "boolean":
      return null;
    default:
      return `${where} ${fault.message}, got ${shown(at(params, fault.instancePath))}`;
  }
}

function described(schema: JsonSchema, name: string): string {
  const type = schema.properties?.[name]?.type;
  return type === undefined ? "" : ` (${[type].flat().join(" or ")})`;
}

function withArticle(type: string): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}

function joined(key: string, name: string): string {
  return key === "" ? name : `${key}.${name}`;
}

function pathSegments(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function keyOf(pointer: string): string {
  return pathSegments(pointer).join(".");
}

function at(value: unknown, pointer: string): unknown {
  let found = value;
  for (const segment of pathSegments(pointer))
    found = (found as Record<string, unknown> | undefined)?.[segment];
  return found;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return `${type} ${text.length > 60 ? `${text.slice(0, 57)}...` : text}`;
}

/**
 * The arguments with values that models often send as text ("10", "true", "[\"a\"]") turned to what the
 * schema asks for. Only where the schema does not allow a string there, and only when the text is
 * exactly such a value; everything else stays as it was said, for validation to judge.
 */
export function coerceArguments(
  schema: JsonSchema,
  args: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const coerced: Record<string, unknown> = { ...args };
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const value = args[name];
    if (typeof value === "string") coerced[name] = coerceText(property, value);
  }
  return coerced;
}

function coerceText(schema: JsonSchema, text: string): unknown {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0 || types.includes("string")) return text;
  const value = jsonValue(text.trim());
  const isWhole = Number.isSafeInteger(value);
  const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return types.includes(type) || (isWhole && types.includes("integer")) ? value : text;
}

function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
