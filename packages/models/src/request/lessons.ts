import { getOrCreate } from "@burin/contract/async/once";
import type { InlineData, JsonSchema, Message, Part } from "@burin/contract/messages/message";
import type { ModelProvider } from "@burin/contract/settings/settings";
import { withFallback } from "@burin/contract/with-fallback";
import type { Quirk } from "./quirks.ts";
import { isSupportedImage } from "./user-items.ts";

/** What a service has rejected once, so that the same model object never sends it again. */
export class Lessons {
  readonly quirks = new Set<Quirk>();
  readonly tools = new Set<string>();
  /** The longest tool description that is accepted. */
  maxDescription = Number.POSITIVE_INFINITY;
  /** The highest output limit in tokens. */
  maxServiceOutput: number | undefined;
  /** Replaces the requested effort. */
  effort: string | undefined;
  makesCalls = false;
  showsNoImages = false;
  /** Removes from a schema what the service rejects; set only if there is something to remove. */
  strip: ((schema: JsonSchema, keywords: ReadonlySet<string>) => JsonSchema) | undefined;
  readonly #refusedKeywords = new Map<string, Set<string>>();
  readonly #refusedMedia = new Set<string>();
  readonly #takenMedia = new Set<string>();
  readonly #refusedSignatures = new Set<string>();

  wasMediaRefused({ data = "" }: InlineData): boolean {
    return this.#refusedMedia.has(data);
  }

  /** Returns the part, without its signature if the service has rejected that. */
  dropRefusedSignature(part: Part): Part {
    return this.#refusedSignatures.has(part.thoughtSignature ?? "")
      ? { ...part, thoughtSignature: "" }
      : part;
  }

  get hasForeignSignatures(): boolean {
    return this.#refusedSignatures.size > 0;
  }

  /** Notes that the service rejects the signatures so far, which another service made. Returns whether any was new. */
  noteRefusedSignatures(history: readonly Message[]): boolean {
    const { size } = this.#refusedSignatures;
    for (const { parts } of history) {
      for (const { thoughtSignature } of parts)
        if (thoughtSignature) this.#refusedSignatures.add(thoughtSignature);
    }
    return this.#refusedSignatures.size > size;
  }

  /** Notes that a tool's schema must not use a keyword. Returns whether that was new. */
  noteRefusedKeyword(tool: string, keyword: string): boolean {
    const known = getOrCreate(this.#refusedKeywords, tool, () => new Set());
    const { size } = known;
    return known.add(keyword).size > size;
  }

  stripRefusedKeywords(tool: string, schema: JsonSchema): JsonSchema {
    const keywords = this.#refusedKeywords.get(tool);
    return keywords && this.strip ? this.strip(schema, keywords) : schema;
  }

  /** Whether the media include images that the service has never accepted, and none that it has. */
  hasOnlyNewImages(history: readonly Message[]): boolean {
    const images = collectMedia(history).filter(({ mimeType }) => isSupportedImage(mimeType));
    return images.length > 0 && !images.some(({ data = "" }) => this.#takenMedia.has(data));
  }

  /** Notes that the service has accepted a request with this history, so nothing in it is wrong by itself. */
  noteAcceptedMedia(history: readonly Message[]): void {
    for (const { data = "" } of collectMedia(history)) this.#takenMedia.add(data);
  }

  /**
   * Notes that the service has rejected a request because of its media. Media that it has never accepted are the
   * reason. If it has accepted all of them before, or says that there are too many, the older half is left out. Returns
   * how many are left out.
   */
  noteRefusedMedia(history: readonly Message[], areTooMany: boolean): number {
    const all = new Set(collectMedia(history).map(({ data = "" }) => data));
    const sent = [...all].filter((data) => !this.#refusedMedia.has(data));
    const unknown = sent.filter((data) => !this.#takenMedia.has(data));
    const blamed = unknown.length > 0 && !areTooMany ? unknown : sent.slice(0, Math.ceil(sent.length / 2));
    for (const data of blamed) this.#refusedMedia.add(data);
    return blamed.length;
  }
}

function collectMedia(history: readonly Message[]): InlineData[] {
  const found: InlineData[] = [];
  for (const { parts } of history) {
    for (const { inlineData } of parts) if (inlineData?.data) found.push(inlineData);
  }
  return found;
}

/** Quirks of some services from the first request on, by the service's host and the model's name. */
const KNOWN: readonly (readonly [quirk: Quirk, host: RegExp, model: RegExp])[] = [
  ["nine-ids", /(?:^|\.)mistral\.ai$/, /^/],
  ["nine-ids", /^/, /(?:^|[/.-])(?:mistral|mixtral|ministral|magistral|devstral|codestral|pixtral)\b/i],
];

/** Services whose models make all calls in the protocol's own way, so that a call in a text is an example. */
const FIRST_PARTIES =
  /(?:^|\.)(?:openai\.com|openai\.azure\.com|anthropic\.com|generativelanguage\.googleapis\.com)$/;

export function listKnownQuirks(protocol: ModelProvider, baseUrl: string, model: string): Quirk[] {
  if (protocol !== "openai") return [];
  const host = getHost(baseUrl);
  return KNOWN.flatMap(([quirk, hosts, models]) => (hosts.test(host) && models.test(model) ? [quirk] : []));
}

/** Vertex serves models of other makers, too, but those speak chat completions. */
const VERTEX = /(?:^|[.-])aiplatform\.(?:[\w-]+\.rep\.)?googleapis\.com$/;

/** Whether the service belongs to the maker of a protocol. */
export function isFirstParty(baseUrl: string, protocol: ModelProvider): boolean {
  const host = getHost(baseUrl);
  return FIRST_PARTIES.test(host) || (protocol !== "openai" && VERTEX.test(host));
}

function getHost(baseUrl: string): string {
  return withFallback("", () => new URL(baseUrl.trim()).hostname);
}
