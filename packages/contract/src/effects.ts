import type { Effect, EffectKind, PartReach } from "./tools.ts";

/** From worst to most harmless. */
const ORDER: readonly EffectKind[] = [
  "deletes",
  "discards",
  "protected",
  "changes",
  "sends",
  "reads",
  "network",
  "hidden",
  "unknown",
  "writes",
  "may_network",
];

/** The lower, the worse: what leaves the project comes before the same inside it. */
export function rankOf({ kind, isOutside }: Effect): number {
  return ORDER.indexOf(kind) * 2 + (isOutside ? 0 : 1);
}

/** The worst part first; equal ones stay in their order. */
export function sortParts(parts: readonly PartReach[]): PartReach[] {
  const rank = ({ effects: [worst], asks }: PartReach) =>
    worst === undefined ? (asks ? 2 : 3) * ORDER.length : rankOf(worst);
  return [...parts].sort((a, b) => rank(a) - rank(b));
}
