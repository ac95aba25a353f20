import { type Fields, type Found, fields, texts } from "./found.ts";

const ALIAS = /^[A-Za-z0-9][A-Za-z0-9_-]{0,29}$/;
const KEPT = ["command", "args", "env", "cwd", "url", "httpUrl", "headers", "timeout", "description"];
/** What is read in another form, or says nothing. */
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
const ASKS = "its tools ask until a rule allows them";
const WHY_LEFT: Readonly<Record<string, string>> = {
  trust: ASKS,
  alwaysAllow: ASKS,
  autoApprove: ASKS,
  oauth: "log in with burin mcp login",
  env_vars: 'name each in its env, as in { "NAME": "$NAME" }',
};

/** Adds servers from settings. None is trusted: its calls ask until a rule allows them. */
export function addServers(found: Found, given: unknown): void {
  for (const [alias, written] of Object.entries(fields(given))) {
    const definition = ownDefinition(fields(written));
    const isUsable = ["command", "url", "httpUrl"].some((key) => typeof definition[key] === "string");
    if (!isUsable) found.leave(`MCP server ${alias}`, "it has neither a command nor a URL");
    else if (/\bburin(?:\.cjs)? serve mcp\b/.test([definition.command, definition.args].flat().join(" ")))
      found.leave(`MCP server ${alias}`, "it is Burin itself");
    else if (!ALIAS.test(alias))
      found.leave(`MCP server ${alias}`, 'an alias is 1 to 30 letters, digits, "_" or "-"');
    else {
      found.servers.push({ alias, definition });
      for (const key of Object.keys(fields(written)).filter((one) => !READ.has(one)))
        found.leave(`${key} of MCP server ${alias}`, WHY_LEFT[key] ?? "Burin has no such setting");
    }
  }
}

/** Most use our keys; Codex gives times in seconds, and names variables instead of their values. */
function ownDefinition(written: Fields): Fields {
  const { type, enabled, disabled, includeTools, excludeTools, enabled_tools, disabled_tools } = written;
  const { headers, http_headers, env_http_headers, bearer_token_env_var: token } = written;
  const named = Object.entries(fields(env_http_headers)).map(([name, variable]) => [name, `$${variable}`]);
  const ofVariables = { ...fields(http_headers), ...Object.fromEntries(named) };
  if (typeof token === "string") ofVariables.Authorization = `Bearer $${token}`;
  const values: Fields = {
    type: type === "http" || type === "sse" ? type : undefined,
    ...Object.fromEntries(KEPT.map((key) => [key, written[key]])),
    headers: headers ?? (Object.keys(ofVariables).length > 0 ? ofVariables : undefined),
    includeTools: someOf(includeTools ?? enabled_tools),
    excludeTools: someOf(excludeTools ?? disabled_tools),
    disabled: enabled === false || disabled === true ? true : undefined,
    startTimeout:
      milliseconds(written.startup_timeout_sec) ?? milliseconds(Number(written.startup_timeout_ms) / 1000),
    timeout: milliseconds(written.tool_timeout_sec) ?? written.timeout,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function someOf(names: unknown): string[] | undefined {
  return texts(names).length > 0 ? texts(names) : undefined;
}

function milliseconds(seconds: unknown): number | undefined {
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined;
}
