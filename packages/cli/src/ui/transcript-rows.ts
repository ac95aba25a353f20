import type { InlineData } from "@burin/core/sessions";
import { isAnswered, type ToolCall } from "@burin/core/sessions";
import { say } from "../locales/say.ts";
import type { Item, Transcript } from "../state/transcript.ts";
import { measureWidth } from "../terminal/cell-width.ts";
import type { Row } from "../terminal/screen.ts";
import { cutLine, formatText, type Line, wrapLine } from "../terminal/styled-line.ts";
import { drawCall, formatDuration } from "./displays/call-lines.ts";
import { MarkdownStream } from "./markdown.ts";
import { drawReceipt } from "./receipt-lines.ts";
import { renderRow, type Theme } from "./theme.ts";

export const BLANK_ROW: Row = { bytes: "", width: 0 };
/** The maximum number of rows of a prompt. The user can find the rest of a longer one in the scrollback. */
const MAX_PROMPT_ROWS = 12;
const MAX_CALL_ROWS = 12;
/** The maximum number of rows of a thought that is being written, of which the end is shown. */
const MAX_THOUGHT_ROWS = 3;
const MAX_THOUGHT_CHARACTERS = 2000;
/** If a reply has begun but nothing has arrived for this long, the screen says so. */
const SILENT_MS = 10_000;
const MAX_IMAGES = 4;
/** The last entries of a resumed session whose images are shown; earlier images are only mentioned. */
const ITEMS_WITH_IMAGES = 50;

export interface Frame {
  readonly width: number;
  readonly theme: Theme;
  readonly now: number;
  /** Draws an image as rows, if the terminal can show images. */
  readonly draw: (image: InlineData) => readonly Row[];
}

/** Converts a transcript to rows: final ones, each returned once, and the rows of what is still in progress. */
export class TranscriptRows {
  /** Draws the text that is being written. */
  #stream: MarkdownStream | null = null;
  /** The entry whose rows were the last final ones. */
  #last: Item | null = null;

