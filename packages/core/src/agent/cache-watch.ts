import type { AgentEvent, CacheMiss } from "@burin/contract/agent-event";
import type { Usage } from "@burin/contract/chat-model";
import type { FunctionDeclaration } from "@burin/contract/messages/message";

/** Services do not cache less. */
const LEAST_TOKENS = 1024;
/** They cache whole blocks and may have dropped the last ones: a smaller loss does not count as a miss. */
const LEAST_SHARE = 0.5;
const MINUTE_MS = 60_000;
/** How long Claude's services keep content that no request has used since. */
const SHORT_MS = 5 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * We assume that of 20 requests with a likely pause, one waits longer than five minutes. Then an hour pays off
 * where `NEW * 0.75 < 1/20 * ALL * 1.15`: with an input price of 1, new content is written at 2 instead of 1.25,
 * and all content is read at 0.1 instead of being written again at 1.25.
 */
const MOST_NEW_SHARE = ((1 / 20) * 1.15) / 0.75;

/** Whether, by this estimate, a cache of an hour costs less than one of five minutes when a pause is likely. */
export function paysForHour(newTokens: number, allTokens: number): boolean {
  return allTokens >= LEAST_TOKENS && newTokens <= allTokens * MOST_NEW_SHARE;
}

interface Asked {
  readonly model: string;
  readonly tools: readonly FunctionDeclaration[];
  readonly at: number;
}

/** Knows what the service should still have cached of the last request, and why it has not. A fold over events. */
export class CacheWatch {
  /** The model that answers from here on, and the one that answered last. */
  #current = "";
  #model = "";
  #usage: Usage | null = null;
  /** Unknown for a resumed session. */
  #tools: readonly FunctionDeclaration[] | undefined;
  #until = Number.POSITIVE_INFINITY;
  #isShortened = false;

  apply(event: AgentEvent): void {
    if (event.type === "session" || event.type === "model") this.#current = event.model;
    if (event.type === "compaction" || event.type === "cleared") this.#isShortened = true;
    if (event.type !== "usage" || event.purpose !== undefined || event.usage.inputTokens === 0) return;
    this.#usage = event.usage;
    this.#model = this.#current;
  }

  /** What a reply shows about the cache: the miss, if there is one with a known cause. */
  counted(usage: Usage, asked: Asked, now = Date.now()): { readonly cacheMiss?: CacheMiss } {
    if (usage.inputTokens === 0) return {};
    const { cachedTokens = 0, cacheWrites } = this.#usage ?? {};
    const kept = cachedTokens + (cacheWrites?.tokens ?? 0);
    const tokens = kept - usage.cachedTokens;
    const isMiss = tokens >= LEAST_TOKENS && usage.cachedTokens < kept * LEAST_SHARE;
    const reason = isMiss ? this.#reasonFor(asked) : null;
    this.#current = asked.model;
    this.#tools = asked.tools;
    this.#until = now + lifetimeOf(usage);
    this.#isShortened = false;
    return reason !== null ? { cacheMiss: { tokens, reason } } : {};
  }

  #reasonFor({ model, tools, at }: Asked): CacheMiss["reason"] | null {
    if (model !== this.#model) return "model";
    if (this.#isShortened) return "compaction";
    const isSame =
      !this.#tools || this.#tools === tools || JSON.stringify(this.#tools) === JSON.stringify(tools);
    if (!isSame) return "tools";
    return at > this.#until ? "pause" : null;
  }
}

/** Known only if the service says how long it keeps content. */
function lifetimeOf({ cacheWrites }: Usage): number {
  if (cacheWrites?.hour === undefined) return Number.POSITIVE_INFINITY;
  return cacheWrites.hour > 0 ? HOUR_MS : SHORT_MS;
}
