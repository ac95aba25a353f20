import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { Reasoning, Tuning } from "./prepare-request.ts";
import type { Quirks } from "./quirks.ts";

/** The default output limit, because Anthropic's protocol requires one: the lowest maximum of its current models. */
export const MAX_OUTPUT_TOKENS = 32_000;

/** The token budget for each word that names an amount of thinking. */
const BUDGETS: Readonly<Record<string, number>> = {
  off: 0,
  none: 0,
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 24_000,
  xhigh: 48_000,
  max: 64_000,
};

/** The words that services accept, in ascending order. */
export const EFFORTS = Object.keys(BUDGETS).filter((word) => word !== "off");

export function resolveThinkingBudget(reasoning: Reasoning): number {
  return typeof reasoning === "number" ? reasoning : (BUDGETS[reasoning] ?? 10_000);
}

export function resolveEffort(reasoning: Reasoning): string {
  if (reasoning === "off") return "none";
  if (typeof reasoning === "string") return reasoning;
  const fitting = ["none", "minimal", "low", "medium", "high"].filter(
    (word) => resolveThinkingBudget(word) <= reasoning,
  );
  return fitting.at(-1) ?? "none";
}

/** Fields that settings must not replace, because they are the content of the request. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["messages", "contents", "input", "tools", "stream"]);

/** Adds the settings' fields to our body; null removes one. Leaves out options that the model has rejected. */
export function mergeBody(body: JsonRecord, more: JsonRecord = {}, quirks?: Quirks): JsonRecord {
  const merged: Record<string, unknown> = { ...body };
  for (const [name, value] of Object.entries(more)) {
    if (OWN_FIELDS.has(name)) continue;
    const own = merged[name];
    if (value === null) delete merged[name];
    else merged[name] = isRecord(own) && isRecord(value) ? mergeBody(own, value) : value;
  }
  const refused = [...(quirks ?? [])]
    .flatMap((quirk) => /^without:(.*)/.exec(quirk)?.[1] ?? [])
    .map(normalizeName);
  for (const name of Object.keys(merged)) if (refused.includes(normalizeName(name))) delete merged[name];
  return merged;
}

/** Normalises an option's name, which each service writes in its own way: `reasoning.effort` or `reasoningEffort`. */
function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[^a-z]|effort$/g, "");
}

export function addChatTuning(fields: JsonRecord, tuning: Tuning, quirks: Quirks): JsonRecord {
  const { maxOutput, reasoning, temperature, topP: top_p, cache, body } = tuning;
  const tuned = {
    ...fields,
    [quirks.has("old-output-limit") ? "max_tokens" : "max_completion_tokens"]: maxOutput,
    reasoning_effort: reasoning === undefined ? undefined : resolveEffort(reasoning),
    temperature,
    top_p,
    prompt_cache_retention: cache === "24h" ? cache : undefined,
  };
  return mergeBody(tuned, body, quirks);
}
