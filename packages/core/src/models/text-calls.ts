import type { FunctionCall } from "../messages/function-call.ts";
import { MARKERS, readWrittenCalls, type WrittenCall } from "./text-call-forms.ts";
import { freshCallId } from "./tool-call-assembly.ts";

/** Enough of a line to see whether it opens or closes a code block. */
const LINE_START = 200;

/** What came after the first written call waits for the end, when it is known what becomes of the call. */
type Held = { readonly text: string } | { readonly calls: readonly WrittenCall[]; readonly text: string };

/**
 * Finds the calls that a model writes into its text because its server does not know how to read them. Only
 * what names an offered tool and stands outside code is taken out; everything else stays text, in order and
 * once.
 */
export class TextCalls {
  readonly #offered: ReadonlySet<string>;
  #pending = "";
  /** The start of what of the current line has been let through; lines may be very long. */
  #line = "";
  #isInCode = false;
  /** The backticks or tildes that opened the code block that we are in. */
  #fence = "";
  #held: Held[] = [];
  /** A candidate is looked at again only when it has grown a good deal; that keeps long ones cheap. */
  #lookAgainAt = 0;

  constructor(offered: ReadonlySet<string>) {
    this.#offered = offered;
  }

  /** Takes a piece of text and gives what can be shown already. */
  add(piece: string): string {
    if (this.#offered.size === 0) return piece;
    this.#pending += piece;
    return this.#pending.length < this.#lookAgainAt ? "" : this.#scan(false);
  }

  /**
   * The rest of the text and the calls in it. A reply that makes calls in the proper way too is taken at its
   * word: a written call that is among them is the same one, another one was only talk.
   */
  finish(
    made: readonly FunctionCall[],
    isWhole: boolean,
    takenIds: ReadonlySet<string>,
  ): { readonly text: string; readonly calls: readonly FunctionCall[] } {
    let text = this.#scan(isWhole);
    // What could not be decided stands behind what is held.
    if (this.#held.length > 0) this.#held.push({ text: this.#pending });
    else text += this.#pending;
    this.#pending = "";
    const used = new Set([...takenIds, ...made.map((call) => call.id)]);
    const calls: FunctionCall[] = [];
    for (const item of this.#held) {
      if (!("calls" in item)) text += item.text;
      else if (made.length === 0) calls.push(...item.calls.map((call) => withId(call, used)));
      else if (!item.calls.every((call) => made.some((one) => isSame(one, call)))) text += item.text;
    }
    const isOnlySpace = calls.length > 0 && text.trim() === "";
    return { text: isOnlySpace ? "" : text, calls };
  }

  #scan(isWhole: boolean): string {
    let shown = "";
    for (let step = this.#next(isWhole); step !== undefined; step = this.#next(isWhole)) shown += step;
    return shown;
  }

  /** Lets through or takes out what stands first; undefined when more has to come before it can be decided. */
  #next(isWhole: boolean): string | undefined {
    if (this.#pending === "") return undefined;
    const newline = this.#pending.indexOf("\n");
    const end = newline === -1 ? this.#pending.length : newline + 1;
    const line = this.#line + this.#pending.slice(0, end);
    if (this.#fence !== "" || /^\s*(?:```|~~~)/.test(line)) return this.#pass(end);
    const start = this.#candidateIn(end);
    if (start === undefined) {
      const kept = newline === -1 && !isWhole ? partOfMarker(this.#pending) : 0;
      return end > kept ? this.#pass(end - kept) : undefined;
    }
    if (start > 0) return this.#pass(start);
    const read = readWrittenCalls(this.#pending, isWhole);
    if (read === "unfinished") {
      this.#lookAgainAt = this.#pending.length * 1.25;
      return isWhole ? this.#pass(1) : undefined;
    }
    this.#lookAgainAt = 0;
    if (!read?.calls.every(({ name }) => this.#offered.has(name))) return this.#pass(1);
    this.#held.push({ calls: read.calls, text: this.#pending.slice(0, read.length) });
    this.#pending = this.#pending.slice(read.length);
    return "";
  }

  /** Where in the rest of the line a call may begin. */
  #candidateIn(end: number): number | undefined {
    const rest = this.#pending.slice(0, end);
    const blank = rest.length - rest.trimStart().length;
    if (this.#line.trim() === "" && (rest[blank] === "{" || rest[blank] === "[")) return blank;
    let isInCode = this.#isInCode;
    for (let at = 0; at < rest.length; at += 1) {
      if (rest[at] === "`") isInCode = !isInCode;
      else if (!isInCode && MARKERS.some((marker) => rest.startsWith(marker, at))) return at;
    }
    return undefined;
  }

  #pass(length: number): string {
    const text = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    if (this.#line.length < LINE_START) this.#line += text.slice(0, LINE_START);
    if ((text.split("`").length - 1) % 2 === 1) this.#isInCode = !this.#isInCode;
    if (text.endsWith("\n")) {
      this.#fence = fenceAfter(this.#fence, this.#line);
      this.#line = "";
      this.#isInCode = false;
    }
    if (this.#held.length === 0) return text;
    this.#held.push({ text });
    return "";
  }
}

/** The fence that is open behind the line. */
function fenceAfter(open: string, line: string): string {
  const [, marks = "", rest = ""] = /^\s*(`{3,}|~{3,})(.*)/.exec(line) ?? [];
  if (open === "") return marks.startsWith("`") && rest.includes("`") ? "" : marks;
  return marks.startsWith(open) && rest.trim() === "" ? "" : open;
}

/** How many characters at the end may be the beginning of a marker. */
function partOfMarker(text: string): number {
  for (let length = Math.min(text.length, 16); length > 0; length -= 1) {
    if (MARKERS.some((marker) => marker.startsWith(text.slice(-length)))) return length;
  }
  return 0;
}

function withId({ name, args }: WrittenCall, used: Set<string>): FunctionCall {
  const id = freshCallId(used);
  used.add(id);
  return { id, name, args };
}

function isSame(made: FunctionCall, written: WrittenCall): boolean {
  return made.name === written.name && JSON.stringify(made.args) === JSON.stringify(written.args);
}
