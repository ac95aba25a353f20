import type { IncomingHttpHeaders } from "node:http";
import { inTime } from "@burin/contract/async/wait";
import { innermost, tlsFault } from "@burin/net/connection-fault";
import { type HttpRequest, httpRequest, SilenceWatch } from "@burin/net/http-request";
import { type Body, readBody } from "@burin/net/read-body";
import { WebError } from "@burin/net/web-error";

export interface ExchangeLimits {
  readonly totalMs: number;
  /** How long the server may send nothing. */
  readonly silenceMs: number;
  /** Of the decompressed content; the rest is left out. */
  readonly mostBytes: number;
}

export interface Exchanged extends Body {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** Who is asked, in words, and for how long. */
interface Asked {
  readonly who: string;
  readonly limits: ExchangeLimits;
}

const NO_BODY: Body = { bytes: Buffer.alloc(0), isCut: false, isBroken: false };
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function isRedirect({ status, headers }: Pick<Exchanged, "status" | "headers">): boolean {
  return REDIRECTS.has(status) && headers.location !== undefined;
}

/** Asks within the limit for all of it. Throws a WebError that names who was asked, or the signal's reason. */
export async function withinTime<T>(
  { who, limits: { totalMs } }: Asked,
  ask: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const late = () => tooSlow(who, `it did not finish within ${totalMs / 1000} s`);
  try {
    // A name lookup cannot be aborted, so it is not waited for.
    return await inTime({ milliseconds: totalMs, late }, ask, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebError) throw error;
    const { code, message } = innermost(error);
    const reason =
      tlsFault({ code, message }, "the server") ?? message.replace(/[\p{Cc}\s]+/gu, " ").slice(0, 300);
    const suffix = code === "" ? "" : ` (${code})`;
    throw new WebError("unreachable", `${who} could not be reached: ${reason}${suffix}.`);
  }
}

/** One request and the content of its response; a redirect has none. */
export async function exchange(
  request: HttpRequest,
  { who, limits }: Asked,
  signal: AbortSignal,
): Promise<Exchanged> {
  const connection = new AbortController();
  const watch = new SilenceWatch(limits.silenceMs, connection);
  try {
    const answer = await httpRequest(request, AbortSignal.any([signal, connection.signal]));
    const { status, headers } = answer;
    if (isRedirect(answer)) return { status, headers, ...NO_BODY };
    const encoding = headers["content-encoding"] ?? "";
    const content = await readBody(watch.listen(answer.body), encoding, limits.mostBytes).catch((error) => {
      // Servers name a compression also for pages of errors, which have none.
      if (status < 400 || !(error instanceof WebError)) throw error;
      return NO_BODY;
    });
    return { status, headers, ...content };
  } catch (error) {
    throw watch.isOver ? tooSlow(who, `it sent nothing for ${limits.silenceMs / 1000} s`) : error;
  } finally {
    watch.stop();
    connection.abort();
  }
}

function tooSlow(who: string, what: string): WebError {
  return new WebError("timeout", `${who} timed out: ${what}.`);
}
