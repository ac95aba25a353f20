import type { Usage } from "@burin/contract/chat-model";
import type { ModelPrice } from "@burin/contract/settings/settings";
import { computeCost } from "@burin/models/replies/price";

/** The most that may be spent of each kind. A missing kind has no limit. */
export interface BudgetLimits {
  /** Tokens sent and received. Each request counts in full. */
  readonly tokens?: number;
  /** The maximum amount of money, in the currency of `model.prices`. */
  readonly money?: number;
  /** The working time of runs, without the time between prompts. */
  readonly milliseconds?: number;
  readonly calls?: number;
}

type BudgetKind = keyof BudgetLimits;

const HOW =
  'write tokens as 200k, money as $2, time as 10m (or 90s, 2h), calls as "50 calls", joined by commas';
/** How each kind is written: an amount, and its unit if there are several. */
const FORMS: readonly (readonly [RegExp, BudgetKind])[] = [
  [/^\$\s*(\d+(?:\.\d+)?)$/, "money"],
  [/^(\d+(?:\.\d+)?)\s*([smh])$/, "milliseconds"],
  [/^(\d+)\s*calls?$/, "calls"],
  [/^(\d+(?:\.\d+)?)\s*(k?)(?:\s*tokens?)?$/i, "tokens"],
];
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, k: 1000, K: 1000 };
const TOLD_AT = 0.8;

/** The time in milliseconds. The first use of `performance` would load a tenth of what a whole start loads. */
const readClock = () => process.uptime() * 1000;

/** Parses text such as `200k, $2, 10m, 50 calls`. The error says how to write a budget. */
export function parseBudget(text: string): BudgetLimits {
  const limits: { -readonly [Key in BudgetKind]?: number } = {};
  for (const piece of text.split(",").map((part) => part.trim())) {
    const [kind, amount] = parsePiece(piece);
    if (!(amount > 0)) throw new Error(`The budget "${piece}" must be greater than 0.`);
    const name = kind === "milliseconds" ? "time" : kind;
    if (limits[kind] !== undefined) throw new Error(`The budget names ${name} twice.`);
    limits[kind] = amount;
  }
  return limits;
}

function parsePiece(piece: string): readonly [BudgetKind, number] {
  for (const [form, kind] of FORMS) {
    const [found, amount, unit = ""] = form.exec(piece) ?? [];
    if (found !== undefined) return [kind, Number(amount) * (UNITS[unit] ?? 1)];
  }
  throw new Error(`The budget "${piece}" cannot be read: ${HOW}.`);
}

/** What may be spent, and what has been spent. A session and its subagents may share one object. */
export class Budget {
  readonly #limits: BudgetLimits;
  readonly #priceOf: (model: string) => ModelPrice | undefined;
  readonly #spent: Record<BudgetKind, number> = { tokens: 0, money: 0, milliseconds: 0, calls: 0 };
  #running = 0;
  #runningSince = 0;

  constructor(limits: BudgetLimits, priceOf: (model: string) => ModelPrice | undefined = () => undefined) {
    this.#limits = limits;
    this.#priceOf = priceOf;
  }

  spend(usage: Usage, model: string): void {
    this.#spent.tokens += usage.inputTokens + usage.outputTokens;
    this.#spent.money += computeCost(usage, this.#priceOf(model)) ?? 0;
  }

  spendCalls(count: number): void {
    this.#spent.calls += count;
  }

  get callsLeft(): number {
    return Math.max((this.#limits.calls ?? Number.POSITIVE_INFINITY) - this.#spent.calls, 0);
  }

  get millisecondsLeft(): number | undefined {
    const { milliseconds } = this.#limits;
    return milliseconds === undefined
      ? undefined
      : Math.max(milliseconds - this.#measureUsed("milliseconds"), 0);
  }

  /**
   * Starts the clock. It runs from the first `startClock` to the last `stopClock`, so parallel subagents do not count
   * twice.
   */
  startClock(): void {
    if (this.#running === 0) this.#runningSince = readClock();
    this.#running += 1;
  }

  stopClock(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#spent.milliseconds += readClock() - this.#runningSince;
  }

  get exhausted(): string | undefined {
    const kind = this.#listKinds().find((one) => this.#computeShare(one) >= 1);
    if (kind === undefined) return undefined;
    const amount = kind === "milliseconds" ? "" : ` (${formatAmount(kind, this.#measureUsed(kind))})`;
    return `The budget of ${this.#formatLimit(kind)} is used up${amount}.`;
  }

  /** Returns a warning when most of one kind is used up, once for each kind and each `told` set. */
  takeWarning(told: Set<string>): string | undefined {
    const kind = this.#listKinds().find((one) => !told.has(one) && this.#computeShare(one) >= TOLD_AT);
    if (kind === undefined) return undefined;
    told.add(kind);
    const percent = Math.floor(this.#computeShare(kind) * 100);
    return `${percent} % of the budget of ${this.#formatLimit(kind)} is used.`;
  }

  #listKinds(): BudgetKind[] {
    return (Object.keys(this.#limits) as BudgetKind[]).filter((kind) => this.#limits[kind] !== undefined);
  }

  #measureUsed(kind: BudgetKind): number {
    const since = kind === "milliseconds" && this.#running > 0 ? readClock() - this.#runningSince : 0;
    return this.#spent[kind] + since;
  }

  #computeShare(kind: BudgetKind): number {
    return this.#measureUsed(kind) / (this.#limits[kind] ?? Number.POSITIVE_INFINITY);
  }

  #formatLimit(kind: BudgetKind): string {
    return formatAmount(kind, this.#limits[kind] ?? 0);
  }
}

function formatAmount(kind: BudgetKind, amount: number): string {
  if (kind === "money") return `$${Number(amount.toFixed(4))}`;
  if (kind !== "milliseconds") return amount === 1 ? `1 ${kind.slice(0, -1)}` : `${amount} ${kind}`;
  return amount >= 60_000 ? `${Number((amount / 60_000).toFixed(1))} minutes` : `${amount / 1000} seconds`;
}
