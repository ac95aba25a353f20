import type { CommandsOptions } from "@burin/commands/shell/command-request";
import type { ApprovalMode } from "@burin/contract/approval-mode";
import type { Settings } from "@burin/contract/settings/settings";
import { visibleCommand } from "@burin/contract/text/visible-text";
import type { Confirmation } from "@burin/contract/tools";
import { findHostPatternFault, findHostPatternWarning, type HostRules } from "@burin/shell-judge";
import { formatHostGrant, listHosts } from "../approval/host-grants.ts";
import type { Questions } from "../scheduler/questions.ts";
import type { Home } from "./home.ts";
import type { Grants } from "./join-approval.ts";

type Egress = NonNullable<CommandsOptions["egress"]>;
type HostRequest = Parameters<NonNullable<Egress["ask"]>>[0];

interface EgressOptions {
  readonly home: Pick<Home, "settings" | "rules">;
  readonly grants: Grants;
  readonly current: { readonly mode: ApprovalMode };
  /** Absent if nobody can be asked. */
  readonly questions: (() => Promise<Questions>) | undefined;
  /** Messages for the user. */
  readonly notes: string[];
}

const MAX_COMMAND_CHARACTERS = 60;

/** Decides which hosts this session's commands may reach: by settings, rules and grants, or by asking the user. */
export function joinEgress({
  home,
  grants,
  current,
  questions,
  notes,
}: EgressOptions): Required<Pick<Egress, "rules" | "ask">> {
  notes.push(...listHostWarnings(home));
  const { allow, deny } = readNetworkRules(home.settings.sandbox.network);
  const readHostRules = async (): Promise<HostRules> => {
    const { session } = grants;
    const stored = await grants.readStoredRules();
    const granted = [...home.rules.allow, ...session, ...stored.rules];
    return { allow: [...allow, ...listHosts(granted)], deny: [...deny, ...listHosts(home.rules.deny)] };
  };
  return {
    rules: readHostRules,
    ask: async (wish, signal) => {
      // The mode yolo asks nothing, but a name may lead to a private address that nobody meant.
      if (current.mode === "yolo") return wish.isPrivate ? "unasked" : "yes";
      const queue = await questions?.();
      if (queue === undefined) return "unasked";
      return queue.inTurn(async (isChanged) => {
        const confirmation = buildHostQuestion(wish);
        if (isChanged && (await readHostRules()).allow.includes(wish.host)) return "yes";
        const id = `q_network_${crypto.randomUUID()}`;
        const nobody = { callId: null, agent: null, parentCallId: null };
        const reason = "no rule names this host";
        const decision = await queue.ask({ id, ...nobody, confirmation, reason }, signal);
        if (decision === null) return "unasked";
        if (decision.outcome === "always") await grants.add(confirmation.grants, decision.scope);
        return decision.outcome === "once" || decision.outcome === "always" ? "yes" : "no";
      }, signal);
    },
  };
}

function buildHostQuestion({ host, isPrivate, command }: HostRequest): Confirmation {
  const short =
    command.length > MAX_COMMAND_CHARACTERS ? `${command.slice(0, MAX_COMMAND_CHARACTERS)}...` : command;
  const where = isPrivate ? ", which is on this machine or in a private network" : "";
  return {
    kind: "info",
    title: `\`${visibleCommand(short)}\` wants to reach ${host}${where}. Allow it?`,
    prompt: "The command waits. A host that it may reach it may also send your files to.",
    urls: [`https://${host}/`],
    grants: [formatHostGrant(host)],
  };
}

function readNetworkRules(network: Settings["sandbox"]["network"]): HostRules {
  if (typeof network === "boolean") return { allow: [], deny: [] };
  if ("length" in network) return { allow: network, deny: [] };
  return { allow: network.allowedDomains ?? [], deny: network.deniedDomains ?? [] };
}

/** Returns warnings for the user about the hosts in settings, a sentence each. */
function listHostWarnings({ settings }: Pick<Home, "settings">): string[] {
  const { allow, deny } = readNetworkRules(settings.sandbox.network);
  const faults = [...allow, ...deny].map(findHostPatternFault);
  return [...faults, ...allow.map(findHostPatternWarning)].flatMap((one) =>
    one === null ? [] : [`sandbox.network: ${one}.`],
  );
}
