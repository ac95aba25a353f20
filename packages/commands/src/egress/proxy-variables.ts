/** The value of the variable: `proxy` is the proxy's address with a login, `none` the hosts that need no proxy. */
type ProxyValue = "proxy" | "none" | "1";

/**
 * Variables that make programs use the proxy. A program's own variables override its settings files, which may name a
 * proxy that a command cannot reach.
 */
const PROXY_VARIABLES: readonly (readonly [variables: string, value: ProxyValue, readers: string])[] = [
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

/** Git's own `http.proxy` setting takes precedence over the variables. */
const GIT_KEYS = ["http.proxy"];

/** The loopback addresses, which in a command's namespace belong to the command alone. */
const LOCAL_HOSTS = "localhost,.localhost,127.0.0.1,127.0.0.0/8,::1,[::1]";

/** Returns the environment of a command that reaches the network through the proxy at that address. */
export function buildProxyEnvironment(proxy: string): Record<string, string> {
  const values: Readonly<Record<ProxyValue, string>> = { proxy, none: LOCAL_HOSTS, 1: "1" };
  const rows = PROXY_VARIABLES.flatMap(([names, value]) =>
    names.split(" ").map((name) => [name, values[value]] as const),
  );
  const git = GIT_KEYS.flatMap((key, index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, proxy] as const,
  ]);
  return { ...Object.fromEntries([...rows, ...git]), GIT_CONFIG_COUNT: String(GIT_KEYS.length) };
}
