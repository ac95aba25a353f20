import { parseJson } from "@burin/contract/messages/untrusted-json";
import { createParser } from "eventsource-parser";

/** A server that never ends a line or an event must not fill the memory. */
const MOST_BUFFERED_CHARACTERS = 16 * 1024 * 1024;

/**
 * The data of each server-sent event of a body, in order, also of a last event without an empty line after it. A
 * body that is plainly something else (JSON or a web page, from a server that ignores `stream`) is returned whole,
 * as one string. Throws when the connection breaks or is aborted; leaving the loop early closes it.
 */
export async function* readServerSentEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const splitter = new BodySplitter();
  const decoder = new TextDecoder();
  for await (const piece of body) {
    splitter.add(decoder.decode(piece, { stream: true }));
    yield* splitter.take();
  }
  splitter.add(decoder.decode());
  splitter.end();
  yield* splitter.take();
}

/** If no line has ended by then, the body does not consist of lines. */
const MOST_FIRST_LINE = 1024 * 1024;

class BodySplitter {
  #kind: "unknown" | "events" | "whole" | "lines" = "unknown";
  /** Of a body without events: what has not been passed on, as a whole or the line that has not ended. */
  #rest = "";
  #ready: string[] = [];
  #isBroken = false;
  #hasEvents = false;
  readonly #parser = createParser({
    maxBufferSize: MOST_BUFFERED_CHARACTERS,
    onEvent: (event) => {
      this.#hasEvents = true;
      this.#ready.push(event.data);
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") this.#isBroken = true;
      // Some servers report a failure in a field `error: {...}`, which the standard would drop; it is passed on as an
      // object, like other errors.
      else if (error.field === "error" && error.value) this.#ready.push(`{"error":${error.value}}`);
      // A failure in words, or of something in between, as JSON or as a web page.
      else if (!this.#hasEvents || kindOf(error.line ?? "") === "whole") this.#ready.push(error.line ?? "");
    },
  });

  add(text: string): void {
    if (this.#kind === "unknown") this.#kind = kindOf(text);
    if (this.#kind === "events") this.#parser.feed(text);
    if (this.#kind === "lines") this.#readLines(text);
    if (this.#kind === "whole") this.#keep(text);
    if (this.#isBroken || this.#rest.length > MOST_BUFFERED_CHARACTERS) {
      throw new Error(`The answer has more than ${MOST_BUFFERED_CHARACTERS} characters without an end`);
    }
  }

  /** A body may end without the empty line that closes its last event. */
  end(): void {
    if (this.#kind === "events") this.#parser.feed("\n\n");
    if (this.#kind === "whole") this.#ready.push(this.#rest);
    if (this.#kind === "lines") this.#readLines("\n");
  }

  take(): string[] {
    const taken = this.#ready;
    this.#ready = [];
    return taken;
  }

  #readLines(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    this.#ready.push(...lines.filter((line) => line.trim() !== ""));
  }

  #keep(text: string): void {
    const mayBeLines = this.#rest.length < MOST_FIRST_LINE && text.includes("\n");
    this.#rest += text;
    const [first = ""] = mayBeLines ? this.#rest.trimStart().split("\n", 1) : [];
    // The first line of a document with several lines is not a complete one.
    if (!first.startsWith("{") || parseJson(first) === undefined) return;
    this.#kind = "lines";
    this.#readLines("");
  }
}

/** No field of an event stream starts with one of these, and JSON and web pages always do. */
function kindOf(text: string): "unknown" | "events" | "whole" {
  const start = text.trimStart();
  if (start === "") return "unknown";
  return /^[{[<]/.test(start) ? "whole" : "events";
}
