import type { IncomingHttpHeaders } from "node:http";
import { unlessAborted } from "@burin/contract/async/unless-aborted";
import { type HttpAnswer, httpRequest, routeTo } from "@burin/machine/http/http-request";
import { innermost } from "@burin/machine/http/innermost-error";
import { readBody } from "@burin/machine/http/read-body";
import { SilenceWatch } from "@burin/machine/http/silence-watch";
import { WebError } from "@burin/machine/http/web-error";
import { type Guard, judgedAddresses, judgeForProxy, placeOf } from "./guard-host.ts";

export interface WebLimits {
  readonly totalMs: number;
  /** How long the server may send nothing. */
  readonly silenceMs: number;
  /** Of the decompressed content; the rest is left out. */
  readonly mostBytes: number;
  readonly mostHops: number;
}

const WEB_LIMITS: WebLimits = {
  totalMs: 60_000,
  silenceMs: 20_000,
  mostBytes: 10 * 1024 * 1024,
  mostHops: 10,
};

export interface WebRequest {
  readonly url: URL;
  readonly accept: string;
  readonly guard: Guard;
  readonly limits?: Partial<WebLimits>;
  /** Where a proxy is named, instead of this process's own environment. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

export interface WebAnswer {
  /** The address of the content, after redirects within the host. */
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The content continues after what was read of it. */
  readonly isCut: boolean;
}

const USER_AGENT = "Mozilla/5.0 (compatible; Burin)";
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches one web page. Each address is checked before the connection, and exactly the checked address is used;
 * redirects are followed within the host only. Throws a WebError, or the signal's reason.
 */
export async function fetchWeb(request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
  const limits = { ...WEB_LIMITS, ...request.limits };
  const time = AbortSignal.timeout(limits.totalMs);
  const stop = AbortSignal.any([signal, time]);
  try {
    // A name lookup cannot be aborted, so it is not waited for.
    return await unlessAborted(followed(request, limits, stop), stop);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebError) throw error;
    if (time.aborted) throw tooSlow(request.url, `did not finish within ${limits.totalMs / 1000} s`);
    throw connectionError(error, request.url);
  }
}

async function followed(request: WebRequest, limits: WebLimits, signal: AbortSignal): Promise<WebAnswer> {
  let { url } = request;
  for (let hops = 0; ; hops += 1) {
    const answer = await exchanged({ ...request, url }, limits, signal);
    if (!(answer instanceof URL)) return answer;
    if (hops === limits.mostHops) {
      throw new WebError(
        "too_many_redirects",
        `${request.url.href} was redirected ${hops + 1} times, the last time to ${answer.href}.`,
      );
    }
    checkRedirect(url, answer);
    url = answer;
  }
}

/** Another host needs another question to the user, and so does another port. */
function checkRedirect(from: URL, to: URL): void {
  if (to.protocol !== "http:" && to.protocol !== "https:") {
    throw new WebError(
      "bad_redirect",
      `${from.href} redirects to a ${to.protocol} URL, which is neither http nor https.`,
    );
  }
  const isUpgrade =
    from.protocol === "http:" && to.protocol === "https:" && from.port === "" && to.port === "";
  if (from.hostname === to.hostname && (placeOf(from) === placeOf(to) || isUpgrade)) return;
  throw new WebError(
    "redirected",
    `${from.href} redirects to another host, which was not fetched. If that is wanted, fetch this URL: ${to.href}`,
  );
}

/** One request, and its content or the target of its redirect. */
async function exchanged(
  request: WebRequest,
  limits: WebLimits,
  signal: AbortSignal,
): Promise<WebAnswer | URL> {
  const { url } = request;
  const answerTo = await openWay(request);
  const connection = new AbortController();
  const watch = new SilenceWatch(limits.silenceMs, connection);
  try {
    const answer = await answerTo(AbortSignal.any([signal, connection.signal]));
    const target = redirectOf(answer, url);
    if (target !== null) return target;
    const { status, headers } = answer;
    const encoding = headers["content-encoding"] ?? "";
    return {
      url,
      status,
      headers,
      ...(await readBody(watch.listen(answer.body), encoding, limits.mostBytes)),
    };
  } catch (error) {
    if (!watch.isOver) throw error;
    throw tooSlow(url, `sent nothing for ${limits.silenceMs / 1000} s`);
  } finally {
    watch.stop();
    connection.abort();
  }
}

/** The request, ready to be sent to a checked address. */
async function openWay({
  url,
  accept,
  guard,
  environment,
}: WebRequest): Promise<(signal: AbortSignal) => Promise<HttpAnswer>> {
  const headers = { accept, "accept-encoding": "gzip, deflate, br", "user-agent": USER_AGENT };
  const plain = { url, method: "GET" as const, headers, environment };
  if (Object.keys(await routeTo(url, environment)).length > 0) {
    await judgeForProxy(url, guard);
    return (signal) => httpRequest(plain, signal);
  }
  const addresses = await judgedAddresses(url, guard);
  return (signal) => httpRequest({ ...plain, addresses }, signal);
}

function redirectOf({ status, headers }: HttpAnswer, url: URL): URL | null {
  const { location } = headers;
  if (!REDIRECTS.has(status) || location === undefined) return null;
  if (!URL.canParse(location, url.href)) {
    throw new WebError("bad_redirect", `${url.href} redirects to something that is not a valid URL.`);
  }
  const target = new URL(location, url.href);
  if (target.hash === "") target.hash = url.hash;
  target.username = "";
  target.password = "";
  return target;
}

function tooSlow(url: URL, what: string): WebError {
  return new WebError("timeout", `Timed out: ${placeOf(url)} ${what}. Nothing of ${url.href} is shown.`);
}

function connectionError(error: unknown, url: URL): WebError {
  const { code, message } = innermost(error);
  const place = placeOf(url);
  const isCertificate = /CERT|ERR_TLS|UNABLE_TO_|SELF_SIGNED/.test(code);
  const advice = isCertificate
    ? "its certificate is not trusted; add the authority that signed it with NODE_EXTRA_CA_CERTS"
    : message.replace(/[\p{Cc}\s]+/gu, " ").slice(0, 300);
  return new WebError(
    "unreachable",
    `${place} could not be reached: ${advice}${code === "" ? "" : ` (${code})`}.`,
  );
}
