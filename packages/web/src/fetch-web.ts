import { isUtf8 } from "node:buffer";
import { allowedAddresses, type Guard, placeOf } from "@burin/net/guard-host";
import { routeTo } from "@burin/net/http-request";
import { WebError } from "@burin/net/web-error";
import { type Exchanged, type ExchangeLimits, exchange, isRedirect, withinTime } from "./exchange.ts";

export interface WebLimits extends ExchangeLimits {
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

export interface WebAnswer extends Exchanged {
  /** The address of the content, after redirects within the host. */
  readonly url: URL;
}

const USER_AGENT = "Mozilla/5.0 (compatible; Burin)";

/**
 * Fetches one web page. Each address is checked before the connection, and exactly the checked address is used;
 * redirects are followed within the host only. Throws a WebError, or the signal's reason.
 */
export async function fetchWeb(request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
  const limits = { ...WEB_LIMITS, ...request.limits };
  const asked = { who: placeOf(request.url), limits };
  return withinTime(asked, (stop) => followed(request, limits, stop), signal);
}

async function followed(request: WebRequest, limits: WebLimits, signal: AbortSignal): Promise<WebAnswer> {
  let { url } = request;
  // Some pages lead to themselves until a request has the cookie that they set.
  const cookies = new Map<string, string>();
  for (let hops = 0; ; hops += 1) {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const answer = await exchanged({ ...request, url, cookie }, limits, signal);
    if (!isRedirect(answer)) return answer;
    for (const set of answer.headers["set-cookie"] ?? []) {
      const [, name, value = ""] = /^([^=;]+)=([^;]*)/.exec(set) ?? [];
      if (name !== undefined) cookies.set(name, value);
    }
    const target = redirectOf(answer);
    if (hops === limits.mostHops) {
      throw new WebError(
        "too_many_redirects",
        `${request.url.href} was redirected ${hops + 1} times, the last time to ${target.href}.`,
      );
    }
    checkRedirect(url, target);
    url = target;
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

/** One request to the checked addresses; a proxy looks the host up again by itself. */
async function exchanged(
  request: WebRequest & { readonly cookie: string },
  limits: WebLimits,
  signal: AbortSignal,
): Promise<WebAnswer> {
  const { url, accept, guard, environment, cookie } = request;
  const isProxied = Object.keys(await routeTo(url, environment)).length > 0;
  const addresses = await allowedAddresses(url, guard, isProxied);
  const known = cookie === "" ? {} : { cookie };
  const headers = { accept, "accept-encoding": "gzip, deflate, br", "user-agent": USER_AGENT, ...known };
  const plain = { url, method: "GET" as const, headers, environment };
  const checked = isProxied ? plain : { ...plain, addresses };
  return { url, ...(await exchange(checked, { who: placeOf(url), limits }, signal)) };
}

function redirectOf({ url, headers }: WebAnswer): URL {
  // Servers also send characters beyond ASCII as they are; Node reads each byte as one.
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
