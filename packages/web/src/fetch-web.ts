import { isUtf8 } from "node:buffer";
import { formatHostPort, type HostGuard, resolveAllowedAddresses } from "@burin/net/guard-host";
import { loadProxyRoute } from "@burin/net/http-request";
import { WebError } from "@burin/net/web-error";
import {
  type ExchangeLimits,
  exchangeRequest,
  isRedirect,
  runWithTimeLimit,
  type WebExchange,
} from "./exchange.ts";

export interface WebLimits extends ExchangeLimits {
  readonly maxHops: number;
}

const WEB_LIMITS: WebLimits = {
  totalMs: 60_000,
  silenceMs: 20_000,
  maxBytes: 10 * 1024 * 1024,
  maxHops: 10,
};

export interface WebRequest {
  readonly url: URL;
  readonly accept: string;
  readonly guard: HostGuard;
  readonly limits?: Partial<WebLimits>;
  /** The environment, which may name a proxy. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

export interface WebResponse extends WebExchange {
  /** The URL of the content, after redirects within the host. */
  readonly url: URL;
}

const USER_AGENT = "Mozilla/5.0 (compatible; Burin)";

/**
 * Fetches a web page. Checks each address before it connects, and uses exactly the checked address. Follows redirects
 * only within the host. Throws a WebError or the signal's reason.
 */
export async function fetchWeb(request: WebRequest, signal: AbortSignal): Promise<WebResponse> {
  const limits = { ...WEB_LIMITS, ...request.limits };
  const asked = { who: formatHostPort(request.url), limits };
  return runWithTimeLimit(asked, (stop) => fetchFollowingRedirects(request, limits, stop), signal);
}

async function fetchFollowingRedirects(
  request: WebRequest,
  limits: WebLimits,
  signal: AbortSignal,
): Promise<WebResponse> {
  let { url } = request;
  // Some pages redirect to themselves until a request has the cookie that they set.
  const cookies = new Map<string, string>();
  for (let hops = 0; ; hops += 1) {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const answer = await fetchWithoutRedirects({ ...request, url, cookie }, limits, signal);
    if (!isRedirect(answer)) return answer;
    for (const set of answer.headers["set-cookie"] ?? []) {
      const [, name, value = ""] = /^([^=;]+)=([^;]*)/.exec(set) ?? [];
      if (name !== undefined) cookies.set(name, value);
    }
    const target = readRedirect(answer);
    if (hops === limits.maxHops) {
      throw new WebError(
        "too_many_redirects",
        `${request.url.href} was redirected ${hops + 1} times, the last time to ${target.href}.`,
      );
    }
    assertRedirectAllowed(url, target);
    url = target;
  }
}

/** Throws for a redirect to another host or port, because the user was not asked about that. */
function assertRedirectAllowed(from: URL, to: URL): void {
  if (to.protocol !== "http:" && to.protocol !== "https:") {
    throw new WebError(
      "bad_redirect",
      `${from.href} redirects to a ${to.protocol} URL, which is neither http nor https.`,
    );
  }
  const isUpgrade =
    from.protocol === "http:" && to.protocol === "https:" && from.port === "" && to.port === "";
  if (from.hostname === to.hostname && (formatHostPort(from) === formatHostPort(to) || isUpgrade)) return;
  throw new WebError(
    "redirected",
    `${from.href} redirects to another host, which was not fetched. If that is wanted, fetch this URL: ${to.href}`,
  );
}

/** Sends one request to the checked addresses. A proxy looks the host up again by itself. */
async function fetchWithoutRedirects(
  request: WebRequest & { readonly cookie: string },
  limits: WebLimits,
  signal: AbortSignal,
): Promise<WebResponse> {
  const { url, accept, guard, environment, cookie } = request;
  const isProxied = Object.keys(await loadProxyRoute(url, environment)).length > 0;
  const addresses = await resolveAllowedAddresses(url, guard, isProxied);
  const known = cookie === "" ? {} : { cookie };
  const headers = { accept, "accept-encoding": "gzip, deflate, br", "user-agent": USER_AGENT, ...known };
  const plain = { url, method: "GET" as const, headers, environment };
  const checked = isProxied ? plain : { ...plain, addresses };
  return { url, ...(await exchangeRequest(checked, { who: formatHostPort(url), limits }, signal)) };
}

function readRedirect({ url, headers }: WebResponse): URL {
  // Servers also send unescaped characters beyond ASCII, of which Node reads each byte as one character.
  const said = Buffer.from(headers.location ?? "", "latin1");
  const location = said.toString(isUtf8(said) ? "utf8" : "latin1");
  if (!URL.canParse(location, url.href)) {
    throw new WebError("bad_redirect", `${url.href} redirects to something that is not a valid URL.`);
  }
  const target = new URL(location, url.href);
  if (target.hash === "") target.hash = url.hash;
  target.username = "";
  target.password = "";
  return target;
}
