import type { Message } from "../messages/message.ts";
import type { InlineData } from "../messages/parts.ts";

/** What a service has refused once, so that the same model object never sends it again. */
export class Lessons {
  /** The habits of this service; each protocol knows its own. */
  readonly quirks = new Set<string>();
  /** The tools that it does not take. */
  readonly tools = new Set<string>();
  readonly #refusedMedia = new Set<string>();
  readonly #takenMedia = new Set<string>();

  isRefused({ data = "" }: InlineData): boolean {
    return this.#refusedMedia.has(data);
  }

  /** The service has answered a request with this history, so nothing in it is wrong by itself. */
  noteTaken(history: readonly Message[]): void {
    for (const data of mediaIn(history)) this.#takenMedia.add(data);
  }

  /**
   * The service has refused a request because of its media: those that it has never taken are to blame, or
   * when it has taken each before, they have become too many, and the older half has to go. Gives how many.
   */
  refuseMedia(history: readonly Message[]): number {
    const sent = [...new Set(mediaIn(history))].filter((data) => !this.#refusedMedia.has(data));
    const unknown = sent.filter((data) => !this.#takenMedia.has(data));
    const blamed = unknown.length > 0 ? unknown : sent.slice(0, Math.ceil(sent.length / 2));
    for (const data of blamed) this.#refusedMedia.add(data);
    return blamed.length;
  }
}

function mediaIn(history: readonly Message[]): string[] {
  const found: string[] = [];
  for (const { parts } of history) {
    for (const { inlineData } of parts) if (inlineData?.data) found.push(inlineData.data);
  }
  return found;
}
