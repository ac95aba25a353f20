import type { IncomingHttpHeaders } from "node:http";
import { isRecord, parseJson } from "../messages/untrusted-json.ts";
import { innermost } from "../network/innermost-error.ts";
import type { ModelFailure } from "./chat-model.ts";
import { tooLongIn } from "./context-length.ts";
import { shownUrl } from "./shown-url.ts";

/** What of a service's own words is shown; they may be a whole web page. */
const MOST_DETAIL_CHARACTERS = 500;

/** The service's own account of a failure, on one line and bounded; empty when it gave none. */
export function detailOf(answer: unknown): string {
  if (typeof answer === "string") {
    const parsed = parseJson(answer);
    if (typeof parsed === "object") return detailOf(parsed);
    return looksLikeHtml(answer) ? "" : bounded(answer);
  }
  if (Array.isArray(answer)) return detailOf(answer[0]);
  if (!isRecord(answer)) return "";
  for (const key of ["error", "message", "msg", "detail", "error_msg"]) {
    const detail = answer[key] ? detailOf(answer[key]) : "";
    if (detail !== "") return detail;
  }
  return "";
}

export function looksLikeHtml(text: string): boolean {
  return text.trimStart().startsWith("<");
}

/** One printable line: what a server says must not move the cursor of the terminal that shows it. */
export function bounded(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > MOST_DETAIL_CHARACTERS ? `${line.slice(0, MOST_DETAIL_CHARACTERS)} ...` : line;
}

interface RefusedRequest {
  readonly status: number;
  readonly detail: string;
  /** The whole answer, whose codes say more than its words. */
  readonly answer: string;
  readonly url: URL;
  readonly model: string;
  readonly hasKey: boolean;
}

/** What a status that is no success means, and what to do about it. */
export function statusFailure(refused: RefusedRequest): ModelFailure {
  const { status, url, model } = refused;
  // Google's services answer a wrong key as a wrong argument.
  const isKeyRefused =
    status === 400 && /api.?key (not valid|invalid|expired)|invalid api.?key/i.test(refused.answer);
  const tooLong = isKeyRefused ? undefined : tooLongIn(status, refused.answer);
  const type = isKeyRefused ? "unauthorized" : tooLong ? "context_length" : failureType(status);
  const head = `${shownUrl(url)} answered HTTP ${status}${refused.detail ? `: ${refused.detail}` : ""}`;
  const message = `${ended(head)} ${adviceFor(type, { ...refused, model })}`.trim();
  if (tooLong) return { type, status, message, ...tooLong };
  return isPassing(status, refused.answer)
    ? { type, status, message, isPassing: true }
    : { type, status, message };
}

/** Whether waiting may help. An account without money is told with the same status as too many requests. */
function isPassing(status: number, answer: string): boolean {
  if (status === 429) return !/insufficient[_ ]quota|billing|credit|payment/i.test(answer);
  return status === 408 || status === 425 || (status >= 500 && status !== 501 && status !== 505);
}

function failureType(status: number): string {
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 404 || status === 405) return "not_found";
  if (status === 429) return "rate_limited";
  if (status >= 500 || status === 408) return "server_error";
  return "bad_request";
}

function adviceFor(type: string, { status, model, hasKey }: RefusedRequest): string {
  if (type === "unauthorized") {
    if (!hasKey) return "The service wants an API key, and none is set.";
    const rejected =
      status === 403 ? "The API key was rejected for this request" : "The API key was rejected";
    return `${rejected}: check that it is whole, still valid and meant for this service and model.`;
  }
  if (type === "not_found") {
    return `Either there is no model "${model}" at this service, or the base URL is wrong: it usually ends in /v1.`;
  }
  if (type === "context_length") return "The conversation is longer than the model's window.";
  if (type === "rate_limited") return "Too many requests, or the quota is used up: wait, or check the plan.";
  if (status === 503 || status === 529) return "The service is overloaded or down: try again later.";
  if (type === "server_error") return "The fault is on the side of the service: try again later.";
  return "";
}

