import type { Rule } from "@burin/shell-judge";

/** What a rule for a host begins with: run_shell_command(network:packages.example.org). */
export const NETWORK = "network:";

/** The rule that lets every command reach the host. */
export function hostGrant(host: string): string {
  return `run_shell_command(${NETWORK}${host})`;
}

/** The hosts that the rules name. */
export function hostsOf(rules: readonly Rule[]): string[] {
  return rules.flatMap(({ tool, pattern }) =>
    tool === "run_shell_command" && pattern?.startsWith(NETWORK) ? [pattern.slice(NETWORK.length)] : [],
  );
}
