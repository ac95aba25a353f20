/** Where the variable points: `proxy` is an address with a login, `none` the hosts that need no proxy. */
type Value = "proxy" | "none" | "1";

/**
 * What makes programs use a proxy. Those of one program stand above its own settings files, which may name a proxy
 * that a command cannot reach.
 */
const PROXY_VARIABLES: readonly (readonly [variables: string, value: Value, readers: string])[] = [
  ["HTTP_PROXY HTTPS_PROXY ALL_PROXY", "proxy", "most programs"],
  ["http_proxy https_proxy all_proxy", "proxy", "curl and wget, which read HTTP_PROXY in lower case only"],
  ["NO_PROXY no_proxy", "none", "most programs"],
  ["npm_config_proxy npm_config_https_proxy", "proxy", "npm and pnpm, before .npmrc"],
  ["npm_config_noproxy", "none", "npm and pnpm, before .npmrc"],
  ["YARN_HTTP_PROXY YARN_HTTPS_PROXY", "proxy", "yarn from version 2, which does not read HTTP_PROXY"],
  ["PIP_PROXY", "proxy", "pip, before pip.conf"],
  ["CARGO_HTTP_PROXY", "proxy", "cargo, before its config.toml"],
  ["HEX_HTTP_PROXY HEX_HTTPS_PROXY", "proxy", "hex, before its own settings"],
  ["grpc_proxy", "proxy", "gRPC, before https_proxy"],
  ["GLOBAL_AGENT_HTTP_PROXY", "proxy", "installers of electron"],
  ["ELECTRON_GET_USE_PROXY", "1", "installers of electron"],
  ["NODE_USE_ENV_PROXY", "1", "Node from version 24: fetch and http"],
];

/** For git, whose own `http.proxy` is stronger than a variable. */
const GIT_KEYS = ["http.proxy"];

/** This machine as a command sees it, which is only the command's own. */
const OWN = "localhost,.localhost,127.0.0.1,127.0.0.0/8,::1,[::1]";

/** The environment of a command that reaches the network through the proxy at that address. */
export function proxyEnvironment(proxy: string): Record<string, string> {
  const values: Readonly<Record<Value, string>> = { proxy, none: OWN, 1: "1" };
  const rows = PROXY_VARIABLES.flatMap(([names, value]) =>
    names.split(" ").map((name) => [name, values[value]] as const),
  );
  const git = GIT_KEYS.flatMap((key, index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, proxy] as const,
  ]);
  return { ...Object.fromEntries([...rows, ...git]), GIT_CONFIG_COUNT: String(GIT_KEYS.length) };
}