/** A failure that the service reports inside an answer that began as a success. */
export function reportedFailure(error: unknown): ModelFailure {
  const detail = detailOf(error) || "no reason given";
  const record = isRecord(error) ? error : {};
  const status = [record.code, record.status].map(Number).find((code) => code >= 400 && code <= 599);
  const message = `The service reported an error in its reply: ${detail}`;
  const named = `${String(record.type)} ${String(record.code)} ${String(record.status)}`;
  const tooLong = tooLongIn(status ?? 400, `${named} ${detail}`);
  if (tooLong) return { type: "context_length", message, ...tooLong };
  if (status !== undefined) {
    const failure = { type: failureType(status), message, status };
    return isPassing(status, `${named} ${detail}`) ? { ...failure, isPassing: true } : failure;
  }
  const type = namedFailureType(named);
  const passes = type === "server_error" || (type === "rate_limited" && isPassing(429, `${named} ${detail}`));
  return passes ? { type, message, isPassing: true } : { type, message };
}

function namedFailureType(name: string): string {
  if (/rate.?limit|quota|too.?many|resource.?exhausted/i.test(name)) return "rate_limited";
  if (/auth|permission|api.?key/i.test(name)) return "unauthorized";
  if (/not.?found/i.test(name)) return "not_found";
  if (/invalid.?(request|argument)|bad.?request|context.?length/i.test(name)) return "bad_request";
  return "server_error";
}

/** What the network layer threw, as a failure that names the host and the port and says what to check. */
export function connectionFailure(error: unknown, url: URL): ModelFailure {
  const { code, message } = innermost(error);
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const place = `${url.hostname}:${port}`;
  const advice = adviceForCode(code, place) ?? `The request to ${place} failed: ${bounded(message)}.`;
  const failure = { type: "unreachable", message: code === "" ? advice : `${advice} (${code})` };
  return PASSING_CODES.has(code) ? { ...failure, isPassing: true } : failure;
}

const PASSING_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** A service from which nothing came for as long as it may be silent. */
export function silenceFailure(url: URL, silenceMs: number): ModelFailure {
  const seconds = Math.round(silenceMs / 100) / 10;
  const message =
    `${shownUrl(url)} was silent for ${seconds} s, the limit: check its log, or raise ` +
    "model.timeoutSeconds in the settings.";
  return { type: "timeout", message, isPassing: true };
}

/** How long the service asks to be left alone, by its headers or by the detail that Google's services give. */
export function readRetryAfter(headers: IncomingHttpHeaders, answer: string): number | undefined {
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = headers["retry-after"]?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1000;
  const moment = Date.parse(after);
  if (!Number.isNaN(moment)) return Math.max(0, moment - Date.now());
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(answer)?.[1];
  return delay === undefined ? undefined : Number(delay) * 1000;
}

function adviceForCode(code: string, place: string): string | undefined {
  switch (code) {
    case "ECONNREFUSED":
      return `Nothing answers at ${place}: is the model server started, and are host and port of the base URL right?`;
    case "ENOTFOUND":
      return `The host of ${place} is not known: check the base URL for a typing error, and the network.`;
    case "EAI_AGAIN":
      return `The host of ${place} could not be looked up: check that this machine is online, and the base URL.`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "ETIMEDOUT":
      return `${place} cannot be reached: check the network, a proxy or firewall in between, and the base URL.`;
    case "ECONNRESET":
    case "EPIPE":
      return `${place} closed the connection before its reply was complete: check the log of the server, and that the base URL has the right scheme (http or https).`;
    case "EPROTO":
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return `${place} does not speak TLS: if it is a plain server, the base URL must start with http://.`;
    default:
  }
  if (code.startsWith("HPE_")) {
    return `${place} does not speak HTTP: check the port, and whether the base URL must start with https://.`;
  }
  if (/CERT|ERR_TLS|ERR_SSL|UNABLE_TO_|SELF_SIGNED/.test(code)) {
    return `No secure connection to ${place}: its certificate is not trusted. Check the host of the base URL, or name the certificate authority in NODE_EXTRA_CA_CERTS.`;
  }
  return undefined;
}

/** The sentence with a full stop, unless it has an end already. */
function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
