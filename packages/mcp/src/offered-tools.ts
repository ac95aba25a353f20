import type { JsonSchema } from "@burin/contract/messages/message";
import { isRecord, isTooDeep } from "@burin/contract/messages/untrusted-json";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import type { McpServerSettings } from "@burin/contract/settings/tool-sources";
import { hashText } from "./definition.ts";

/** A server's definition of a tool. A user who allows the tool allows exactly this. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
}

/** A tool as its server describes it, without the unused parts. */
export interface OfferedTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly isReadOnly: boolean;
  readonly isIdempotent: boolean;
  readonly definition: ToolDefinition;
  /** Changes with any change of the definition. */
  readonly hash: string;
}

/** A tool that cannot be used, and the reason. The other tools are not affected. */
export interface RefusedTool {
  readonly name: string;
  readonly reason: string;
}

const MAX_TOOLS = 5000;
const MAX_SCHEMA_CHARACTERS = 100_000;
const MAX_DEPTH = 60;
const MAX_DESCRIPTION = 10_000;

/** Checks a server's list of tools. An invalid entry disables only itself. */
export function readTools(list: unknown): { offered: OfferedTool[]; refused: RefusedTool[] } {
  const offered = new Map<string, OfferedTool>();
  const refused: RefusedTool[] = [];
  const entries = Array.isArray(list) ? list : [];
  for (const entry of entries.slice(0, MAX_TOOLS)) {
    const tool = readSafely(entry);
    if ("reason" in tool) refused.push(tool);
    else if (offered.has(tool.name)) refused.push({ name: tool.name, reason: "it is listed twice" });
    else offered.set(tool.name, tool);
  }
  const left = entries.length - MAX_TOOLS;
  if (left > 0)
    refused.push({ name: `${left} more`, reason: `a server may offer at most ${MAX_TOOLS} tools` });
  return { offered: [...offered.values()], refused };
}

/** Reads an entry. Some faulty entries are nested so deeply that the checks themselves throw. */
function readSafely(entry: unknown): OfferedTool | RefusedTool {
  try {
    return readTool(entry);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name: isRecord(entry) ? String(entry.name) : "?", reason: `it cannot be read: ${reason}` };
  }
}

function readTool(entry: unknown): OfferedTool | RefusedTool {
  if (!isRecord(entry)) return { name: "?", reason: "an entry of the list is not an object" };
  const { name, title, description, inputSchema, outputSchema, annotations, execution } = entry;
  if (typeof name !== "string" || name === "") return { name: "?", reason: "it has no name" };
  const fault = findSchemaFault(inputSchema);
  if (fault !== null) return { name, reason: fault };
  if (isRecord(execution) && execution.taskSupport === "required")
    return { name, reason: "it can only be called as a task, which Burin does not support" };
  const hints = isRecord(annotations) ? annotations : {};
  const definition = { name, title, description, inputSchema, outputSchema, annotations };
  return {
    name,
    ...(typeof title === "string" ? { title } : {}),
    description: typeof description === "string" ? description.slice(0, MAX_DESCRIPTION) : "",
    inputSchema: { type: "object", ...(inputSchema as JsonSchema | undefined) },
    isReadOnly: hints.readOnlyHint === true,
    isIdempotent: hints.idempotentHint === true,
    definition,
    hash: hashText(definition),
  };
}

function findSchemaFault(schema: unknown): string | null {
  if (schema === undefined) return null;
  if (!isRecord(schema)) return "its input schema is not an object";
  if (schema.type !== undefined && schema.type !== "object") return "its input schema is not of type object";
  if (isTooDeep(schema, MAX_DEPTH)) return `its input schema is nested deeper than ${MAX_DEPTH} levels`;
  const { length } = JSON.stringify(schema);
  return length > MAX_SCHEMA_CHARACTERS ? `its input schema has ${length} characters` : null;
}

export function isWanted(name: string, { includeTools, excludeTools }: McpServerSettings): boolean {
  const matchesPattern = (pattern: string) => createGlobMatcher(pattern, { caseSensitive: true })(name);
  return (
    (includeTools.length === 0 || includeTools.some(matchesPattern)) && !excludeTools.some(matchesPattern)
  );
}
