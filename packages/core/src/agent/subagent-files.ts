import { APPROVAL_MODES, type ApprovalMode } from "@burin/contract/approval-mode";
import { type Defined, type DefinitionFile, definedIn, definitionFiles } from "./definition-files.ts";
import type { SubagentDefinition } from "./subagent-definitions.ts";

/** The subagents that files in these folders define. */
export function subagentsIn(folders: readonly string[]): Promise<Defined<SubagentDefinition>> {
  return definedIn(folders, definitionFiles, (file) => {
    try {
      return subagentOf(file);
    } catch (error) {
      throw new Error(`defines no subagent: ${error instanceof Error ? error.message : error}`);
    }
  });
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** What a file says of a subagent. Throws what is wrong with it. */
function subagentOf({ name, fields, body }: DefinitionFile): SubagentDefinition {
  const named = textField(fields, "name") ?? name;
  if (!NAME.test(named)) throw new Error(`the name "${named}" must be letters, digits, "_" or "-"`);
  const description = textField(fields, "description");
  if (description === undefined)
    throw new Error("it has no `description`, by which the model would choose it");
  if (body === "")
    throw new Error("it says nothing below the front matter, which is what the subagent goes by");
  const tools = listField(fields, "tools");
  const model = textField(fields, "model");
  const approvalMode = modeField(fields);
  return {
    name: named,
    description,
    prompt: body,
    ...(tools ? { tools } : {}),
    ...(model && model !== "inherit" ? { model } : {}),
    ...(approvalMode ? { approvalMode } : {}),
  };
}

function textField(fields: DefinitionFile["fields"], key: string): string | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" || value.trim() === "") throw new Error(`\`${key}\` must be a text`);
  return value.replace(/\s+/g, " ").trim();
}

/** A YAML list, or names parted by commas. */
function listField(fields: DefinitionFile["fields"], key: string): string[] | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  const parts: unknown[] =
    typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [null];
  const names = parts.map((part) => (typeof part === "string" ? part.trim() : ""));
  if (names.some((part) => part === "")) throw new Error(`\`${key}\` must be a list of names`);
  return names;
}

function modeField(fields: DefinitionFile["fields"]): ApprovalMode | undefined {
  const value = textField(fields, "approval-mode") ?? textField(fields, "approvalMode");
  const mode = APPROVAL_MODES.find((known) => known === value);
  if (value !== undefined && mode === undefined) {
    throw new Error(`\`approval-mode\` must be one of ${APPROVAL_MODES.join(", ")}, not "${value}"`);
  }
  return mode;
}
