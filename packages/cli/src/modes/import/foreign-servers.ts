import { type Fields, type Found, fields, texts } from "./found.ts";

const ALIAS = /^[A-Za-z0-9][A-Za-z0-9_-]{0,29}$/;
const KEPT = ["command", "args", "env", "cwd", "url", "httpUrl", "headers", "timeout", "description"];
const LISTS = ["includeTools", "excludeTools"];

/** Servers of settings with the keys that most agents use. None is trusted: its calls ask until a rule says otherwise. */
export function addServers(found: Found, given: unknown): void {
  for (const [alias, written] of Object.entries(fields(given))) add(found, alias, kept(fields(written)));
}

function kept(written: Fields): Fields {
  const { type } = written;
  const named = KEPT.filter((key) => written[key] !== undefined).map((key) => [key, written[key]]);
  const lists = LISTS.filter((key) => texts(written[key]).length > 0).map((key) => [
    key,
    texts(written[key]),
  ]);
  const transport = type === "http" || type === "sse" ? [["type", type]] : [];
  return { ...Object.fromEntries([...transport, ...named, ...lists]), ...isOff(written) };
}

function isOff({ enabled, disabled }: Fields): Fields {
  return enabled === false || disabled === true ? { disabled: true } : {};
}

/** Servers of config.toml, where times are in seconds and keys have other names. */
export function addCodexServers(found: Found, given: unknown): void {
  for (const [alias, value] of Object.entries(fields(given))) {
    const written = fields(value);
    const token = written.bearer_token_env_var;
    const named = Object.entries(fields(written.env_http_headers)).map(([name, variable]) => [
      name,
      `$${variable}`,
    ]);
    const headers = {
      ...fields(written.http_headers),
      ...Object.fromEntries(named),
      ...(typeof token === "string" ? { Authorization: `Bearer $${token}` } : {}),
    };
    const definition = {
      ...kept({ ...written, includeTools: written.enabled_tools, excludeTools: written.disabled_tools }),
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      ...milliseconds("startTimeout", written.startup_timeout_sec),
      ...milliseconds("timeout", written.tool_timeout_sec),
    };
    add(found, alias, definition);
  }
}

function milliseconds(key: string, seconds: unknown): Fields {
  return typeof seconds === "number" && seconds > 0 ? { [key]: seconds * 1000 } : {};
}

function add(found: Found, alias: string, definition: Fields): void {
  const isUsable = ["command", "url", "httpUrl"].some((key) => typeof definition[key] === "string");
  if (!isUsable) found.leave(`MCP server ${alias}`, "it has neither a command nor a URL");
  else if (!ALIAS.test(alias))
    found.leave(`MCP server ${alias}`, 'an alias is 1 to 30 letters, digits, "_" or "-"');
  else found.servers.push({ alias, definition });
}
