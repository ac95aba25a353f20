import type { AgentEvent } from "@burin/contract/agent-event";
import type { AnsweredCall } from "@burin/contract/tool-call";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { ContextFiles, ContextText } from "./context-files.ts";
import type { WorkRecord } from "./work-record.ts";

/** More that the model is told first, and again in place of what a compaction takes away. */
export type Briefing = (moment: "start" | "compaction", signal: AbortSignal) => Promise<readonly string[]>;

interface ContextSources {
  readonly contextFiles: ContextFiles;
  readonly briefing: Briefing | undefined;
  /** Knows which files the history holds already. */
  readonly record: WorkRecord;
  /** Takes each event into the history when it happens. */
  readonly note: (event: AgentEvent) => AgentEvent;
}

/** What the model is told beside words and answers: the briefing, and each context file once. */
export class ContextNotes {
  readonly #sources: ContextSources;

  constructor(sources: ContextSources) {
    this.#sources = sources;
  }

  /** What comes before a prompt; the briefing only before the first. */
  async *beforePrompt(isFirst: boolean, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const { contextFiles, note } = this.#sources;
    const texts = isFirst ? await this.#briefing("start", signal) : [];
    for (const text of texts) yield note({ type: "context", text });
    yield* this.#new(await contextFiles.initial());
  }

  /** The context files of the folders that the calls have come to. */
  async *touchedBy(calls: readonly AnsweredCall[], registry: ToolRegistry): AsyncGenerator<AgentEvent> {
    const { contextFiles } = this.#sources;
    for (const call of calls) yield* this.#new(await contextFiles.touchedBy(call, registry));
  }

  /** All that was told, as it is now, for a history that is shortened. */
  async again(signal: AbortSignal): Promise<readonly string[]> {
    const { contextFiles, record } = this.#sources;
    const texts = await contextFiles.again(record.contextFiles);
    return [...texts.map(({ text }) => text), ...(await this.#briefing("compaction", signal))];
  }

  async #briefing(moment: "start" | "compaction", signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#sources.briefing?.(moment, signal)) ?? [];
  }

  *#new(texts: readonly ContextText[]): Generator<AgentEvent> {
    const { record, note } = this.#sources;
    for (const { file, text } of texts) {
      if (!record.contextFiles.has(file)) yield note({ type: "context", text, file });
    }
  }
}
