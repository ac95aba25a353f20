import type { Rule } from "@burin/shell-judge";

/** The prefix of a pattern that allows a host: run_shell_command(network:packages.example.org). */
export const NETWORK_PREFIX = "network:";

/** Returns the rule that lets every command reach the host. */
export function formatHostGrant(host: string): string {
  return `run_shell_command(${NETWORK_PREFIX}${host})`;
}

/** Returns the hosts that the rules name. */
export function listHosts(rules: readonly Rule[]): string[] {
  return rules.flatMap(({ tool, pattern }) =>
    tool === "run_shell_command" && pattern?.startsWith(NETWORK_PREFIX)
      ? [pattern.slice(NETWORK_PREFIX.length)]
      : [],
  );
}
