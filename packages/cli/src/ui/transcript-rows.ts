import type { InlineData, ToolCall } from "@burin/core";
import { say } from "../locales/say.ts";
import type { Item, Transcript } from "../state/transcript.ts";
import { isOver } from "../state/transcript.ts";
import type { Row } from "../terminal/screen.ts";
import { cutLine, type Line, shownText, wrapLine } from "../terminal/styled-line.ts";
import { callLines, duration } from "./displays/call-lines.ts";
import { MarkdownStream } from "./markdown.ts";
import { paint, type Theme } from "./theme.ts";

const BLANK: Row = { bytes: "", width: 0 };
/** Of a long prompt the beginning is enough: the user has it in the scrollback. */
const MOST_PROMPT_ROWS = 12;
const MOST_CALL_ROWS = 12;
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
  #stream: MarkdownStream | null = null;
  /** The kind of the last final rows: between different kinds there is an empty row. */
  #last: Item["kind"] | "" = "";

  /** Takes what is final out of the transcript. */
  takeFinal(transcript: Transcript, frame: Frame): Row[] {
    const rows: Row[] = [];
    let left = transcript.items.length;
    for (let item = transcript.first; item !== undefined; item = transcript.first) {
      if (!this.#takeItem(item, rows, frame)) break;
      const images = left > ITEMS_WITH_IMAGES ? [] : imagesIn(item).slice(0, MOST_IMAGES);
      for (const image of images) rows.push(...frame.draw(image));
      left -= 1;
      transcript.shift();
    }
    return rows;
  }

  /** What may still change. */
  live(transcript: Transcript, frame: Frame): Row[] {
    const rows: Row[] = [];
    let last = this.#last;
    for (const [index, item] of transcript.items.entries()) {
      const lines = this.#liveLines(item, index === 0, frame);
      if (lines.length === 0) continue;
      const isGoingOn = index === 0 && item.kind === "text" && this.#stream !== null;
      if (!isGoingOn && isApart(last, item.kind)) rows.push(BLANK);
      last = item.kind;
      for (const line of lines) rows.push(paint(line, frame.theme));
    }
    return rows;
  }

  /** Returns true when all of the item is among the rows now. */
  #takeItem(item: Item, rows: Row[], frame: Frame): boolean {
    if (item.kind === "text") return this.#takeText(item, rows, frame);
    if (item.kind === "thought" && item.isWhole) return true;
    const isFinal = item.kind === "call" ? isOver(item.call) : item.kind !== "thought";
    if (!isFinal) return false;
    this.#put(item.kind, itemLines(item, frame), { rows, frame });
    return true;
  }

  #takeText(item: Extract<Item, { kind: "text" }>, rows: Row[], frame: Frame): boolean {
    const isNew = this.#stream === null;
    this.#stream ??= new MarkdownStream(Object.keys(frame.theme).length === 0);
    const text = item.isWhole ? item.text.trimEnd() : item.text;
    const taken = this.#stream.take(text, item.isWhole, frame.width);
    item.text = taken.rest;
    if (isNew && taken.rows.length === 0 && !item.isWhole) this.#stream = null;
    else if (isNew && taken.rows.length > 0) this.#part("text", rows);
    for (const line of taken.rows) rows.push(paint(line, frame.theme));
    if (item.isWhole) this.#stream = null;
    return item.isWhole;
  }

  #put(kind: Item["kind"], lines: readonly Line[], { rows, frame }: { rows: Row[]; frame: Frame }): void {
    this.#part(kind, rows);
    for (const line of lines) rows.push(paint(line, frame.theme));
  }

  #part(kind: Item["kind"], rows: Row[]): void {
    if (isApart(this.#last, kind)) rows.push(BLANK);
    this.#last = kind;
  }

  #liveLines(item: Item, isFirst: boolean, frame: Frame): Line[] {
    if (item.kind !== "text") return itemLines(item, frame);
    const stream = isFirst && this.#stream !== null ? this.#stream : new MarkdownStream(false);
    return stream.tail(item.text.slice(-20_000), frame.width);
  }
}

function isApart(last: Item["kind"] | "", next: Item["kind"]): boolean {
  return last !== "" && !(last === "call" && next === "call") && !(last === "notice" && next === "notice");
}

function itemLines(item: Item, { width, now }: Frame): Line[] {
  switch (item.kind) {
    case "user":
      return promptLines(item.text, width);
    case "text":
      return [];
    case "thought": {
      const words = say("thought.line", { time: duration(now - item.since) });
      return item.isWhole ? [] : [cutLine([{ text: words, style: "dim" }], width)];
    }
    case "call": {
      const { since, milliseconds } = item;
      const call = item.isLeft ? leftCall(item.call) : item.call;
      const time = isOver(call) ? milliseconds : call.status === "executing" ? now - since : 0;
      const lines = callLines(call, { width, milliseconds: time });
      return isOver(call) ? lines : lines.slice(0, MOST_CALL_ROWS);
    }
    case "lines":
      return item.draw(width).flatMap((line) => wrapLine(line, width));
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
    .flatMap((line) => wrapLine([{ text: shownText(line), style: "person" }], room));
  const shown = lines.slice(0, MOST_PROMPT_ROWS);
  if (lines.length > shown.length)
    shown.push([{ text: say("prompt.more", { count: lines.length - shown.length }), style: "dim" }]);
  return shown.map((line, index) => [{ text: index === 0 ? "> " : "  ", style: "accent" }, ...line]);
}
