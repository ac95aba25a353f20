import type { AgentEvent } from "@burin/contract/agent-event";
import { EventQueue } from "@burin/contract/async/event-queue";
import {
  type InlineData,
  isMedia,
  joinText,
  type Part,
  type PartListUnion,
  toParts,
} from "@burin/contract/messages/message";
import { CacheWatch } from "./cache-watch.ts";
import { History, WorkRecord } from "./history.ts";

export interface Prompt {
  readonly text: string;
  readonly media?: readonly InlineData[];
}

/** Converts a prompt to text and media. Checks it, because JavaScript callers may ignore the types. */
export function toPrompt(given: PartListUnion): Prompt {
  const parts = toParts(given);
  if (parts.length === 0 || !parts.every((part) => part && (typeof part.text === "string" || isMedia(part))))
    throw new TypeError("The prompt must be text, or parts with text or inlineData (mimeType, base64 data).");
  return { text: joinText(parts), media: parts.flatMap(({ inlineData }) => inlineData ?? []) };
}

/** Returns the prompt as parts, or as plain text if it has no media. */
export function toPromptParts({ text, media = [] }: Prompt): PartListUnion {
  if (media.length === 0) return text;
  const shown = media.map((inlineData) => ({ inlineData }));
  return text === "" ? shown : [text, ...shown];
}

/** Converts the bytes of an image or a PDF to parts for a prompt; null for others. Throws if they are damaged. */
export async function readMediaParts(bytes: Uint8Array): Promise<Part[] | null> {
  const { prepareMedia } = await import("@burin/files/workspace/media-kind");
  const shown = await prepareMedia(Buffer.from(bytes));
  if (shown === null) return null;
  const { mimeType } = shown;
  if ("fault" in shown) throw new Error(`the ${mimeType} file is damaged: ${shown.fault}`);
  const part = { inlineData: { mimeType, data: shown.bytes.toString("base64") } };
  return shown.note === undefined ? [part] : [{ text: shown.note }, part];
}

/** The conversation of an agent. Each event is added to the history when it happens, whatever its source. */
export class Conversation {
  readonly words = new PendingInput();
  readonly history = new History();
  readonly record = new WorkRecord();
  readonly cache = new CacheWatch();
  /** Events for the reader of the run. They are already in the history. */
  told = new EventQueue<AgentEvent>();
  readonly #onEvent: (event: AgentEvent) => void;

  /** `onEvent` gets each event of the history when it happens, before any reader. */
  constructor(onEvent: (event: AgentEvent) => void = () => {}) {
    this.#onEvent = onEvent;
  }

  /** Replays an event of an earlier process. */
  replay(event: AgentEvent): void {
    this.history.apply(event);
    this.record.apply(event);
    this.cache.applyEvent(event);
  }

  readonly note = (event: AgentEvent): AgentEvent => {
    this.replay(event);
    this.#onEvent(event);
    return event;
  };

  /** Like `note`, for events from outside the loop (calls, background tasks). The run's reader gets them too. */
  readonly tell = (event: AgentEvent): void => {
    this.told.push(this.note(event));
  };

  /** Sends all further events to this queue. It begins with those that nobody has read yet. */
  sendEventsTo(queue: EventQueue<AgentEvent>): void {
    for (const event of this.told.takeAll()) queue.push(event);
    this.told = queue;
  }

  /** Ends a run: what was told after its reader had stopped waits for the next run. */
  resetEventQueue(): void {
    const late = this.told.hasLostReader ? this.told.takeAll() : [];
    this.told = new EventQueue();
    for (const event of late) this.told.push(event);
  }
}

/** Holds what the user types while the model works, until it is added to the history. */
class PendingInput {
  readonly #steering: Prompt[] = [];
  readonly #queued: Prompt[] = [];
  #wake: () => void = () => {};

  /** Adds a prompt that is sent with the next request of the current turn. */
  addSteering(words: Prompt): void {
    this.#steering.push(words);
    this.#wake();
  }

  /** Adds a prompt that is sent after the model has ended its turn. */
  addQueued(words: Prompt): void {
    this.#queued.push(words);
    this.#wake();
  }

  /** Resolves when the next prompt arrives. A later wait replaces an earlier one. */
  waitForPrompt(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  takeSteering(): Prompt[] {
    return this.#steering.splice(0);
  }

  /** Returns only the oldest queued prompt, so that each gets its own turn. */
  takeQueued(): Prompt[] {
    return this.#queued.splice(0, 1);
  }

  takeAll(): Prompt[] {
    return [...this.takeSteering(), ...this.#queued.splice(0)];
  }
}
