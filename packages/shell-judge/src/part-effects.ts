import { rankEffect } from "@burin/contract/effects";
import type { Effect } from "@burin/contract/tools";
import type { Finding, Reach } from "./programs/finding.ts";

/** Lists what a command would do, derived from the reasons why it is asked about, worst first. */
export function listEffects(findings: readonly Finding[], reach?: Pick<Reach, "explainOutside">): Effect[] {
  const deleted = new Set(findings.flatMap(({ deletes = [] }) => deletes));
  const away = new Set(findings.flatMap(({ nature, path }) => (nature === "outside" && path ? path : [])));
  const isOutside = (path: string) => away.has(path) || (reach?.explainOutside(path, false) ?? null) !== null;
  const isOnlyReading = findings.every(({ nature }) => nature === "outside");
  const isCoveredByDeletion = ({ nature, path, deletes }: Finding) =>
    deletes !== undefined || (nature === "destructive" && deleted.size > 0) || deleted.has(path ?? "");
  const others = findings.filter((finding) => !isCoveredByDeletion(finding));
  return joinEffects([
    ...[...deleted].map((path) => ({ kind: "deletes" as const, on: [path], isOutside: isOutside(path) })),
    ...others.map((finding) => toEffect(finding, isOnlyReading, isOutside)),
  ]);
}

const EFFECT_KINDS = {
  protected: "protected",
  destructive: "discards",
  launch: "hidden",
  unknown: "unknown",
} as const;

function toEffect(
  { nature, path, writes }: Finding,
  isOnlyReading: boolean,
  isOutside: (path: string) => boolean,
): Effect {
  if (writes !== undefined) return { kind: "writes", on: [writes], isOutside: isOutside(writes) };
  const on = path === undefined ? [] : [path];
  if (nature === "outside") return { kind: isOnlyReading ? "reads" : "changes", on, isOutside: true };
  return { kind: EFFECT_KINDS[nature], on, isOutside: false };
}

/** Merges equal effects and their targets, worst first. Leaves out effects that add nothing to the others. */
export function joinEffects(effects: readonly Effect[]): Effect[] {
  const joined = new Map<string, Effect>();
  for (const effect of effects) {
    const key = `${effect.kind} ${effect.isOutside}`;
    const on = [...(joined.get(key)?.on ?? []), ...effect.on];
    joined.set(key, { ...effect, on: [...new Set(on)] });
  }
  const all = [...joined.values()].sort((a, b) => rankEffect(a) - rankEffect(b));
  const isUnknownOrHidden = ({ kind }: Effect) => kind === "unknown" || kind === "hidden";
  const telling = all.filter((effect) => !isUnknownOrHidden(effect));
  return telling.length > 0 ? telling : all.slice(0, 1);
}
