import type { AgentEvent } from "@burin/contract/agent-event";
import {
  type InlineData,
  isMedia,
  type Part,
  type PartListUnion,
  textOf,
  toParts,
} from "@burin/contract/messages/parts";
import { CacheWatch } from "./cache-watch.ts";
import { EventQueue } from "./event-queue.ts";
import { History } from "./history.ts";
import { WorkRecord } from "./work-record.ts";

/** What the user says, and what goes with it: images, PDF. */
export interface Prompt {
  readonly text: string;
  readonly media?: readonly InlineData[];
}

/** Types do not bind whoever calls from JavaScript. */
export function promptOf(given: PartListUnion): Prompt {
  const parts = toParts(given);
  if (parts.length === 0 || !parts.every((part) => part && (typeof part.text === "string" || isMedia(part))))
    throw new TypeError("The prompt must be text, or parts with text or inlineData (mimeType, base64 data).");
  return { text: textOf(parts), media: parts.flatMap(({ inlineData }) => inlineData ?? []) };
}

/** The same as parts; words alone as text. */
export function partsOf({ text, media = [] }: Prompt): PartListUnion {
  if (media.length === 0) return text;
  const shown = media.map((inlineData) => ({ inlineData }));
  return text === "" ? shown : [text, ...shown];
}

/** Bytes of an image or a PDF as what a prompt may have, with what is missing of it; null for anything else. Throws what is wrong with it. */
export async function mediaParts(bytes: Uint8Array): Promise<Part[] | null> {
  const { shownMedia } = await import("@burin/machine/files/shown-media");
  const shown = await shownMedia(Buffer.from(bytes));
  if (shown === null) return null;
  const { mimeType } = shown;
  if ("fault" in shown) throw new Error(`the ${mimeType} file is damaged: ${shown.fault}`);
  const part = { inlineData: { mimeType, data: shown.bytes.toString("base64") } };
  return shown.note === undefined ? [part] : [{ text: shown.note }, part];
}

/** What an agent has said and heard: each event enters the history when it happens, whoever makes it. */
export class Conversation {
  readonly words = new WaitingWords();
  readonly history = new History();
  readonly record = new WorkRecord();
  readonly cache = new CacheWatch();
  /** For the reader of a run alone; it has been noted. */
  told = new EventQueue<AgentEvent>();
  readonly #onEvent: (event: AgentEvent) => void;

  /** `onEvent` hears each event of the history when it happens, before anybody reads it. */
  constructor(onEvent: (event: AgentEvent) => void = () => {}) {
    this.#onEvent = onEvent;
  }

  /** What happened in an earlier process. */
  recall(event: AgentEvent): void {
    this.history.apply(event);
    this.record.apply(event);
    this.cache.apply(event);
  }

  readonly note = (event: AgentEvent): AgentEvent => {
    this.recall(event);
    this.#onEvent(event);
    return event;
  };

  /** The same for what happens beside the loop, in calls and in the background; the reader of the run hears it. */
  readonly tell = (event: AgentEvent): void => {
    this.told.push(this.note(event));
  };

  /** Nobody reads the run any more. */
  forgetTold(): void {
    this.told = new EventQueue();
  }
}

/** What the user typed while the model works, until it enters the history. */
class WaitingWords {
  #steering: Prompt[] = [];
  #queued: Prompt[] = [];
  #wake: () => void = () => {};

  /** Enters with the next request of the running turn. */
  steer(words: Prompt): void {
    this.#steering.push(words);
    this.#wake();
  }

  /** Enters when the model has ended its turn. */
  queue(words: Prompt): void {
    this.#queued.push(words);
    this.#wake();
  }

  /** Resolves with the next words; a later wait takes the place of an earlier one. */
  arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  takeSteering(): Prompt[] {
    const words = this.#steering;
    this.#steering = [];
    return words;
  }

  /** The oldest one, so that each queued prompt gets its own turn. */
  takeQueued(): Prompt | undefined {
    return this.#queued.shift();
  }

  takeAll(): Prompt[] {
    const words = [...this.takeSteering(), ...this.#queued];
    this.#queued = [];
    return words;
  }
}
