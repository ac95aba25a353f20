import type { AgentEvent, CacheMiss } from "@burin/contract/agent-event";
import type { Usage } from "@burin/contract/chat-model";
import type { FunctionDeclaration } from "@burin/contract/messages/message";

/** Services do not cache fewer tokens. */
const MIN_TOKENS = 1024;
/** Services cache whole blocks and may have dropped the last ones, so a smaller loss does not count as a miss. */
const MIN_SHARE = 0.5;
const MINUTE_MS = 60_000;
/** How long Claude's services keep cached content that no request uses. */
const SHORT_MS = 5 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * We assume that one in 20 requests with a likely pause waits longer than five minutes. A cache of an hour then pays
 * off if `NEW * 0.75 < 1/20 * ALL * 1.15`. With an input price of 1, new content costs 2 to write instead of 1.25, and
 * all content costs 0.1 to read instead of 1.25 to write again.
 */
const MAX_NEW_SHARE = ((1 / 20) * 1.15) / 0.75;

/** Whether a cache of an hour is estimated to cost less than one of five minutes when a pause is likely. */
export function isHourCacheCheaper(newTokens: number, allTokens: number): boolean {
  return allTokens >= MIN_TOKENS && newTokens <= allTokens * MAX_NEW_SHARE;
}

interface LastRequest {
  readonly model: string;
  readonly tools: readonly FunctionDeclaration[];
  readonly at: number;
}

/** Tracks what the service should have cached of the last request, and why it has not. A fold over events. */
export class CacheWatch {
  /** The model that answers from here on, and the model that answered last. */
  #current = "";
  #model = "";
  #usage: Usage | null = null;
  /** Undefined for a resumed session, whose earlier tools are unknown. */
  #tools: readonly FunctionDeclaration[] | undefined;
  #until = Number.POSITIVE_INFINITY;
  #isShortened = false;

  applyEvent(event: AgentEvent): void {
    if (event.type === "session" || event.type === "model") this.#current = event.model;
    if (event.type === "compaction" || event.type === "cleared") this.#isShortened = true;
    if (event.type !== "usage" || event.purpose !== undefined || event.usage.inputTokens === 0) return;
    this.#usage = event.usage;
    this.#model = this.#current;
  }

  /** Compares a reply's usage with what should have been cached. Returns a cache miss if its cause is known. */
  compareUsage(usage: Usage, asked: LastRequest, now = Date.now()): { readonly cacheMiss?: CacheMiss } {
    if (usage.inputTokens === 0) return {};
    const { cachedTokens = 0, cacheWrites } = this.#usage ?? {};
    const kept = cachedTokens + (cacheWrites?.tokens ?? 0);
    const tokens = kept - usage.cachedTokens;
    const isMiss = tokens >= MIN_TOKENS && usage.cachedTokens < kept * MIN_SHARE;
    const reason = isMiss ? this.#findMissReason(asked) : null;
    this.#current = asked.model;
    this.#tools = asked.tools;
    this.#until = now + readCacheLifetime(usage);
    this.#isShortened = false;
    return reason !== null ? { cacheMiss: { tokens, reason } } : {};
  }

  #findMissReason({ model, tools, at }: LastRequest): CacheMiss["reason"] | null {
    if (model !== this.#model) return "model";
    if (this.#isShortened) return "compaction";
    const isSame =
      !this.#tools || this.#tools === tools || JSON.stringify(this.#tools) === JSON.stringify(tools);
    if (!isSame) return "tools";
    return at > this.#until ? "pause" : null;
  }
}

/** Returns how long the service keeps content; infinity if it does not say. */
function readCacheLifetime({ cacheWrites }: Usage): number {
  if (cacheWrites?.hour === undefined) return Number.POSITIVE_INFINITY;
  return cacheWrites.hour > 0 ? HOUR_MS : SHORT_MS;
}