  /** Takes the final entries out of the transcript and returns their rows. */
  takeFinal({ items }: Transcript, frame: Frame): Row[] {
    const rows: Row[] = [];
    let taken = 0;
    for (const item of items) {
      const lines = this.#drawFinalLines(item, frame);
      rows.push(...buildRows(item, lines, { last: this.#last, theme: frame.theme }));
      if (lines.length > 0) this.#last = item;
      if (!isFinal(item)) break;
      const images = items.length - taken > ITEMS_WITH_IMAGES ? [] : listImages(item).slice(0, MAX_IMAGES);
      for (const image of images) rows.push(...frame.draw(image));
      taken += 1;
    }
    items.splice(0, taken);
    return rows;
  }

  /** Returns the rows that may still change. */
  drawLive({ items }: Transcript, frame: Frame): Row[] {
    let last = this.#last;
    return items.flatMap((item) => {
      const lines =
        item.kind === "text"
          ? (this.#stream ?? createStream(frame)).drawTail(item.text.slice(-20_000), frame.width)
          : drawItem(item, frame);
      const rows = buildRows(item, lines, { last, theme: frame.theme });
      if (lines.length > 0) last = item;
      return rows;
    });
  }

  #drawFinalLines(item: Item, frame: Frame): readonly Line[] {
    if (item.kind !== "text") return isFinal(item) ? drawItem(item, frame) : [];
    this.#stream ??= createStream(frame);
    const text = item.isWhole ? item.text.trimEnd() : item.text;
    const { rows, rest } = this.#stream.drawFinal(text, item.isWhole, frame.width);
    item.text = rest;
    if (item.isWhole) this.#stream = null;
    return rows;
  }
}

/** Says who the user waits for, while nothing else on the screen changes; null while a call or question is open. */
export function drawWaiting(transcript: Transcript, { width, now }: Frame): Line | null {
  const { items, heardAt, model, retryAt } = transcript;
  if (retryAt > now) {
    const time = formatDuration(retryAt - now + 999);
    return drawFacts(say("wait.retry", { time }), width);
  }
  const last = items.at(-1);
  const isOpen = items.some((item) => item.kind === "call" && !isAnswered(item.call));
  const isWriting = (last?.kind === "text" || last?.kind === "thought") && !last.isWhole;
  const silence = now - heardAt;
  if (isOpen || heardAt === 0 || (isWriting && silence < SILENT_MS)) return null;
  const words = say(isWriting ? "wait.silent" : "wait.model", {
    model: formatText(model),
    time: formatDuration(silence),
  });
  return drawFacts(words, width);
}

/** Leaves out the last facts, which dots separate, where they do not fit. */
function drawFacts(text: string, width: number): Line {
  const facts = text.split(" · ");
  while (facts.length > 1 && measureWidth(facts.join(" · ")) > width) facts.pop();
  return cutLine([{ text: facts.join(" · "), style: "dim" }], width);
}

function createStream({ theme }: Frame): MarkdownStream {
  return new MarkdownStream(Object.keys(theme).length === 0);
}

function isFinal(item: Item): boolean {
  if (item.kind === "call") return isAnswered(item.call);
  if (item.kind === "lines") return !item.isOpen;
  return item.kind === "text" || item.kind === "thought" ? item.isWhole : true;
}

/** Paints an entry's lines. An empty row separates it from the last entry, unless both are calls or notices. */
function buildRows(
  item: Item,
  lines: readonly Line[],
  { last, theme }: { last: Item | null; theme: Theme },
): Row[] {
  const isNext = lines.length > 0 && last !== null && last !== item;
  const isAlike = last?.kind === item.kind && (item.kind === "call" || item.kind === "notice");
  return [...(isNext && !isAlike ? [BLANK_ROW] : []), ...lines.map((line) => renderRow(line, theme))];
}

function drawItem(item: Item, { width, now }: Frame): Line[] {
  switch (item.kind) {
    case "user":
      return drawPrompt(item.text, width);
    case "text":
      return [];
    case "thought": {
      const words = say("thought.line", { time: formatDuration(now - item.since) });
      if (item.isWhole) return [];
      const shown = item.text
        .slice(-MAX_THOUGHT_CHARACTERS)
        .trim()
        .split("\n")
        .flatMap((text) => wrapLine([{ text: formatText(text), style: "dim" }], Math.max(width - 2, 1)))
        .slice(-MAX_THOUGHT_ROWS);
      return [
        cutLine([{ text: words, style: "dim" }], width),
        ...shown.map((line) => [{ text: "  " }, ...line]),
      ];
    }
    case "call": {
      const { since, milliseconds } = item;
      const call = item.isLeft ? closeCall(item.call) : item.call;
      const time = isAnswered(call) ? milliseconds : call.status === "executing" ? now - since : 0;
      const lines = drawCall(call, { width, milliseconds: time });
      return isAnswered(call) ? lines : lines.slice(0, MAX_CALL_ROWS);
    }
    case "lines":
      return item.draw(width, item.isOpen).flatMap((line) => wrapLine(line, width));
    case "receipt":
      return drawReceipt(item.receipt, width);
    case "notice":
      return item.text
        .split("\n")
        .flatMap((text) => wrapLine([{ text: formatText(text), style: item.isBad ? "bad" : "dim" }], width));
  }
}

/** Returns the images in a prompt or a result. */
function listImages(item: Item): readonly InlineData[] {
  if (item.kind === "user") return item.media;
  if (item.kind !== "call" || item.call.status !== "success") return [];
  return [item.call.llmContent]
    .flat()
    .flatMap((part) => (typeof part === "string" || !part.inlineData ? [] : [part.inlineData]));
}

/** Marks a call as cancelled because its session ended while it was running. */
function closeCall(call: ToolCall): ToolCall {
  const error = { type: "cancelled", message: say("call.left") };
  return { ...call, status: "cancelled", llmContent: "", returnDisplay: "", error } as ToolCall;
}

function drawPrompt(text: string, width: number): Line[] {
  const room = Math.max(width - 2, 1);
  const lines = text
    .split("\n")
    .flatMap((line) => wrapLine([{ text: formatText(line), style: "user" }], room));
  const shown = lines.slice(0, MAX_PROMPT_ROWS);
  if (lines.length > shown.length)
    shown.push([{ text: say("prompt.more", { count: lines.length - shown.length }), style: "dim" }]);
  return shown.map((line, index) => [{ text: index === 0 ? "> " : "  ", style: "accent" }, ...line]);
}
