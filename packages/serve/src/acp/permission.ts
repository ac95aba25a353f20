import type { PermissionOption, RequestPermissionOutcome, ToolCallContent } from "@agentclientprotocol/sdk";
import { type Confirmation, type Decision, describeEffects, type Question, questionView } from "@burin/core";
import { diffContent, textContent } from "./session-updates.ts";

interface Choice extends PermissionOption {
  readonly decision: Decision;
}

/** The user's possible answers to a question, and their meanings. */
export function choicesOf({ confirmation }: Question): Choice[] {
  const no: Choice = { optionId: "no", name: "No", kind: "reject_once", decision: { outcome: "cancel" } };
  if (confirmation.kind === "plan") {
    return [
      choice("default", "Yes, and ask before each change", { outcome: "approved_plan", mode: "default" }),
      choice("auto-edit", "Yes, and change files without asking", {
        outcome: "approved_plan",
        mode: "auto-edit",
      }),
      no,
    ];
  }
  const always = (["session", "project"] as const).flatMap((scope) => alwaysChoices(confirmation, scope));
  return [choice("once", "Yes", { outcome: "once" }), ...always, no];
}

/** The question's own rules; for the session also the other widths that are offered. */
function alwaysChoices(confirmation: Confirmation, scope: "session" | "project"): Choice[] {
  const { grants, widths = [] } = questionView(confirmation);
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
    const yes = choice(id, `Yes, always in this ${scope}: ${rules.join(", ")}`, decision);
    return { ...yes, kind: "allow_always" };
  });
}

function choice(optionId: string, name: string, decision: Decision): Choice {
  return { optionId, name, kind: "allow_once", decision };
}

/** The user's answer; anything but a clear yes is a no. */
export function decisionOf(choices: readonly Choice[], outcome: RequestPermissionOutcome): Decision {
  const chosen = outcome.outcome === "selected" ? outcome.optionId : undefined;
  return choices.find(({ optionId }) => optionId === chosen)?.decision ?? { outcome: "cancel" };
}

/** The call, as shown with the question. */
export function askedCall({ id, callId, agent, confirmation, reason }: Question, root: string) {
  const { title, target, lines } = questionView(confirmation);
  const text = [...target, ...lines, ...describeEffects(confirmation)].join("\n");
  const content: ToolCallContent[] = [
    ...(confirmation.kind === "edit" ? diffContent(confirmation.diff, root) : textContent(text)),
    ...textContent(`Asked because: ${reason}`),
  ];
  const who = agent === null ? "" : `${agent}: `;
  return { toolCallId: callId ?? id, title: `${who}${title}`, status: "pending" as const, content };
}
