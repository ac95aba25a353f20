import type { AgentEvent } from "@burin/core";
import type { InlineData } from "@burin/core/sessions";
import {
  type CacheMiss,
  type ContextFill,
  isAnswered,
  type RunEnd,
  type ToolCall,
} from "@burin/core/sessions";
import { formatNumber, say } from "../locales/say.ts";
import type { Line } from "../terminal/styled-line.ts";
import { type Receipt, ReceiptCounter } from "./receipt.ts";

/** One entry of the transcript in its current state. */
export type Item =
  | { readonly kind: "user"; readonly text: string; readonly media: readonly InlineData[] }
  /** `text` is the part that has not been drawn permanently yet. */
  | { readonly kind: "text"; text: string; isWhole: boolean }
  | { readonly kind: "thought"; readonly since: number; text: string; isWhole: boolean }
  | CallItem
  /** The output of a screen command, drawn for the current width. */
  | LinesItem
  | { readonly kind: "receipt"; readonly receipt: Receipt }
  | { readonly kind: "notice"; readonly text: string; readonly isBad: boolean };

/** Lines that may still change while `isOpen`. */
interface LinesItem {
  readonly kind: "lines";
  readonly draw: (width: number, isOpen: boolean) => readonly Line[];
  isOpen: boolean;
}

/** A tool call. With `isPlan`, its question was a plan, and its result is that plan in Markdown. */
export type ShownCall = ToolCall & { readonly isPlan?: boolean };

interface CallItem {
  readonly kind: "call";
  call: ShownCall;
  since: number;
  milliseconds: number;
  /** The session ended while the call was running. How the model sees it is known only with the next prompt. */
  isLeft: boolean;
}

const MAX_KEPT_CALLS = 50;
const MAX_KEPT_THOUGHTS = 20;
/** Separates the text of a prompt from the contents of mentioned files, which are only for the model. */
export const FILES_MARK = "\n\nWhat the @ mentions hold:\n\n";

/**
 * A session's events as entries to draw, in order. Entries that are drawn permanently are removed from the front, so a
 * long session needs no more memory than a short one.
 */
export class Transcript {
  readonly items: Item[] = [];
  /** The unfinished calls by id. */
  readonly #open = new Map<string, CallItem>();
  /** The latest finished calls, kept so that the user can view them again. */
  readonly calls: ShownCall[] = [];
  readonly spent = {
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    cacheMisses: [] as CacheMiss[],
    calls: 0,
    /** The cost in the currency of `model.prices`. */
    money: 0,
  };
  /** How full the model's window is; null before the first request. */
  fill: ContextFill | null = null;
  readonly #receipt = new ReceiptCounter();
  /** The latest thoughts, kept so that the user can read them again. */
  readonly thoughts: string[] = [];
  /** When the last event arrived. */
  heardAt = 0;
  /** When the request is sent again, while that is waited for. */
  retryAt = 0;
  model = "";
  sessionId = "";
  name = "";

  /** Starts another session or another model. */
  beginSession(model: string): void {
    this.model = model;
    this.fill = null;
    this.name = "";
  }

  note(text: string, isBad = false): void {
    this.#addItem({ kind: "notice", text, isBad });
  }

  print(draw: (width: number) => readonly Line[]): void {
    this.#addItem({ kind: "lines", draw, isOpen: false });
  }

  /** Prints lines that may change until something follows them. */
  printOpen(draw: LinesItem["draw"]): void {
    this.#addItem({ kind: "lines", draw, isOpen: true });
  }

  /** Whether nothing has followed the lines that were printed at the start, so that they may still change. */
  get isAtStart(): boolean {
    const [first, ...others] = this.items;
    return others.length === 0 && first?.kind === "lines" && first.isOpen;
  }

  /** Returns the task of the subagent that this call started, as the call describes it; "" if it is not known. */
  findTask(callId: string | null): string {
    const call = this.#open.get(callId ?? "")?.call ?? this.calls.find((one) => one.callId === callId);
    const words = call?.args.description;
    return typeof words === "string" ? words : "";
  }

