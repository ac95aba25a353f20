import type { FunctionDeclaration } from "@burin/contract/messages/function-call";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import { nestsDeeper } from "@burin/contract/messages/plain-json";
import { isRecord } from "@burin/contract/messages/untrusted-json";

/** More than a user can need; the rest is left out. */
const MOST_TOOLS = 2000;
const MOST_DESCRIPTION = 8000;
const MOST_SCHEMA_BYTES = 256 * 1024;
const MOST_NESTING = 60;
const LEGAL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** The keys that tools like these use for the schema of the parameters. */
const SCHEMA_KEYS = ["parameters", "parametersJsonSchema", "parameterSchema", "inputSchema", "input_schema"];

/**
 * Reads an array of declarations, or an object (or an array of objects) that contains such arrays. An entry that
 * cannot be used is left out, and a problem says why; the others stay. Throws when the value is neither.
 */
export function readDeclarations(value: unknown) {
  const entries = Array.isArray(value) ? value.flatMap((entry) => heldBy(entry) ?? [entry]) : heldBy(value);
  if (entries === null) {
    throw new Error(
      `it must be a JSON array of function declarations, or an object with functionDeclarations, but is ${kindOf(value)}`,
    );
  }
  const declarations: FunctionDeclaration[] = [];
  const problems: string[] = [];
  const names = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    if (declarations.length >= MOST_TOOLS) {
      problems.push(`more than ${MOST_TOOLS} tools; the rest was left out`);
      break;
    }
    const found = declarationIn(entry, index + 1);
    if (typeof found === "string") problems.push(found);
    else if (names.has(found.name)) problems.push(`"${found.name}" is declared twice; the first one counts`);
    else {
      names.add(found.name);
      declarations.push(found);
    }
  }
  return { declarations, problems };
}

/** The declarations inside an object; null when it has none. */
function heldBy(entry: unknown): unknown[] | null {
  if (!isRecord(entry)) return null;
  const { functionDeclarations, function_declarations, tools } = entry;
  const held = [functionDeclarations, function_declarations, tools].filter(Array.isArray);
  return held.length === 0 ? null : held.flat();
}

/** Returns the declaration, or what is wrong with it. */
function declarationIn(entry: unknown, position: number): FunctionDeclaration | string {
  if (!isRecord(entry)) return `entry ${position} is ${kindOf(entry)}, not an object; it was left out`;
  // Chat completions puts the declaration one level down.
  if (entry.type === "function" && isRecord(entry.function)) return declarationIn(entry.function, position);
  const { name, description = "" } = entry;
  if (typeof name !== "string" || name === "") return `entry ${position} has no name; it was left out`;
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
  if (!LEGAL_NAME.test(name)) {
    const rule = 'a letter or "_", then at most 63 letters, digits, "_" or "-"';
    return `entry ${position}, ${shown}, has a name that model services do not accept (${rule}); it was left out`;
  }
  if (typeof description !== "string") return `${shown}: its description is not a string; it was left out`;
  const given = SCHEMA_KEYS.map((key) => entry[key]).find((schema) => (schema ?? null) !== null);
  const schema = parametersIn(given ?? {});
  if (typeof schema === "string") return `${shown}: ${schema}; it was left out`;
  const isLong = description.length > MOST_DESCRIPTION;
  const told = isLong ? `${description.slice(0, MOST_DESCRIPTION)} [the rest was left out]` : description;
  return { name, description: told, parameters: schema };
}

/** Returns a schema for an object of parameters, or what is wrong with it. */
function parametersIn(given: unknown): JsonSchema | string {
  if (!isRecord(given)) return `its parameters must be a JSON Schema object, but are ${kindOf(given)}`;
  if (nestsDeeper(given, MOST_NESTING)) return `its parameters are nested more than ${MOST_NESTING} deep`;
  if (Buffer.byteLength(JSON.stringify(given)) > MOST_SCHEMA_BYTES) {
    return `its parameters take more than ${MOST_SCHEMA_BYTES / 1024} KiB`;
  }
  const schema = withPlainTypes(given) as JsonSchema;
  if (schema.type !== undefined && schema.type !== "object") {
    return `its parameters must be of type object, not ${JSON.stringify(schema.type)}`;
  }
  const { properties = {} } = schema as { properties?: unknown };
  if (!isRecord(properties)) return `its "properties" must be an object, but are ${kindOf(properties)}`;
  return { ...schema, type: "object", properties: properties as Readonly<Record<string, JsonSchema>> };
}

/** Some services write the types of a schema in capitals. */
function withPlainTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPlainTypes);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => {
    const isType = key === "type" && typeof one === "string";
    return [key, isType ? one.toLowerCase() : withPlainTypes(one)];
  });
  return Object.fromEntries(entries);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
