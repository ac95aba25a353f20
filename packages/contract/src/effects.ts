import type { CommandPart, Effect, EffectKind } from "./tools.ts";

/** All kinds, from the worst to the most harmless. */
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

/** Ranks an effect: the lower, the worse. An effect outside the project ranks before the same effect inside it. */
export function rankEffect({ kind, isOutside }: Effect): number {
  return ORDER.indexOf(kind) * 2 + (isOutside ? 0 : 1);
}

/** Sorts the parts by their worst effect, worst first. Equal parts keep their order. */
export function sortParts(parts: readonly CommandPart[]): CommandPart[] {
  const rankPart = ({ effects: [worst], asks }: CommandPart) =>
    worst === undefined ? (asks ? 2 : 3) * ORDER.length : rankEffect(worst);
  return [...parts].sort((a, b) => rankPart(a) - rankPart(b));
}
