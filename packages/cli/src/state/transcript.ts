import type { AgentEvent, CacheMiss, ContextFill, InlineData, ToolCall } from "@burin/core";
import { grouped, say } from "../locales/say.ts";
import type { Line } from "../terminal/styled-line.ts";

/** One thing that stands in the transcript, as far as it has come. */
export type Item =
  | { readonly kind: "user"; readonly text: string; readonly media: readonly InlineData[] }
  /** `text` is what has not been drawn for good yet. */
  | { readonly kind: "text"; text: string; isWhole: boolean }
  | { readonly kind: "thought"; text: string; readonly since: number; isWhole: boolean }
  | CallItem
  /** What a command of the screen shows, drawn for the width that there is. */
  | { readonly kind: "lines"; readonly draw: (width: number) => readonly Line[] }
  | { readonly kind: "notice"; readonly text: string; readonly isBad: boolean };

/** A call, and whether it was asked with a plan: then its result is that plan, and Markdown. */
export type ShownCall = ToolCall & { readonly isPlan?: boolean };

interface CallItem {
  readonly kind: "call";
  call: ShownCall;
  since: number;
  milliseconds: number;
  /** Its session ended while it ran; how it is told to the model is known with the next prompt. */
  isLeft: boolean;
}

/** What a session has used so far. */
export interface Spent {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  readonly cacheMisses: CacheMiss[];
  calls: number;
  /** In the currency of `model.prices`. */
  money: number;
}

const MOST_KEPT_CALLS = 50;
/** Behind it stands in a prompt what the files hold that it names, which is for the model. */
export const FILES_MARK = "\n\nWhat the @ mentions hold:\n\n";

/**
 * The events of a session as things to be drawn, in order. What is drawn for good is taken out at the front, so
 * that a long session holds no more than a short one.
 */
export class Transcript {
  #items: Item[] = [];
  /** So many of them are drawn for good and only still here because taking them out one by one is slow. */
  #drawn = 0;
  /** The calls that are not over, by their ids. */
  readonly #open = new Map<string, CallItem>();
  /** The calls that ended last, to be looked at again. */
  readonly calls: ShownCall[] = [];
  readonly spent: Spent = {
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    cacheMisses: [],
    calls: 0,
    money: 0,
  };
  /** How full the model's window is; null before the first request. */
  fill: ContextFill | null = null;
  model = "";
  sessionId = "";
  /** What the user calls the session. */
  name = "";
  /** Subagents that work in the background, by their ids. */
  readonly background = new Set<string>();

  get items(): readonly Item[] {
    this.#items.splice(0, this.#drawn);
    this.#drawn = 0;
    return this.#items;
  }

  /** The first that is not drawn for good. */
  get first(): Item | undefined {
    return this.#items[this.#drawn];
  }

  /** Takes out the first item: it is drawn for good. */
  shift(): void {
    this.#drawn += 1;
  }

  /** Another session, or another model, from here on. */
  begin(model: string): void {
    this.model = model;
    this.fill = null;
    this.name = "";
    this.background.clear();
  }

  note(text: string, isBad = false): void {
    this.#close();
    this.#items.push({ kind: "notice", text, isBad });
  }

  print(draw: (width: number) => readonly Line[]): void {
    this.#close();
    this.#items.push({ kind: "lines", draw });
  }

  /** What the subagent is to do that works for this call, in the words of who handed it out; "" where that is not known. */
  taskOf(callId: string | null): string {
    const call = this.#open.get(callId ?? "")?.call ?? this.calls.find((one) => one.callId === callId);
    const words = call?.args.description;
    return typeof words === "string" ? words : "";
  }

