import type { ModelFailure } from "@burin/contract/chat-model";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { innermost } from "@burin/machine/http/innermost-error";
import { type FailureKind, type ReadFailure, readFailure } from "./read-failure.ts";
import { hintIn, type RetryHint } from "./retry-hint.ts";
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
  const keys = ["error", "errors", "message", "msg", "detail", "error_msg", "error_description"];
  const detail = keys.map((key) => (answer[key] ? detailOf(answer[key]) : "")).find((text) => text !== "");
  // A service that passes requests on says what the one behind it said.
  const behind = isRecord(answer.metadata) ? detailOf(answer.metadata.raw) : "";
  return bounded([detail ?? "", behind].filter((text) => text !== "").join(": "));
}

export function looksLikeHtml(text: string): boolean {
  return /^\s*<(?:!doctype|!--|\?xml|\/?[a-z][a-z0-9-]*[\s/>])/i.test(text);
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
  readonly hint: RetryHint;
}

/** What a status that is no success means, and what to do about it. */
export function statusFailure(refused: RefusedRequest): ModelFailure {
  const { status, url, model, hint } = refused;
  const read = readFailure({
    status,
    answer: refused.answer,
    hasHint: hint.retryAfterMs !== undefined,
    shouldRetry: hint.shouldRetry,
  });
  const head = `${shownUrl(url)} answered HTTP ${status}${refused.detail ? `: ${refused.detail}` : ""}`;
  const message = `${ended(head)} ${adviceFor(read.kind, { ...refused, model })}`.trim();
  return { ...failureOf(read, message), status };
}

const TYPES: Readonly<Record<FailureKind, string>> = {
  limit: "rate_limited",
  quota: "quota",
  context: "context_length",
  malformed_call: "bad_reply",
  key: "unauthorized",
  permission: "forbidden",
  model: "not_found",
  no_tools: "no_tools",
  protocol: "wrong_protocol",
  request: "bad_request",
  server: "server_error",
  unfit_server: "server_error",
};

function failureOf({ kind, isPassing, tooLong }: ReadFailure, message: string): ModelFailure {
  const failure = { type: TYPES[kind], message, ...tooLong };
  return isPassing ? { ...failure, isPassing } : failure;
}

function adviceFor(kind: FailureKind, refused: RefusedRequest): string {
  const { status, model, hasKey } = refused;
  switch (kind) {
    case "key":
    case "permission":
      return adviceForKey(kind, refused);
    case "model":
      return `Either there is no model "${model}" at this service, or the base URL is wrong: it usually ends in /v1.`;
    case "context":
      return "The conversation is longer than the model's window.";
    case "limit":
      return "Too many requests or tokens in a short time: wait, or check the plan.";
    case "quota":
      return `The credit or the quota of this ${hasKey ? "key" : "account"} is used up: add credit or raise the limit at the service, or choose another model.`;
    case "malformed_call":
      return "The model wrote a call that the service could not read.";
    case "no_tools":
      return `The model "${model}" cannot call tools here, and nothing can be done without them: choose a model that can, or start its server with tool calls enabled.`;
    case "protocol":
      return `The model "${model}" speaks another protocol: set model.provider to openai-responses.`;
    case "unfit_server":
      return "The same request would fail again: look at the server's memory, or at the chat template of this model.";
    case "server":
      return status === 503 || status === 529
        ? "The service is overloaded or down: try again later."
        : "The fault is on the side of the service: try again later.";
    default:
      return "";
  }
}

function adviceForKey(kind: "key" | "permission", { status, hasKey }: RefusedRequest): string {
  if (!hasKey) return "The service wants an API key, and none is set.";
  if (kind === "permission") {
    return "The key itself is not the fault: do what the service says above (region, verification, terms, an API to enable), or choose another model.";
  }
  const rejected = status === 403 ? "The API key was rejected for this request" : "The API key was rejected";
  return `${rejected}: check that it is whole, still valid and meant for this service and model.`;
}

/** A failure that the service reports inside an answer that began as a success. */
export function reportedFailure(error: unknown): ModelFailure {
  const detail = detailOf(error) || "no reason given";
  const record = isRecord(error) ? error : {};
  const told = [record.code, record.status, record.status_code].map(Number);
  const status = told.find((code) => code >= 400 && code <= 599);
  const retryAfterMs = hintIn(JSON.stringify(error) ?? "");
  const read = readFailure({ status: status ?? 0, answer: error, hasHint: retryAfterMs !== undefined });
  const failure = failureOf(read, `The service reported an error in its reply: ${detail}`);
  return {
    ...failure,
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
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
  // A name server that is asked while the network comes up knows nobody.
  "ENOTFOUND",
]);

/** A service from which nothing came for as long as it may be silent. */
export function silenceFailure(url: URL, silenceMs: number): ModelFailure {
  const seconds = Math.round(silenceMs / 100) / 10;
  const message =
    `${shownUrl(url)} was silent for ${seconds} s, the limit: check its log, or raise ` +
    "model.timeoutSeconds in the settings.";
  return { type: "timeout", message, isPassing: true };
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
