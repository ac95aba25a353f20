import { addRules, findOwnToolName } from "./foreign-rules.ts";
import { type Fields, type Found, toFields, toList, toText, toTexts } from "./found.ts";

/** The settings that are imported, by key; no two of the agents use the same key differently. */
const TAKEN: Readonly<Record<string, (found: Found, value: unknown, settings: Fields) => void>> = {
  mcpServers: (found, servers) => addServers(found, servers),
  mcp_servers: (found, servers) => addServers(found, servers, /\$(?=\{?[A-Za-z_])/g),
  permissions: (found, permissions) => addPermissions(found, permissions, false),
  context: addFileNames,
  project_doc_fallback_filenames: addFileNames,
  tools: addTools,
  model: addModel,
  security: (found, security) => {
    if (toFields(toFields(security).auth).apiKey !== undefined)
      found.noteLeftOut("security.auth.apiKey", "keys are not copied: set the variable of the service");
  },
};
/** The groups to which the keys of early versions of Gemini CLI and Qwen Code belong now. */
const OLD_KEYS: Readonly<Record<string, readonly [group: string, key: string]>> = {
  contextFileName: ["context", "fileName"],
  allowedTools: ["tools", "allowed"],
  coreTools: ["tools", "core"],
  excludeTools: ["tools", "exclude"],
};
/** Keys that need no report: other settings use them, or they mean nothing. */
const KNOWN = new Set(["model_provider", "model_providers", "$version", "$schema"]);
const WHY_LEFT: Readonly<Record<string, string>> = {
  hooks: "its hooks are told other things in other ways: see docs/hooks-skills-commands.md",
  env: "Burin's settings set no variables",
};
const NO_SUCH_SETTING = "Burin has no such setting";

/** Moves old keys into their present groups. */
export function groupSettings(settings: Fields): Fields {
  let grouped = settings;
  for (const [old, [group, key]] of Object.entries(OLD_KEYS)) {
    const { [old]: value, ...others } = grouped;
    if (value !== undefined) grouped = { ...others, [group]: { [key]: value, ...toFields(others[group]) } };
  }
  return grouped;
}

export function addSettings(found: Found, settings: Fields): void {
  for (const [key, value] of Object.entries(settings)) {
    if (Object.hasOwn(TAKEN, key)) TAKEN[key]?.(found, value, settings);
    else if (!KNOWN.has(key)) found.noteLeftOut(`setting ${key}`, WHY_LEFT[key] ?? NO_SUCH_SETTING);
  }
}

/** Returns the names of the files with instructions for the model. */
export function readFileNames({ context, project_doc_fallback_filenames: names }: Fields): string[] {
  return toTexts(toFields(context).fileName ?? names).filter((name) => name.trim() !== "");
}

function addFileNames(found: Found, _value: unknown, settings: Fields): void {
  const names = readFileNames(settings);
  if (names.length > 0)
    found.settings.push({ path: ["context", "fileNames"], value: [...new Set(["AGENTS.md", ...names])] });
}

export function addPermissions(found: Found, given: unknown, isOfProject: boolean): void {
  const { defaultMode, additionalDirectories, allow, ask, deny, ...others } = toFields(given);
  addRules(found, { allow, ask, deny }, isOfProject);
  for (const key of Object.keys(others)) found.noteLeftOut(`permissions.${key}`, NO_SUCH_SETTING);
  if (typeof defaultMode === "string" && defaultMode !== "default")
    found.noteLeftOut(`permissions.defaultMode ${defaultMode}`, "give --approval-mode with each start");
  if (toList(additionalDirectories).length > 0)
    found.noteLeftOut("permissions.additionalDirectories", "give --include-directories with each start");
}

function addTools(found: Found, tools: unknown): void {
  const { allowed, exclude, core, ...others } = toFields(tools);
  const hasPattern = (name: string) => name.includes("(");
  addRules(found, { allow: allowed, deny: toTexts(exclude).filter(hasPattern) });
  const excluded = toTexts(exclude).filter((name) => !hasPattern(name));
  if (excluded.length > 0)
    found.settings.push({
      path: ["tools", "exclude"],
      value: excluded.map((name) => findOwnToolName(name) ?? name),
    });
  if (toTexts(core).length > 0) found.noteLeftOut("setting tools.core", "name the tools in tools.include");
  for (const key of Object.keys(others)) found.noteLeftOut(`setting tools.${key}`, NO_SUCH_SETTING);
}

/** Adds a custom service. Services that need an account must be set up in Burin's settings. */
function addModel(found: Found, model: unknown, settings: Fields): void {
  const { model_provider, model_providers, security } = settings;
  const { base_url, env_key, wire_api } = toFields(toFields(model_providers)[toText(model_provider)]);
  const { selectedType, baseUrl } = toFields(toFields(security).auth);
  const { name = model } = toFields(model);
  if (typeof name !== "string") return;
  const address = toText(base_url) || toText(baseUrl);
  const isGemini = typeof model !== "string" && selectedType !== "openai";
  if (address === "" && !isGemini) {
    found.noteLeftOut(`model ${name}`, "name it with its service: see docs/models.md");
    return;
  }
  const isResponses = base_url !== undefined && wire_api !== "chat";
  const provider = isGemini ? "gemini" : isResponses ? "openai-responses" : "openai";
  const where = address === "" ? {} : { baseUrl: address };
  const key = toText(env_key) === "" ? {} : { apiKeyEnv: env_key };
  found.settings.push({ path: ["model"], value: { provider, name, ...where, ...key } });
}

const ALIAS = /^[A-Za-z0-9][A-Za-z0-9_-]{0,29}$/;
const KEPT = ["command", "args", "env", "cwd", "url", "httpUrl", "headers", "timeout", "description"];
/** Keys that need no report: they are translated below, or they mean nothing. */
const READ = new Set([
  ...KEPT,
  "type",
  "enabled",
  "disabled",
  "startup_timeout_sec",
  "startup_timeout_ms",
  "tool_timeout_sec",
  "includeTools",
  "excludeTools",
  "enabled_tools",
  "disabled_tools",
  "bearer_token_env_var",
  "http_headers",
  "env_http_headers",
]);
/** Stands for a literal `$`: the default value of a variable that nobody sets. */
const DOLLAR = `$\{DOLLAR:-$}`;
const ASKS = "its tools ask until a rule allows them";
const WHY_LEFT_OF_SERVER: Readonly<Record<string, string>> = {
  trust: ASKS,
  alwaysAllow: ASKS,
  autoApprove: ASKS,
  oauth: "log in with burin mcp login",
  env_vars: 'name each in its env, as in { "NAME": "$NAME" }',
};

/**
 * Adds MCP servers, none of them trusted: their calls ask until a rule allows them. `literal` matches each `$` that
 * would begin a variable here but not in the other agent.
 */
export function addServers(found: Found, given: unknown, literal = /(?!)/): void {
  const servers = JSON.parse(JSON.stringify(toFields(given)), (_name, value) =>
    typeof value === "string" ? value.replace(literal, () => DOLLAR) : value,
  );
  for (const [alias, written] of Object.entries(servers)) {
    const definition = convertDefinition(toFields(written));
    const isUsable = ["command", "url", "httpUrl"].some((key) => typeof definition[key] === "string");
    if (!isUsable) found.noteLeftOut(`MCP server ${alias}`, "it has neither a command nor a URL");
    else if (/\bburin(?:\.cjs)? serve mcp\b/.test([definition.command, definition.args].flat().join(" ")))
      found.noteLeftOut(`MCP server ${alias}`, "it is Burin itself");
    else if (!ALIAS.test(alias))
      found.noteLeftOut(`MCP server ${alias}`, 'an alias is 1 to 30 letters, digits, "_" or "-"');
    else {
      found.servers.push({ alias, definition });
      for (const key of Object.keys(toFields(written)).filter((one) => !READ.has(one)))
        found.noteLeftOut(
          `${key} of MCP server ${alias}`,
          WHY_LEFT_OF_SERVER[key] ?? "Burin has no such setting",
        );
    }
  }
}

/** Translates a server. Most agents use our keys; Codex gives seconds, and names variables instead of values. */
function convertDefinition(written: Fields): Fields {
  const { type, enabled, disabled, includeTools, excludeTools, enabled_tools, disabled_tools } = written;
  const { headers, http_headers, env_http_headers, bearer_token_env_var: token } = written;
  const named = Object.entries(toFields(env_http_headers)).map(([name, variable]) => [name, `$${variable}`]);
  const ofVariables = { ...toFields(http_headers), ...Object.fromEntries(named) };
  if (typeof token === "string") ofVariables.Authorization = `Bearer $${token}`;
  const values: Fields = {
    type: type === "http" || type === "sse" ? type : undefined,
    ...Object.fromEntries(KEPT.map((key) => [key, written[key]])),
    headers: headers ?? (Object.keys(ofVariables).length > 0 ? ofVariables : undefined),
    includeTools: listOrUndefined(includeTools ?? enabled_tools),
    excludeTools: listOrUndefined(excludeTools ?? disabled_tools),
    disabled: enabled === false || disabled === true ? true : undefined,
    startTimeout:
      toMilliseconds(written.startup_timeout_sec) ??
      toMilliseconds(Number(written.startup_timeout_ms) / 1000),
    timeout: toMilliseconds(written.tool_timeout_sec) ?? written.timeout,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function listOrUndefined(names: unknown): string[] | undefined {
  return toTexts(names).length > 0 ? toTexts(names) : undefined;
}

function toMilliseconds(seconds: unknown): number | undefined {
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined;
}