  /** What was heard is of a session that has ended: nothing of it runs any more. */
  leaveOpenCalls(): void {
    for (const item of this.#open.values()) item.isLeft = item.call.status === "executing";
  }

  hear(event: AgentEvent, now: number): void {
    switch (event.type) {
      case "session":
        this.model = event.model;
        this.sessionId = event.sessionId;
        return;
      case "text":
        if (event.role === "user") this.#heardUser(event.text, event.media);
        else this.#heardText(event.text);
        return;
      case "thought":
        this.#heardThought(event.text, now);
        return;
      case "tool_call":
        this.#heardCall(event.call, now);
        return;
      case "usage":
        this.#heardUsage(event);
        return;
      case "notice":
        this.note(event.message);
        return;
      case "done":
        this.#close();
        this.#heardEnd(event);
        return;
      default:
        this.#heardBeside(event);
    }
  }

  #heardEnd({ status, error }: Extract<AgentEvent, { type: "done" }>): void {
    if (status === "cancelled") this.note(say("end.cancelled"));
    // The call that was refused says so itself.
    else if (status !== "success" && status !== "refused" && error) this.note(error.message, true);
  }

  /** What is told of the session itself. */
  #heardBeside(event: AgentEvent): void {
    switch (event.type) {
      case "model":
        this.model = event.model;
        return;
      case "name":
        this.name = event.name;
        return;
      case "context_fill":
        this.fill = event;
        return;
      case "task":
        this.#heardTask(event);
        return;
      case "compaction":
        this.note(
          say("compact.done", { before: grouped(event.tokensBefore), after: grouped(event.tokensAfter) }),
        );
        return;
      default:
    }
  }

  #heardTask({ id, agent, description, status }: Extract<AgentEvent, { type: "task" }>): void {
    if (status === "running") this.background.add(id);
    else {
      this.background.delete(id);
      this.note(say(`task.${status}`, { agent, description }));
    }
  }

  #heardUser(said: string, media: readonly InlineData[] = []): void {
    this.#close();
    this.#items.push({ kind: "user", text: wordsOf(said), media });
  }

  #heardText(text: string): void {
    const last = this.#items.at(-1);
    if (last?.kind === "text" && !last.isWhole) last.text += text;
    else {
      this.#close();
      this.#items.push({ kind: "text", text: text.replace(/^\n+/, ""), isWhole: false });
    }
  }

  #heardThought(text: string, now: number): void {
    if (text === "") return;
    const last = this.#items.at(-1);
    if (last?.kind === "thought" && !last.isWhole) last.text = (last.text + text).slice(-2000);
    else {
      this.#close();
      this.#items.push({ kind: "thought", text, since: now, isWhole: false });
    }
  }

  #heardCall(heard: ToolCall, now: number): void {
    const known = this.#open.get(heard.callId);
    const isAsked = heard.status === "awaiting_approval" && heard.confirmation.kind === "plan";
    const call: ShownCall = isAsked || known?.call.isPlan ? { ...heard, isPlan: true } : heard;
    if (known === undefined) {
      this.#close();
      const item: CallItem = { kind: "call", call, since: now, milliseconds: 0, isLeft: false };
      this.#items.push(item);
      this.#open.set(call.callId, item);
    } else {
      // Time in which a person was asked is not the call's.
      if (call.status === "executing" && known.call.status !== "executing") known.since = now;
      known.call = call;
      known.isLeft = false;
      known.milliseconds = now - known.since;
    }
    if (!isOver(call)) return;
    this.#open.delete(call.callId);
    this.spent.calls += 1;
    this.calls.push(call);
    if (this.calls.length > MOST_KEPT_CALLS) this.calls.shift();
  }

  #heardUsage({ usage, cacheMiss }: Extract<AgentEvent, { type: "usage" }>): void {
    if (cacheMiss) this.spent.cacheMisses.push(cacheMiss);
    this.spent.inputTokens += usage.inputTokens;
    this.spent.outputTokens += usage.outputTokens;
    this.spent.cachedTokens += usage.cachedTokens;
    this.spent.money += usage.cost ?? 0;
  }

  /** Nothing more is said to what was being said. */
  #close(): void {
    const last = this.#items.at(-1);
    if (last?.kind === "text" || last?.kind === "thought") last.isWhole = true;
  }
}

/** What the user wrote of a prompt. */
export function wordsOf(prompt: string): string {
  return prompt.split(FILES_MARK, 1)[0] ?? "";
}

export function isOver({ status }: ToolCall): boolean {
  return status === "success" || status === "error" || status === "cancelled";
}
