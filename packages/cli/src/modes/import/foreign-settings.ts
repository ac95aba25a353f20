import { addRules } from "./foreign-rules.ts";
import { addServers } from "./foreign-servers.ts";
import { ownToolName } from "./foreign-tools.ts";
import { type Fields, type Found, fields, list, text, texts } from "./found.ts";

/** The settings that are imported, by key; no two of the agents use the same key differently. */
const TAKEN: Readonly<Record<string, (found: Found, value: unknown, settings: Fields) => void>> = {
  mcpServers: addServers,
  mcp_servers: addServers,
  permissions: (found, permissions) => addPermissions(found, permissions, false),
  context: addFileNames,
  project_doc_fallback_filenames: addFileNames,
  tools: addTools,
  model: addModel,
  security: (found, security) => {
    if (fields(fields(security).auth).apiKey !== undefined)
      found.leave("security.auth.apiKey", "keys are not copied: set the variable of the service");
  },
};
/** Where the first versions of Gemini CLI and Qwen Code had what is in a group now. */
const OLD_KEYS: Readonly<Record<string, readonly [group: string, key: string]>> = {
  contextFileName: ["context", "fileName"],
  allowedTools: ["tools", "allowed"],
  coreTools: ["tools", "core"],
  excludeTools: ["tools", "exclude"],
};
/** Those that others of them need, or that say nothing. */
const KNOWN = new Set(["model_provider", "model_providers", "$version", "$schema"]);
const WHY_LEFT: Readonly<Record<string, string>> = {
  hooks: "its hooks are told other things in other ways: see docs/hooks-skills-commands.md",
  env: "Burin's settings set no variables",
};
const NO_SUCH_SETTING = "Burin has no such setting";
const NAME_MODEL = "name it with its service: see docs/models.md";

/** With all keys where they are now. */
export function inGroups(settings: Fields): Fields {
  let grouped = settings;
  for (const [old, [group, key]] of Object.entries(OLD_KEYS)) {
    const { [old]: value, ...others } = grouped;
    if (value !== undefined) grouped = { ...others, [group]: { [key]: value, ...fields(others[group]) } };
  }
  return grouped;
}

export function addSettings(found: Found, settings: Fields): void {
  for (const [key, value] of Object.entries(settings)) {
    if (Object.hasOwn(TAKEN, key)) TAKEN[key]?.(found, value, settings);
    else if (!KNOWN.has(key)) found.leave(`setting ${key}`, WHY_LEFT[key] ?? NO_SUCH_SETTING);
  }
}

/** Names of files with texts for the model. */
export function fileNamesIn({ context, project_doc_fallback_filenames: names }: Fields): string[] {
  return texts(fields(context).fileName ?? names).filter((name) => name.trim() !== "");
}

function addFileNames(found: Found, _value: unknown, settings: Fields): void {
  const names = fileNamesIn(settings);
  if (names.length > 0)
    found.settings.push({ path: ["context", "fileNames"], value: [...new Set(["AGENTS.md", ...names])] });
}

export function addPermissions(found: Found, given: unknown, isOfProject: boolean): void {
  const { defaultMode, additionalDirectories, allow, ask, deny, ...others } = fields(given);
  addRules(found, { allow, ask, deny }, isOfProject);
  for (const key of Object.keys(others)) found.leave(`permissions.${key}`, NO_SUCH_SETTING);
  if (typeof defaultMode === "string" && defaultMode !== "default")
    found.leave(`permissions.defaultMode ${defaultMode}`, "give --approval-mode with each start");
  if (list(additionalDirectories).length > 0)
    found.leave("permissions.additionalDirectories", "give --include-directories with each start");
}

function addTools(found: Found, tools: unknown): void {
  const { allowed, exclude, core, ...others } = fields(tools);
  const isPart = (name: string) => name.includes("(");
  addRules(found, { allow: allowed, deny: texts(exclude).filter(isPart) });
  const excluded = texts(exclude).filter((name) => !isPart(name));
  if (excluded.length > 0)
    found.settings.push({
      path: ["tools", "exclude"],
      value: excluded.map((name) => ownToolName(name) ?? name),
    });
  if (texts(core).length > 0) found.leave("setting tools.core", "name the tools in tools.include");
  for (const key of Object.keys(others)) found.leave(`setting tools.${key}`, NO_SUCH_SETTING);
}

/** Adds a service of the user's own; services behind an account are left to Burin's settings. */
function addModel(found: Found, model: unknown, settings: Fields): void {
  const { model_provider, model_providers, security } = settings;
  const { base_url, env_key, wire_api } = fields(fields(model_providers)[text(model_provider)]);
  const { selectedType, baseUrl } = fields(fields(security).auth);
  const { name = model } = fields(model);
  if (typeof name !== "string") return;
  const address = text(base_url) || text(baseUrl);
  const isGemini = typeof model !== "string" && selectedType !== "openai";
  if (address === "" && !isGemini) {
    found.leave(`model ${name}`, NAME_MODEL);
    return;
  }
  const isResponses = base_url !== undefined && wire_api !== "chat";
  const provider = isGemini ? "gemini" : isResponses ? "openai-responses" : "openai";
  const where = address === "" ? {} : { baseUrl: address };
  const key = text(env_key) === "" ? {} : { apiKeyEnv: env_key };
  found.settings.push({ path: ["model"], value: { provider, name, ...where, ...key } });
}
