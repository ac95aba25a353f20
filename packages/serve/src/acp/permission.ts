import type { PermissionOption, RequestPermissionOutcome, ToolCallContent } from "@agentclientprotocol/sdk";
import {
  buildQuestionView,
  type Confirmation,
  type Decision,
  describeEffects,
  type Question,
} from "@burin/core";
import { buildDiffContent, buildTextContent } from "./session-updates.ts";

interface Choice extends PermissionOption {
  readonly decision: Decision;
}

/** The user's possible answers to a question, and their meanings. */
export function listChoices({ confirmation }: Question): Choice[] {
  const no: Choice = { optionId: "no", name: "No", kind: "reject_once", decision: { outcome: "cancel" } };
  if (confirmation.kind === "plan") {
    return [
      createChoice("default", "Yes, and ask before each change", {
        outcome: "approved_plan",
        mode: "default",
      }),
      createChoice("auto-edit", "Yes, and change files without asking", {
        outcome: "approved_plan",
        mode: "auto-edit",
      }),
      no,
    ];
  }
  const always = (["session", "project"] as const).flatMap((scope) => listAlwaysChoices(confirmation, scope));
  return [createChoice("once", "Yes", { outcome: "once" }), ...always, no];
}

/** The rules that "always" would store; for the session also the other widths on offer. */
function listAlwaysChoices(confirmation: Confirmation, scope: "session" | "project"): Choice[] {
  const { grants, widths = [] } = buildQuestionView(confirmation);
  if (grants.length === 0) return [];
  const plain = { id: scope, rules: grants, decision: { outcome: "always", scope } as const };
  const others = widths
    .filter(({ grants: rules }) => scope === "session" && rules.join() !== grants.join())
    .map(({ width, grants: rules }) => ({
      id: `${scope}-${width}`,
      rules,
      decision: { outcome: "always", scope, width } as const,
    }));
  return [plain, ...others].map(({ id, rules, decision }) => {
    const yes = createChoice(id, `Yes, always in this ${scope}: ${rules.join(", ")}`, decision);
    return { ...yes, kind: "allow_always" };
  });
}

function createChoice(optionId: string, name: string, decision: Decision): Choice {
  return { optionId, name, kind: "allow_once", decision };
}

/** Reads the user's answer; anything but a clear yes counts as no. */
export function readDecision(choices: readonly Choice[], outcome: RequestPermissionOutcome): Decision {
  const chosen = outcome.outcome === "selected" ? outcome.optionId : undefined;
  return choices.find(({ optionId }) => optionId === chosen)?.decision ?? { outcome: "cancel" };
}

/** Returns the call as the question shows it. */
export function describeAskedCall({ id, callId, agent, confirmation, reason }: Question, root: string) {
  const { title, target, lines } = buildQuestionView(confirmation);
  const text = [...target, ...lines, ...describeEffects(confirmation)].join("\n");
  const content: ToolCallContent[] = [
    ...(confirmation.kind === "edit" ? buildDiffContent(confirmation.diff, root) : buildTextContent(text)),
    ...buildTextContent(`Asked because: ${reason}`),
  ];
  const who = agent === null ? "" : `${agent}: `;
  return { toolCallId: callId ?? id, title: `${who}${title}`, status: "pending" as const, content };
}
