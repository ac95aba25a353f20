import type { IncomingHttpHeaders } from "node:http";
import { runWithTimeout } from "@burin/contract/async/wait";
import { describeTlsFault, findInnermostError } from "@burin/net/connection-fault";
import { type HttpRequest, SilenceWatch, sendHttpRequest } from "@burin/net/http-request";
import { type Body, readBody } from "@burin/net/read-body";
import { WebError } from "@burin/net/web-error";

export interface ExchangeLimits {
  readonly totalMs: number;
  /** How many milliseconds the server may be silent. */
  readonly silenceMs: number;
  /** The maximum number of bytes of decompressed content; the rest is left out. */
  readonly maxBytes: number;
}

export interface WebExchange extends Body {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** The name of who is asked, for messages, and the limits. */
interface ExchangeOptions {
  readonly who: string;
  readonly limits: ExchangeLimits;
}

const NO_BODY: Body = { bytes: Buffer.alloc(0), isCut: false, isBroken: false };
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

export function isRedirect({ status, headers }: Pick<WebExchange, "status" | "headers">): boolean {
  return REDIRECT_STATUSES.has(status) && headers.location !== undefined;
}

/** Runs `ask` within the total time limit. Throws a WebError that names who was asked, or the signal's reason. */
export async function runWithTimeLimit<T>(
  { who, limits: { totalMs } }: ExchangeOptions,
  ask: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const createLateError = () => createTimeoutError(who, `it did not finish within ${totalMs / 1000} s`);
  try {
    // Do not wait for a name lookup, because it cannot be aborted.
    return await runWithTimeout({ milliseconds: totalMs, late: createLateError }, ask, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebError) throw error;
    const { code, message } = findInnermostError(error);
    const reason =
      describeTlsFault({ code, message }, "the server") ??
      message.replace(/[\p{Cc}\s]+/gu, " ").slice(0, 300);
    const suffix = code === "" ? "" : ` (${code})`;
    throw new WebError("unreachable", `${who} could not be reached: ${reason}${suffix}.`);
  }
}

/** Sends one request and reads the content of its response. A redirect has no content. */
export async function exchangeRequest(
  request: HttpRequest,
  { who, limits }: ExchangeOptions,
  signal: AbortSignal,
): Promise<WebExchange> {
  const connection = new AbortController();
  const watch = new SilenceWatch(limits.silenceMs, connection);
  try {
    const answer = await sendHttpRequest(request, AbortSignal.any([signal, connection.signal]));
    const { status, headers } = answer;
    if (isRedirect(answer)) return { status, headers, ...NO_BODY };
    const encoding = headers["content-encoding"] ?? "";
    const content = await readBody(watch.watchPieces(answer.body), encoding, limits.maxBytes).catch(
      (error) => {
        // Servers also name a compression for error pages without content.
        if (status < 400 || !(error instanceof WebError)) throw error;
        return NO_BODY;
      },
    );
    return { status, headers, ...content };
  } catch (error) {
    throw watch.isOver ? createTimeoutError(who, `it sent nothing for ${limits.silenceMs / 1000} s`) : error;
  } finally {
    watch.stop();
    connection.abort();
  }
}

function createTimeoutError(who: string, what: string): WebError {
  return new WebError("timeout", `${who} timed out: ${what}.`);
}
