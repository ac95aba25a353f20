import type { ModelEvent } from "@burin/contract/chat-model";
import { type HttpAnswer, startOfText } from "@burin/net/http-request";
import { retryHint } from "../failures/retry-hint.ts";
import { bounded, detailOf, looksLikeHtml, statusFailure } from "../failures/service-failure.ts";
import { shownUrl } from "../failures/shown-url.ts";
import type { ReplyReader } from "./reply-reader.ts";
import { readServerSentEvents } from "./sse.ts";

/** How long the connection may stay open after the service has finished, to be used again. */
const CLOSING_TIME_MS = 100;
const MOST_ERROR_BYTES = 64 * 1024;

interface Asked {
  readonly url: URL;
  readonly model: string;
  readonly keyFrom: string | undefined;
  readonly connection: AbortController;
}

/** How one request ended, with the service's full reason if it was refused. */
export type Ending = Extract<ModelEvent, { type: "end" }> & { readonly refusal?: string };

export type AnswerEvent = Exclude<ModelEvent, { type: "end" }> | Ending;

/** The events of a response. Throws network errors. */
export async function* readAnswer(
  answer: HttpAnswer,
  asked: Asked,
  reply: ReplyReader,
): AsyncGenerator<AnswerEvent, void, undefined> {
  const { status, headers } = answer;
  const packed = headers["content-encoding"] ?? "identity";
  // It was not requested to be compressed, but some gateways do it.
  const body =
    packed === "identity"
      ? answer.body
      : (await import("@burin/net/read-body")).unpacked(answer.body, packed);
  if (status < 200 || status > 299) return yield refused({ status, headers, body }, asked);
  yield* readBody(body, reply, asked.connection);
  yield* reply.finish();
}

async function* readBody(
  body: HttpAnswer["body"],
  reply: ReplyReader,
  connection: AbortController,
): AsyncGenerator<ModelEvent, void, undefined> {
  let closing: NodeJS.Timeout | undefined;
  try {
    for await (const data of readServerSentEvents(body)) {
      yield* reply.read(data);
      if (reply.failure) return;
      // Read to the end, so that the next request can use the connection; but do not wait for it.
      if (!reply.isOver || (closing && !reply.hadMore)) continue;
      clearTimeout(closing);
      closing = setTimeout(() => connection.abort(), CLOSING_TIME_MS);
    }
  } catch (error) {
    if (!reply.isComplete) throw error;
  } finally {
    clearTimeout(closing);
  }
}

async function refused({ status, headers, body }: HttpAnswer, asked: Asked): Promise<Ending> {
  const { connection: _, ...about } = asked;
  const { url } = about;
  const { location } = headers;
  // Redirects are not followed: they would send the conversation to a host that the user did not choose.
  if (status < 400 && location && URL.canParse(location, url.href)) {
    const target = shownUrl(new URL(location, url));
    const message = `${shownUrl(url)} sends on to ${target}: set the base URL to the service's real address.`;
    return { type: "end", reason: "error", error: { type: "not_found", message, status } };
  }
  // A gateway that was to stream wraps what went wrong into an event.
  const answer = (await startOfText(body, MOST_ERROR_BYTES)).replace(/^(?:event:.*\n)?data:\s*/, "");
  const detail = looksLikeHtml(answer) ? pageIn(answer) : detailOf(answer);
  const hint = retryHint({ status, headers }, answer);
  const error = statusFailure({ ...about, status, detail, answer, hint });
  return { type: "end", reason: "error", error, refusal: answer };
}

/** What stands above a page is often all that it says. */
function pageIn(html: string): string {
  const title = bounded(/<title>([^<]{1,200})/i.exec(html)?.[1] ?? "");
  return `a web page${title === "" ? "" : ` ("${title}")`}, not a model service`;
}
