import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { createParser, type EventSourceMessage } from "eventsource-parser";

/** The limit for buffered text: a server that never ends a line or an event must not fill the memory. */
const MAX_BUFFERED_CHARACTERS = 16 * 1024 * 1024;

/** Matches a line with a complete document that no empty line follows. */
const BARE_LINE = /^data: ?(\{.*\})\r?\n(?!\r?\n)/gm;

/**
 * Yields the data of each server-sent event of a body, in order, also of a last event without an empty line after it. A
 * body that is plainly something else (JSON or a web page, from a server that ignores `stream`) is returned whole, as
 * one string.
 */
export class EventSplitter {
  readonly #decoder = new TextDecoder();
  #kind: "unknown" | "events" | "whole" | "lines" = "unknown";
  /** The text that was not passed on yet: a whole body without events, or the unfinished line. */
  #rest = "";
  #ready: string[] = [];
  #isBroken = false;
  #hasEvents = false;
  #hasFirstLine = false;
  readonly #parser = createParser({
    maxBufferSize: MAX_BUFFERED_CHARACTERS,
    onEvent: (event) => {
      this.#hasEvents = true;
      this.#ready.push(addEventType(event));
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") this.#isBroken = true;
      // Some servers report a failure in a field `error: {...}`, which the standard would drop. Pass it on as an
      // object, like other errors.
      else if (error.field === "error" && error.value) this.#ready.push(`{"error":${error.value}}`);
      // Also pass on a failure in plain words, or one from a server in between as JSON or a web page.
      else if (!this.#hasEvents || detectBodyKind(error.line ?? "") === "whole")
        this.#ready.push(error.line ?? "");
    },
  });

  /** Returns the events that this piece completes. */
  read(piece: Uint8Array): string[] {
    this.#add(this.#decoder.decode(piece, { stream: true }));
    return this.#takeReady();
  }

  /** Returns the rest: a body may end without the empty line that closes its last event. */
  end(): string[] {
    this.#add(this.#decoder.decode());
    if (this.#kind === "whole") this.#ready.push(this.#rest);
    else this.#takeLines("\n\n");
    return this.#takeReady();
  }

  #add(text: string): void {
    if (this.#kind === "unknown") this.#kind = detectBodyKind(text);
    if (this.#kind === "whole") this.#addText(text);
    else if (this.#kind !== "unknown") this.#takeLines(text);
    if (this.#isBroken || this.#rest.length > MAX_BUFFERED_CHARACTERS) {
      throw new Error(`The answer has more than ${MAX_BUFFERED_CHARACTERS} characters without an end`);
    }
  }

  #takeReady(): string[] {
    const taken = this.#ready;
    this.#ready = [];
    return taken;
  }

  /** Reads complete lines. Without an empty line between events, a line with a complete document counts as one. */
  #takeLines(text: string): void {
    this.#rest += text;
    if (!/[\n\r]/.test(text)) return;
    const end = Math.max(this.#rest.lastIndexOf("\n"), this.#rest.lastIndexOf("\r")) + 1;
    const lines = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end);
    const endLine = (line: string, json: string) => (parseJson(json) === undefined ? line : `${line}\n`);
    if (this.#kind === "events") this.#parser.feed(lines.replace(BARE_LINE, endLine));
    else this.#ready.push(...lines.split("\n").filter((line) => line.trim() !== ""));
  }

  #addText(text: string): void {
    this.#rest += text;
    if (this.#hasFirstLine || !text.includes("\n")) return;
    const [first = "", second] = this.#rest.trimStart().split("\n", 2);
    this.#hasFirstLine = second !== undefined;
    // The first line of a document with several lines is not complete by itself.
    if (!first.startsWith("{") || parseJson(first) === undefined) return;
    this.#kind = "lines";
    const read = this.#rest;
    this.#rest = "";
    this.#takeLines(read);
  }
}

/** Adds an event's type to its data, because some services send it only outside the data. */
function addEventType({ event = "", data }: EventSourceMessage): string {
  if (data.startsWith('{"type"') || !/^(?:response\.|message_|content_block_)/.test(event)) return data;
  const body = parseJson(data);
  return isRecord(body) && body.type === undefined ? JSON.stringify({ type: event, ...body }) : data;
}

/** Guesses a body's kind: JSON and web pages always start with one of these characters, event streams never. */
function detectBodyKind(text: string): "unknown" | "events" | "whole" {
  const start = text.trimStart();
  if (start === "") return "unknown";
  return /^[{[<]/.test(start) ? "whole" : "events";
}
