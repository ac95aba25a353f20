import type { ModelEvent } from "@burin/contract/chat-model";
import { type HttpResponse, readTextStart } from "@burin/net/http-request";
import { readRetryHint } from "../failures/retry-hint.ts";
import { createStatusFailure, isHtml, readDetail, shortenLine } from "../failures/service-failure.ts";
import { formatUrl } from "../failures/shown-url.ts";
import type { ReplyReader } from "./reply-reader.ts";
import { EventSplitter } from "./sse.ts";

/** How long to wait for the connection to become reusable after the service has finished. */
const CLOSING_TIME_MS = 100;
const MAX_ERROR_BYTES = 64 * 1024;

interface AnswerOptions {
  readonly url: URL;
  readonly model: string;
  readonly keyFrom: string | undefined;
  readonly connection: AbortController;
}

/** How one request ended, with the service's full reason if it was rejected. */
export type ReplyEnding = Extract<ModelEvent, { type: "end" }> & { readonly refusal?: string };

export type AnswerEvent = Exclude<ModelEvent, { type: "end" }> | ReplyEnding;

/** The events of a response. Both throw network errors. */
export async function readAnswer(
  answer: HttpResponse,
  asked: AnswerOptions,
  reply: ReplyReader,
): Promise<AsyncIterable<AnswerEvent> | readonly ReplyEnding[]> {
  const { status, headers } = answer;
  const packed = headers["content-encoding"] ?? "identity";
  // Compression was not requested, but some gateways use it anyway.
  const body =
    packed === "identity"
      ? answer.body
      : (await import("@burin/net/read-body")).decompressBody(answer.body, packed);
  if (status < 200 || status > 299) return [await readRefusal({ status, headers, body }, asked)];
  return readBody(body, reply, asked.connection);
}

async function* readBody(
  body: HttpResponse["body"],
  reply: ReplyReader,
  connection: AbortController,
): AsyncGenerator<ModelEvent, void, undefined> {
  const splitter = new EventSplitter();
  const closing = new Closing(connection);
  try {
    for await (const piece of body) {
      for (const data of splitter.read(piece)) {
        for (const event of reply.read(data)) yield event;
        if (reply.isOver) closing.start(reply.hadMore);
      }
      if (reply.failure) break;
    }
    for (const data of splitter.end()) for (const event of reply.read(data)) yield event;
  } catch (error) {
    if (!reply.isComplete) throw error;
  } finally {
    closing.stop();
  }
  for (const event of reply.finish()) yield event;
}

/** Limits the wait for the end of a response, which is read so that the next request can reuse the connection. */
class Closing {
  readonly #connection: AbortController;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: AbortController) {
    this.#connection = connection;
  }

  start(isAgain: boolean): void {
    if (this.#timer && !isAgain) return;
    this.stop();
    this.#timer = setTimeout(() => this.#connection.abort(), CLOSING_TIME_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

async function readRefusal(
  { status, headers, body }: HttpResponse,
  asked: AnswerOptions,
): Promise<ReplyEnding> {
  const { connection: _, ...about } = asked;
  const { url } = about;
  const { location } = headers;
  // Do not follow redirects: they would send the conversation to a host that the user did not choose.
  if (status < 400 && location && URL.canParse(location, url.href)) {
    const target = formatUrl(new URL(location, url));
    const message = `${formatUrl(url)} sends on to ${target}: set the base URL to the service's real address.`;
    return { type: "end", reason: "error", error: { type: "not_found", message, status } };
  }
  // A gateway that should have streamed wraps the error into an event.
  const answer = (await readTextStart(body, MAX_ERROR_BYTES)).replace(/^(?:event:.*\n)?data:\s*/, "");
  const detail = isHtml(answer) ? describeWebPage(answer) : readDetail(answer);
  const hint = readRetryHint({ status, headers }, answer);
  const error = createStatusFailure({ ...about, status, detail, answer, hint });
  return { type: "end", reason: "error", error, refusal: answer };
}

/** Describes a web page by its title, which often says everything. */
function describeWebPage(html: string): string {
  const title = shortenLine(/<title>([^<]{1,200})/i.exec(html)?.[1] ?? "");
  return `a web page${title === "" ? "" : ` ("${title}")`}, not a model service`;
}
