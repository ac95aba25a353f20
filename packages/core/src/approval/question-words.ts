import type { CommandLimits, CommandPart, Confirmation, Effect, EffectKind } from "@burin/contract/tools";
import { buildQuestionView, type ReachWarning, type ViewLimits } from "./question-view.ts";

const EFFECTS: Readonly<Record<EffectKind, string>> = {
  deletes: "deletes",
  discards: "can destroy work that is not committed or not pushed",
  protected: "changes what runs code later:",
  changes: "may change",
  sends: "changes something on another machine:",
  reads: "reads",
  network: "needs the network:",
  hidden: "may start other programs",
  unknown: "may change files",
  writes: "writes",
  may_network: "needs the network if something is missing",
};
const NETWORK: Readonly<Record<CommandLimits["network"], string>> = {
  none: "no network",
  hosts: "only the hosts of the question",
  asked: "asks about each host",
  whole: "all of the network",
  offered: "no network, unless the answer gives it",
};
const WRITES: Readonly<Record<CommandLimits["writes"], string>> = {
  project: "writes only here",
  nothing: "writes nothing",
  everywhere: "",
};
const WARNINGS: Readonly<Record<ReachWarning["kind"], string>> = {
  leaves: "leaves the project",
  destroys: "deletes files or work",
  protected: "changes files that run code later",
};

/** Describes in English what a question's command would reach, worst first. For front ends without their own texts. */
export function describeEffects(question: Confirmation, limits: ViewLimits = {}): string[] {
  const { reach, warning, limits: sandbox } = buildQuestionView(question, limits);
  const warned =
    warning &&
    `${warning.all > 1 ? `${warning.count} of ${warning.all} parts: ` : ""}${WARNINGS[warning.kind]}`;
  return [
    ...(warned ? [`Warning: ${warned}`] : []),
    ...(reach.length > 1 ? ["Its parts, the worst first:"] : []),
    ...reach.flatMap((part) => describePart(part, reach.length > 1)),
    ...(sandbox ? [describeLimits(sandbox)] : []),
  ];
}

function describePart({ text, asks, effects, rule }: CommandPart, isOneOfMany: boolean): string[] {
  const covered = rule === undefined ? "only reads" : `the rule ${rule} covers it`;
  const words = effects.length > 0 ? effects.map(describeEffect).join("; ") : asks ? "" : covered;
  if (!isOneOfMany) return words === "" ? [] : [`It ${words}`];
  return [`  ${asks ? "ask" : "ok "} ${text}${words === "" ? "" : `  (${words})`}`];
}

function describeEffect({ kind, on, isOutside }: Effect): string {
  const what = EFFECTS[kind];
  const named = on.length > 0 ? `${what} ${on.join(", ")}` : what.replace(/:$/, "");
  return isOutside && kind !== "sends"
    ? `${named}${on.length > 0 ? "," : " what is"} outside this project`
    : named;
}

function describeLimits({ writes, network, reason }: CommandLimits): string {
  if (writes === "everywhere") return `No sandbox${reason === undefined ? "" : ` (${reason})`}`;
  return `Sandbox: ${WRITES[writes]} · ${NETWORK[network]}`;
}