  /** Marks the unfinished calls as left behind: the session of these events has ended, so nothing in it runs. */
  leaveOpenCalls(): void {
    for (const item of this.#open.values()) item.isLeft = item.call.status === "executing";
  }

  applyEvent(event: AgentEvent, now: number): void {
    this.heardAt = now;
    this.retryAt = 0;
    const receipt = this.#receipt.countEvent(event);
    if (event.type === "session") {
      this.model = event.model;
      this.sessionId = event.sessionId;
    } else if (event.type === "text" && event.role === "user")
      this.#addItem({ kind: "user", text: readPromptWords(event.text), media: event.media ?? [] });
    else if (event.type === "text") this.#applyText(event.text);
    else if (event.type === "thought") this.#applyThought(event.text, now);
    else if (event.type === "tool_call") this.#applyCall(event.call, now);
    else if (event.type === "usage") this.#applyUsage(event);
    else if (event.type === "notice") this.#applyNotice(event, now);
    else if (event.type === "done") this.#applyEnd(event, receipt);
    else if (event.type === "model") this.model = event.model;
    else if (event.type === "name") this.name = event.name;
    else if (event.type === "context_fill") this.fill = event;
    else if (event.type === "task" && event.status !== "running")
      this.note(say(`task.${event.status}`, { agent: event.agent, description: event.description }));
    else if (event.type === "compaction") {
      const { tokensBefore, tokensAfter } = event;
      this.note(
        say("compact.done", { before: formatNumber(tokensBefore), after: formatNumber(tokensAfter) }),
      );
    }
  }

  #applyEnd({ status, error }: RunEnd, receipt: Receipt | null): void {
    this.#completeOpenText();
    if (receipt !== null) this.#addItem({ kind: "receipt", receipt });
    if (status === "cancelled") this.note(say("end.cancelled"));
    // A refused call shows this itself.
    else if (status !== "success" && status !== "refused" && error) this.note(error.message, true);
  }

  #applyNotice({ message, retry }: Extract<AgentEvent, { type: "notice" }>, now: number): void {
    // Failures without an answer of the service have texts of their own.
    if (retry?.status === undefined) this.note(message);
    if (retry === undefined) return;
    const { attempt, mostAttempts: most, seconds, status } = retry;
    this.retryAt = now + seconds * 1000;
    if (status !== undefined)
      this.note(say(status === 429 ? "retry.limited" : "retry.failed", { status, attempt, most }));
  }

  #applyText(text: string): void {
    const last = this.items.at(-1);
    if (last?.kind === "text" && !last.isWhole) last.text += text;
    else this.#addItem({ kind: "text", text: text.replace(/^\n+/, ""), isWhole: false });
  }

  #applyThought(text: string, now: number): void {
    const last = this.items.at(-1);
    if (text === "") return;
    if (last?.kind === "thought" && !last.isWhole) last.text += text;
    else this.#addItem({ kind: "thought", since: now, text, isWhole: false });
  }

  #applyCall(heard: ToolCall, now: number): void {
    const known = this.#open.get(heard.callId);
    const isAsked = heard.status === "awaiting_approval" && heard.confirmation.kind === "plan";
    const call: ShownCall = isAsked || known?.call.isPlan ? { ...heard, isPlan: true } : heard;
    if (known === undefined) {
      const item: CallItem = { kind: "call", call, since: now, milliseconds: 0, isLeft: false };
      this.#addItem(item);
      this.#open.set(call.callId, item);
    } else {
      // Time spent waiting for the user does not count as the call's.
      const { status } = known.call;
      if (status === "awaiting_approval" || status === "validating") known.since = now;
      known.call = call;
      known.isLeft = false;
      known.milliseconds = now - known.since;
    }
    if (!isAnswered(call)) return;
    this.#open.delete(call.callId);
    this.spent.calls += 1;
    this.calls.push(call);
    if (this.calls.length > MAX_KEPT_CALLS) this.calls.shift();
  }

  #applyUsage({ usage, cacheMiss }: Extract<AgentEvent, { type: "usage" }>): void {
    if (cacheMiss) this.spent.cacheMisses.push(cacheMiss);
    this.spent.inputTokens += usage.inputTokens;
    this.spent.outputTokens += usage.outputTokens;
    this.spent.cachedTokens += usage.cachedTokens;
    this.spent.money += usage.cost ?? 0;
  }

  #addItem(item: Item): void {
    this.#completeOpenText();
    this.items.push(item);
  }

  /** Marks the current text as complete. */
  #completeOpenText(): void {
    const last = this.items.at(-1);
    if (last?.kind === "thought" && !last.isWhole) {
      this.thoughts.push(last.text);
      if (this.thoughts.length > MAX_KEPT_THOUGHTS) this.thoughts.shift();
    }
    if (last?.kind === "text" || last?.kind === "thought") last.isWhole = true;
    if (last?.kind === "lines") last.isOpen = false;
  }
}

/** Returns the ending of a prompt that a screen command stands for. */
export function formatCommandMark(command: string): string {
  return `\n\n(The user asked for this with ${command.replace(/\s+/g, " ")})`;
}

/** Returns the part of a prompt that the user typed. */
export function readPromptWords(prompt: string): string {
  const [words = ""] = prompt.split(FILES_MARK, 1);
  return /\n\n\(The user asked for this with (\/[^\n]*)\)$/.exec(words)?.[1] ?? words;
}
