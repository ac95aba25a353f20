import type { Usage } from "@burin/contract/chat-model";
import type { ModelPrice } from "@burin/contract/settings/settings";
import { costOf } from "@burin/models/replies/price";

/** The most that may be spent of each kind; a missing kind has no limit. */
export interface BudgetLimits {
  /** Sent and received; each request counts in full. */
  readonly tokens?: number;
  /** In the currency of `model.prices`. */
  readonly money?: number;
  /** Working time of runs, without the waiting time between prompts. */
  readonly milliseconds?: number;
  readonly calls?: number;
}

type Kind = keyof BudgetLimits;

const HOW =
  'write tokens as 200k, money as $2, time as 10m (or 90s, 2h), calls as "50 calls", joined by commas';
/** An amount, and its unit where there are several. */
const FORMS: readonly (readonly [RegExp, Kind])[] = [
  [/^\$\s*(\d+(?:\.\d+)?)$/, "money"],
  [/^(\d+(?:\.\d+)?)\s*([smh])$/, "milliseconds"],
  [/^(\d+)\s*calls?$/, "calls"],
  [/^(\d+(?:\.\d+)?)\s*(k?)(?:\s*tokens?)?$/i, "tokens"],
];
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, k: 1000, K: 1000 };
const TOLD_AT = 0.8;

/** In milliseconds; the first use of `performance` would load as much as a tenth of what a start loads. */
const now = () => process.uptime() * 1000;

/** Parses `200k, $2, 10m, 50 calls`. The error says how to write it. */
export function parseBudget(text: string): BudgetLimits {
  const limits: { -readonly [Key in Kind]?: number } = {};
  for (const piece of text.split(",").map((part) => part.trim())) {
    const [kind, amount] = parsePiece(piece);
    if (!(amount > 0)) throw new Error(`The budget "${piece}" must be greater than 0.`);
    const name = kind === "milliseconds" ? "time" : kind;
    if (limits[kind] !== undefined) throw new Error(`The budget names ${name} twice.`);
    limits[kind] = amount;
  }
  return limits;
}

function parsePiece(piece: string): readonly [Kind, number] {
  for (const [form, kind] of FORMS) {
    const [found, amount, unit = ""] = form.exec(piece) ?? [];
    if (found !== undefined) return [kind, Number(amount) * (UNITS[unit] ?? 1)];
  }
  throw new Error(`The budget "${piece}" cannot be read: ${HOW}.`);
}

/** What may be spent and what has been spent; a session and its subagents may share one object. */
export class Budget {
  readonly #limits: BudgetLimits;
  readonly #priceOf: (model: string) => ModelPrice | undefined;
  readonly #spent: Record<Kind, number> = { tokens: 0, money: 0, milliseconds: 0, calls: 0 };
  #running = 0;
  #runningSince = 0;

  constructor(limits: BudgetLimits, priceOf: (model: string) => ModelPrice | undefined = () => undefined) {
    this.#limits = limits;
    this.#priceOf = priceOf;
  }

  spend(usage: Usage, model: string): void {
    this.#spent.tokens += usage.inputTokens + usage.outputTokens;
    this.#spent.money += costOf(usage, this.#priceOf(model)) ?? 0;
  }

  spendCalls(count: number): void {
    this.#spent.calls += count;
  }

  get callsLeft(): number {
    return Math.max((this.#limits.calls ?? Number.POSITIVE_INFINITY) - this.#spent.calls, 0);
  }

  get millisecondsLeft(): number | undefined {
    const { milliseconds } = this.#limits;
    return milliseconds === undefined ? undefined : Math.max(milliseconds - this.#used("milliseconds"), 0);
  }

  /** The clock runs from the first `start` to the last `stop`: subagents in parallel do not count twice. */
  start(): void {
    if (this.#running === 0) this.#runningSince = now();
    this.#running += 1;
  }

  stop(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#spent.milliseconds += now() - this.#runningSince;
  }

  get exhausted(): string | undefined {
    const kind = this.#kinds().find((one) => this.#share(one) >= 1);
    if (kind === undefined) return undefined;
    const amount = kind === "milliseconds" ? "" : ` (${inWords(kind, this.#used(kind))})`;
    return `The budget of ${this.#limitInWords(kind)} is used up${amount}.`;
  }

  /** A warning that most of one kind is used up; once for each kind and each set `told`. */
  warning(told: Set<string>): string | undefined {
    const kind = this.#kinds().find((one) => !told.has(one) && this.#share(one) >= TOLD_AT);
    if (kind === undefined) return undefined;
    told.add(kind);
    const percent = Math.floor(this.#share(kind) * 100);
    return `${percent} % of the budget of ${this.#limitInWords(kind)} is used.`;
  }

  #kinds(): Kind[] {
    return (Object.keys(this.#limits) as Kind[]).filter((kind) => this.#limits[kind] !== undefined);
  }

  #used(kind: Kind): number {
    const since = kind === "milliseconds" && this.#running > 0 ? now() - this.#runningSince : 0;
    return this.#spent[kind] + since;
  }

  #share(kind: Kind): number {
    return this.#used(kind) / (this.#limits[kind] ?? Number.POSITIVE_INFINITY);
  }

  #limitInWords(kind: Kind): string {
    return inWords(kind, this.#limits[kind] ?? 0);
  }
}

function inWords(kind: Kind, amount: number): string {
  if (kind === "money") return `$${Number(amount.toFixed(4))}`;
  if (kind !== "milliseconds") return amount === 1 ? `1 ${kind.slice(0, -1)}` : `${amount} ${kind}`;
  return amount >= 60_000 ? `${Number((amount / 60_000).toFixed(1))} minutes` : `${amount / 1000} seconds`;
}
