import type { InlineData } from "@burin/core/sessions";
import { isAnswered, type ToolCall } from "@burin/core/sessions";
import { say } from "../locales/say.ts";
import type { Item, Transcript } from "../state/transcript.ts";
import type { Row } from "../terminal/screen.ts";
import { cutLine, type Line, shownText, wrapLine } from "../terminal/styled-line.ts";
import { callLines, duration } from "./displays/call-lines.ts";
import { MarkdownStream } from "./markdown.ts";
import { receiptLines } from "./receipt-lines.ts";
import { paint, type Theme } from "./theme.ts";

export const BLANK: Row = { bytes: "", width: 0 };
/** Of a long prompt the beginning is enough: the user has it in the scrollback. */
const MOST_PROMPT_ROWS = 12;
const MOST_CALL_ROWS = 12;
/** Of a thought that is being written, the end is shown. */
const MOST_THOUGHT_ROWS = 3;
const MOST_THOUGHT_CHARACTERS = 2000;
/** After this long without a word, a reply that has begun is said to stand still. */
const SILENT_MS = 10_000;
const MOST_IMAGES = 4;
/** In a long resumed session, earlier images are only mentioned. */
const ITEMS_WITH_IMAGES = 50;

export interface Frame {
  readonly width: number;
  readonly theme: Theme;
  readonly now: number;
  /** An image as rows, if the terminal can draw images. */
  readonly draw: (image: InlineData) => readonly Row[];
}

/** Turns a transcript into rows: final ones, each once, and those of what is still in progress. */
export class TranscriptRows {
  /** Draws the text that is being written. */
  #stream: MarkdownStream | null = null;
  /** The entry of the last final rows. */
  #last: Item | null = null;

  /** Takes what is final out of the transcript. */
  takeFinal({ items }: Transcript, frame: Frame): Row[] {
    const rows: Row[] = [];
    let taken = 0;
    for (const item of items) {
      const lines = this.#finalLines(item, frame);
      rows.push(...rowsOf(item, lines, { last: this.#last, theme: frame.theme }));
      if (lines.length > 0) this.#last = item;
      if (!isFinal(item)) break;
      const images = items.length - taken > ITEMS_WITH_IMAGES ? [] : imagesIn(item).slice(0, MOST_IMAGES);
      for (const image of images) rows.push(...frame.draw(image));
      taken += 1;
    }
    items.splice(0, taken);
    return rows;
  }

  /** What may still change. */
  live({ items }: Transcript, frame: Frame): Row[] {
    let last = this.#last;
    return items.flatMap((item) => {
      const lines =
        item.kind === "text"
          ? (this.#stream ?? streamFor(frame)).tail(item.text.slice(-20_000), frame.width)
          : itemLines(item, frame);
      const rows = rowsOf(item, lines, { last, theme: frame.theme });
      if (lines.length > 0) last = item;
      return rows;
    });
  }

  #finalLines(item: Item, frame: Frame): readonly Line[] {
    if (item.kind !== "text") return isFinal(item) ? itemLines(item, frame) : [];
    this.#stream ??= streamFor(frame);
    const text = item.isWhole ? item.text.trimEnd() : item.text;
    const { rows, rest } = this.#stream.take(text, item.isWhole, frame.width);
    item.text = rest;
    if (item.isWhole) this.#stream = null;
    return rows;
  }
}

/** What the user waits for, where nothing else on the screen moves; none while a call or a question is open. */
export function waitingLine({ items, heardAt, model }: Transcript, { width, now }: Frame): Line | null {
  const last = items.at(-1);
  const isOpen = items.some((item) => item.kind === "call" && !isAnswered(item.call));
  const isWriting = (last?.kind === "text" || last?.kind === "thought") && !last.isWhole;
  const silence = now - heardAt;
  if (isOpen || heardAt === 0 || (isWriting && silence < SILENT_MS)) return null;
  const words = say(isWriting ? "wait.silent" : "wait.model", {
    model: shownText(model),
    time: duration(silence),
  });
  return cutLine([{ text: words, style: "dim" }], width);
}

function streamFor({ theme }: Frame): MarkdownStream {
  return new MarkdownStream(Object.keys(theme).length === 0);
}

function isFinal(item: Item): boolean {
  if (item.kind === "call") return isAnswered(item.call);
  if (item.kind === "lines") return !item.isOpen;
  return item.kind === "text" || item.kind === "thought" ? item.isWhole : true;
}

/** The painted lines; an empty row parts them from the last ones, of another entry, unless both are calls or notices. */
function rowsOf(
  item: Item,
  lines: readonly Line[],
  { last, theme }: { last: Item | null; theme: Theme },
): Row[] {
  const isNext = lines.length > 0 && last !== null && last !== item;
  const isAlike = last?.kind === item.kind && (item.kind === "call" || item.kind === "notice");
  return [...(isNext && !isAlike ? [BLANK] : []), ...lines.map((line) => paint(line, theme))];
}

function itemLines(item: Item, { width, now }: Frame): Line[] {
  switch (item.kind) {
    case "user":
      return promptLines(item.text, width);
    case "text":
      return [];
    case "thought": {
      const words = say("thought.line", { time: duration(now - item.since) });
      if (item.isWhole) return [];
      const shown = item.text
        .slice(-MOST_THOUGHT_CHARACTERS)
        .trim()
        .split("\n")
        .flatMap((text) => wrapLine([{ text: shownText(text), style: "dim" }], Math.max(width - 2, 1)))
        .slice(-MOST_THOUGHT_ROWS);
      return [
        cutLine([{ text: words, style: "dim" }], width),
        ...shown.map((line) => [{ text: "  " }, ...line]),
      ];
    }
    case "call": {
      const { since, milliseconds } = item;
      const call = item.isLeft ? leftCall(item.call) : item.call;
      const time = isAnswered(call) ? milliseconds : call.status === "executing" ? now - since : 0;
      const lines = callLines(call, { width, milliseconds: time });
      return isAnswered(call) ? lines : lines.slice(0, MOST_CALL_ROWS);
    }
    case "lines":
      return item.draw(width, item.isOpen).flatMap((line) => wrapLine(line, width));
    case "receipt":
      return receiptLines(item.receipt, width);
    case "notice":
      return item.text
        .split("\n")
        .flatMap((text) => wrapLine([{ text: shownText(text), style: item.isBad ? "bad" : "dim" }], width));
  }
}

/** The images of a prompt or an answer. */
function imagesIn(item: Item): readonly InlineData[] {
  if (item.kind === "user") return item.media;
  if (item.kind !== "call" || item.call.status !== "success") return [];
  return [item.call.llmContent]
    .flat()
    .flatMap((part) => (typeof part === "string" || !part.inlineData ? [] : [part.inlineData]));
}

/** A call whose session ended before it. */
function leftCall(call: ToolCall): ToolCall {
  const error = { type: "cancelled", message: say("call.left") };
  return { ...call, status: "cancelled", llmContent: "", returnDisplay: "", error } as ToolCall;
}

function promptLines(text: string, width: number): Line[] {
  const room = Math.max(width - 2, 1);
  const lines = text
    .split("\n")
    .flatMap((line) => wrapLine([{ text: shownText(line), style: "user" }], room));
  const shown = lines.slice(0, MOST_PROMPT_ROWS);
  if (lines.length > shown.length)
    shown.push([{ text: say("prompt.more", { count: lines.length - shown.length }), style: "dim" }]);
  return shown.map((line, index) => [{ text: index === 0 ? "> " : "  ", style: "accent" }, ...line]);
}
