import type { FunctionCall } from "@burin/contract/messages/message";
import { readWrittenCalls, type WrittenCall } from "./text-call-forms.ts";
import { createCallId } from "./tool-call-assembly.ts";

/** How much of a line's start is kept: enough to see whether it opens or closes a code block. */
const LINE_START = 200;

/** The maximum number of unfinished calls at the end of a reply that are examined, because each is read to the end. */
const MAX_UNFINISHED = 50;

/** A single token that MiniMax M3 writes before each of its tags. */
const MINIMAX = "]<]minimax[>[";

/** Text that follows the first written call. It is held back until the end shows whether the call counts. */
type Held = { readonly text: string; readonly calls?: readonly WrittenCall[] };

/** Whether the model, with a call as it was written, may only be repeating something that it was sent. */
type IsRepeated = (call: WrittenCall, written: string) => boolean;

/** Tags and quotes that stay open until they are closed. A call inside one is an example and does not count. */
const OPEN_TAG =
  /<(?:pre|code|blockquote|details|script|style|template|textarea|xmp|samp|q)\b[^>]{0,4000}>|<!--|\u201c/gi;
const CLOSED_TAG =
  /<\/(?:pre|code|blockquote|details|script|style|template|textarea|xmp|samp|q)>|-->|\u201d/gi;

/** Finds calls that name an offered tool, begin a line outside code, quotes and markup, and end the text. */
export class TextCalls {
  readonly #offered: ReadonlySet<string>;
  readonly #isRepeated: IsRepeated;
  /** All text that was passed on. */
  #shown = "";
  #isInQuote = false;
  #pending = "";
  /** The start of the current line, up to a limit, because lines may be very long. */
  #line = "";
  /** The backticks or tildes that opened the current code block. */
  #fence = "";
  #held: Held[] = [];
  /** A candidate is checked again only after it has grown a lot, so that long ones stay cheap. */
  #lookAgainAt = 0;
  #unfinished = 0;

  /** `offered` are the names of the tools that a call may use. */
  constructor(offered: ReadonlySet<string>, isRepeated: IsRepeated = () => false) {
    this.#offered = offered;
    this.#isRepeated = isRepeated;
  }

