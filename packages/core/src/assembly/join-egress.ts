import type { CommandsOptions } from "@burin/commands/shell/command-request";
import type { ApprovalMode } from "@burin/contract/approval-mode";
import type { Settings } from "@burin/contract/settings/settings";
import { visibleCommand } from "@burin/contract/text/visible-text";
import type { Confirmation } from "@burin/contract/tools";
import { type HostRules, hostPatternFault, hostPatternWarning } from "@burin/shell-judge";
import { hostGrant, hostsOf } from "../approval/host-grants.ts";
import type { Questions } from "../scheduler/questions.ts";
import type { Home } from "./home.ts";
import type { Grants } from "./join-approval.ts";

type Egress = NonNullable<CommandsOptions["egress"]>;
type Wish = Parameters<NonNullable<Egress["ask"]>>[0];

interface EgressGround {
  readonly home: Pick<Home, "settings" | "rules">;
  readonly grants: Grants;
  readonly current: { readonly mode: ApprovalMode };
  /** Absent when nobody can be asked. */
  readonly questions: (() => Promise<Questions>) | undefined;
  /** For the user. */
  readonly notes: string[];
}

const MOST_COMMAND_CHARACTERS = 60;

/** Which hosts this session's commands reach: by settings, rules and grants, and else as the user answers. */
export function joinEgress({
  home,
  grants,
  current,
  questions,
  notes,
}: EgressGround): Required<Pick<Egress, "rules" | "ask">> {
  notes.push(...hostWarnings(home));
  const { allow, deny } = networkRules(home.settings.sandbox.network);
  const rules = async (): Promise<HostRules> => {
    const { session } = grants;
    const stored = await grants.stored();
    const granted = [...home.rules.allow, ...session, ...stored.rules];
    return { allow: [...allow, ...hostsOf(granted)], deny: [...deny, ...hostsOf(home.rules.deny)] };
  };
  return {
    rules,
    ask: async (wish, signal) => {
      // This mode asks nothing, but a name may lead to a place that nobody meant.
      if (current.mode === "yolo") return wish.isPrivate ? "unasked" : "yes";
      const queue = await questions?.();
      if (queue === undefined) return "unasked";
      return queue.inTurn(async (isChanged) => {
        const confirmation = wishQuestion(wish);
        if (isChanged && (await rules()).allow.includes(wish.host)) return "yes";
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

function wishQuestion({ host, isPrivate, command }: Wish): Confirmation {
  const short =
    command.length > MOST_COMMAND_CHARACTERS ? `${command.slice(0, MOST_COMMAND_CHARACTERS)}...` : command;
  const where = isPrivate ? ", which is on this machine or in a private network" : "";
  return {
    kind: "info",
    title: `\`${visibleCommand(short)}\` wants to reach ${host}${where}. Allow it?`,
    prompt: "The command waits. A host that it may reach it may also send your files to.",
    urls: [`https://${host}/`],
    grants: [hostGrant(host)],
  };
}

function networkRules(network: Settings["sandbox"]["network"]): HostRules {
  if (typeof network === "boolean") return { allow: [], deny: [] };
  if ("length" in network) return { allow: network, deny: [] };
  return { allow: network.allowedDomains ?? [], deny: network.deniedDomains ?? [] };
}

/** What the user should know about the hosts in settings, a sentence each. */
function hostWarnings({ settings }: Pick<Home, "settings">): string[] {
  const { allow, deny } = networkRules(settings.sandbox.network);
  const faults = [...allow, ...deny].map(hostPatternFault);
  return [...faults, ...allow.map(hostPatternWarning)].flatMap((one) =>
    one === null ? [] : [`sandbox.network: ${one}.`],
  );
}