  add(piece: string): string {
    if (this.#offered.size === 0) return piece;
    this.#pending += piece.replaceAll(MINIMAX, "\n");
    return this.#pending.length < this.#lookAgainAt ? "" : this.#processPending(false);
  }

  /** The text that has arrived but was not passed on. */
  get heldText(): string {
    return this.#held.map((item) => item.text).join("") + this.#pending;
  }

  /** Returns the rest of the text and the calls in it, which count only if the protocol itself brought none. */
  finishReply(
    made: readonly FunctionCall[],
    isWhole: boolean,
    takenIds: ReadonlySet<string>,
  ): { readonly text: string; readonly calls: readonly FunctionCall[] } {
    let text = this.#processPending(isWhole);
    // Add the text that is still undecided to the text that was held back.
    if (this.#held.length > 0) this.#held.push({ text: this.#pending });
    else text += this.#pending;
    this.#pending = "";
    const used = new Set([...takenIds, ...made.map((call) => call.id)]);
    const isMade = made.length > 0;
    const counts = !isMade && this.#shouldUseHeldCalls();
    const calls: FunctionCall[] = [];
    for (const item of this.#held) {
      if (!item.calls) text += item.text;
      else if (counts) calls.push(...item.calls.map((call) => addCallId(call, used)));
      else if (!isMade || !item.calls.every((call) => made.some((one) => isSameCall(one, call))))
        text += item.text;
    }
    const isOnlySpace = calls.length > 0 && text.trim() === "";
    return { text: isOnlySpace ? "" : text, calls };
  }

  /** Whether the held calls count: they end the reply, are not inside anything open, and repeat nothing. */
  #shouldUseHeldCalls(): boolean {
    const last = this.#held.at(-1);
    if (last && !last.calls && last.text.trim() !== "") return false;
    // This also joins the pieces into one string, which saves much memory in a long reply.
    const opened = this.#shown.match(OPEN_TAG)?.length ?? 0;
    if (opened > (this.#shown.match(CLOSED_TAG)?.length ?? 0)) return false;
    // Marks without a call inside call nothing.
    const hasCalls = this.#held.some(({ calls }) => calls?.length);
    return (
      hasCalls && !this.#held.some(({ calls, text }) => calls?.some((call) => this.#isRepeated(call, text)))
    );
  }

  #processPending(isWhole: boolean): string {
    let shown = "";
    for (let step = this.#processNextPart(isWhole); step !== undefined; step = this.#processNextPart(isWhole))
      shown += step;
    this.#shown += shown;
    return shown;
  }

  /** Passes on or takes out the next part of the text. Returns undefined if that can be decided only with more text. */
  #processNextPart(isWhole: boolean): string | undefined {
    if (this.#pending === "") return undefined;
    const newline = this.#pending.indexOf("\n");
    const end = newline === -1 ? this.#pending.length : newline + 1;
    const line = this.#line + this.#pending.slice(0, end);
    if (this.#fence !== "" || /^\s*(?:```|~~~)/.test(line)) return this.#passText(end);
    const start = this.#findCandidate(end);
    if (start !== 0) return this.#passText(start ?? end);
    const read = readWrittenCalls(this.#pending, isWhole);
    if (read === "unfinished") {
      this.#lookAgainAt = this.#pending.length * 1.25;
      if (!isWhole) return undefined;
      this.#unfinished += 1;
      return this.#passText(this.#unfinished > MAX_UNFINISHED ? this.#pending.length : 1);
    }
    this.#lookAgainAt = 0;
    if (!read?.calls.every(({ name }) => this.#offered.has(name))) return this.#passText(1);
    this.#held.push({ calls: read.calls, text: this.#pending.slice(0, read.length) });
    this.#pending = this.#pending.slice(read.length);
    return "";
  }

  /** Returns where in the rest of the line a call may begin: only at its start, after at most three spaces. */
  #findCandidate(end: number): number | undefined {
    const rest = this.#pending.slice(0, end);
    const blank = rest.length - rest.trimStart().length;
    const indent = this.#line + rest.slice(0, blank);
    if (this.#isInQuote || !/^ {0,3}$/.test(indent)) return undefined;
    return /[{[<]/.test(rest.charAt(blank)) ? blank : undefined;
  }

  #passText(length: number): string {
    const text = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    if (this.#line.length < LINE_START) this.#line += text.slice(0, LINE_START);
    if (text.endsWith("\n")) {
      this.#fence = trackFence(this.#fence, this.#line);
      // A quote continues on the following lines, up to an empty one.
      this.#isInQuote = /^\s*>/.test(this.#line) || (this.#isInQuote && this.#line.trim() !== "");
      this.#line = "";
    }
    if (this.#held.length === 0) return text;
    this.#held.push({ text });
    if (text.trim() === "") return "";
    // Other text follows, so this was not a call.
    const held = this.#held.map((item) => item.text).join("");
    this.#held = [];
    return held;
  }
}

function trackFence(open: string, line: string): string {
  const [, marks = "", rest = ""] = /^\s*(`{3,}|~{3,})(.*)/.exec(line) ?? [];
  if (open === "") return marks.startsWith("`") && rest.includes("`") ? "" : marks;
  return marks.startsWith(open) && rest.trim() === "" ? "" : open;
}

function addCallId({ name, args }: WrittenCall, used: Set<string>): FunctionCall {
  const id = createCallId(used, "text");
  used.add(id);
  return { id, name, args };
}

function isSameCall(made: FunctionCall, written: WrittenCall): boolean {
  return made.name === written.name && JSON.stringify(made.args) === JSON.stringify(written.args);
}
