import type { ModelFailure } from "@burin/contract/chat-model";
import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { createWordSet } from "@burin/contract/text/words";
import { describeTlsFault, findInnermostError } from "@burin/net/connection-fault";
import { type FailureKind, findJson, type ReadFailure, readFailure } from "./read-failure.ts";
import { findPause, type RetryHint } from "./retry-hint.ts";
import { formatUrl } from "./shown-url.ts";

/** How much of the service's own message is shown; it may be a whole web page. */
const MAX_DETAIL_CHARACTERS = 500;

const DETAIL_KEYS = createWordSet(
  "error errors choices message Message msg detail error_msg status_msg error_description error_message errorMessage description reason faultstring title",
);

/** Keys that are read separately. */
const READ_KEYS: ReadonlySet<string> = new Set([...DETAIL_KEYS, "metadata", "param"]);
/** The deepest nesting at which a service's message is expected. */
const MAX_LEVELS = 30;

/** Returns the service's own account of a failure on one line, cut to a limit; "" if there is none. */
export function readDetail(answer: unknown, levels = MAX_LEVELS): string {
  if (levels === 0) return "";
  const readInner = (value: unknown) => readDetail(value, levels - 1);
  if (typeof answer === "string") return readTextDetail(answer, readInner);
  if (Array.isArray(answer)) return readInner(answer[0]);
  return isRecord(answer) ? readRecordDetail(answer, readInner) : "";
}

function readTextDetail(answer: string, inner: (value: unknown) => string): string {
  const parsed = parseJson(answer);
  if (typeof parsed === "object") return inner(parsed);
  const within = findJson(answer);
  const told = within ? inner(within.value) : "";
  if (within && told !== "")
    return shortenLine(answer.slice(0, within.start) + told + answer.slice(within.end));
  return isHtml(answer) ? "" : shortenLine(answer);
}

function readRecordDetail(answer: JsonRecord, inner: (value: unknown) => string): string {
  const said = [...DETAIL_KEYS].flatMap((key) => answer[key] || []);
  // If no key is known, the message may be nested in an object of the service's own.
  const wrapped = Object.entries(answer).flatMap(([key, value]) =>
    (isRecord(value) || (typeof value === "string" && /\s/.test(value))) && !READ_KEYS.has(key)
      ? [value]
      : [],
  );
  const details = [...said, ...wrapped].map(inner).filter((text) => text !== "");
  // Prefer a sentence to a single word.
  const detail = details.find((text) => /\s/.test(text)) ?? details[0];
  const place = [answer.loc, answer.path].find(Array.isArray)?.join(".") ?? "";
  // Some services put the problem where the field's name should be.
  const field = typeof answer.param === "string" && answer.param.includes(" ") ? answer.param : "";
  // Some services give a failure only a name.
  const name = typeof answer.code === "string" && /^[a-z]\w+$/i.test(answer.code) ? answer.code : "";
  // A gateway also quotes the service behind it.
  const behind = isRecord(answer.metadata) ? inner(answer.metadata.raw) : "";
  return shortenLine([place, detail ?? name, field, behind].filter((text) => text !== "").join(": "));
}

export function isHtml(text: string): boolean {
  return /^\s*<(?:!doctype|!--|\?xml|\/?[a-z][a-z0-9-]*[\s/>])/i.test(text);
}

/** Returns one printable line: a server's message must not move the cursor of the terminal that shows it. */
export function shortenLine(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > MAX_DETAIL_CHARACTERS ? `${line.slice(0, MAX_DETAIL_CHARACTERS)} ...` : line;
}

interface RefusedRequest {
  readonly status: number;
  readonly detail: string;
  /** The whole response; its codes are more precise than its words. */
  readonly answer: string;
  readonly url: URL;
  readonly model: string;
  /** The variable that contains the key; "" if the key comes from elsewhere, undefined if there is none. */
  readonly keyFrom: string | undefined;
  readonly hint: RetryHint;
}

export function createStatusFailure(refused: RefusedRequest): ModelFailure {
  const { status, url, hint } = refused;
  const read = readFailure({
    status,
    // The words on a web page are not the service's own.
    answer: isHtml(refused.answer) ? "" : refused.answer,
    retryAfterMs: hint.retryAfterMs,
    shouldRetry: hint.shouldRetry,
  });
  const head = `${formatUrl(url)} answered HTTP ${status}${refused.detail ? `: ${refused.detail}` : ""}`;
  const message = `${endSentence(head)} ${findAdvice(read.kind, refused)}`.trim();
  return createFailure(read, message, { status, retryAfterMs: hint.retryAfterMs });
}

/** For each kind: the type for programs, and advice for the user. `MODEL` stands for the model's name. */
const KINDS: Readonly<Record<FailureKind, readonly [type: string, advice: string]>> = {
  limit: ["rate_limited", "Too many requests or tokens in a short time: wait, or check the plan."],
  quota: [
    "quota",
    "The credit or the quota of this account is used up: add credit or raise the limit at the service, or choose another model.",
  ],
  context: ["context_length", "The conversation is longer than the model's window."],
  malformed_call: ["bad_reply", "The model wrote a call that the service could not read."],
  key: [
    "unauthorized",
    "The API key was rejected: check that it is whole, still valid and meant for this service and model.",
  ],
  refused: [
    "unauthorized",
    "Either the API key was rejected, or something stands in the way: check the key, what it may be used for, and whether a proxy or firewall has answered.",
  ],
  permission: [
    "forbidden",
    "The key itself is not the fault: do what the service says above (region, verification, terms, an API to enable), or choose another model.",
  ],
  account: [
    "forbidden",
    "The account is locked, suspended or not active, with whatever key: see what the service says above, or ask its support.",
  ],
  model: [
    "not_found",
    'There is no model "MODEL" at this service for this key: burin models --online lists those that there are.',
  ],
  path: [
    "not_found",
    'Nothing is found under this address: check the base URL, which usually ends in /v1, and the name of the model ("MODEL").',
  ],
  channel: [
    "not_found",
    'This gateway has nobody behind it with the model "MODEL": check its name, and the group of the key.',
  ],
  no_tools: [
    "no_tools",
    'The model "MODEL" cannot call tools here, and nothing can be done without them: choose a model that can, or start its server with tool calls enabled.',
  ],
  protocol: [
    "wrong_protocol",
    'The model "MODEL" speaks another protocol: set model.provider to openai-responses.',
  ],
  filtered: [
    "filtered",
    "The service's content filter refused the conversation: say it in other words, take out what it may object to, or choose another model.",
  ],
  request: [
    "bad_request",
    "The same request would be refused again: change what the service names above, or choose another model.",
  ],
  server: ["server_error", "The fault is on the side of the service: try again later."],
  lost_model: [
    "server_error",
    "The model cannot be run there at the moment: if the server is your own, look at its log and its memory.",
  ],
  unfit_server: [
    "server_error",
    "The same request would fail again: look at the server's memory, or at the chat template of this model.",
  ],
};

type Known = Readonly<Record<"status" | "retryAfterMs", number | undefined>>;

function createFailure(
  { kind, isPassing, tooLong }: ReadFailure,
  message: string,
  known: Known,
): ModelFailure {
  const said = Object.entries(known).filter(([, value]) => value !== undefined);
  const failure = { type: KINDS[kind][0], message, ...tooLong, ...Object.fromEntries(said) };
  return isPassing ? { ...failure, isPassing } : failure;
}

function findAdvice(kind: FailureKind, refused: RefusedRequest): string {
  const { status, answer, model, keyFrom } = refused;
  if (keyFrom === undefined && ["key", "permission", "refused"].includes(kind)) {
    return "The service requires an API key, and none is set.";
  }
  const isFull = /overload|(?:no|maximum|tier) capacity/i.test(answer);
  if ((kind === "server" && (status === 503 || status === 529)) || (kind === "limit" && isFull)) {
    return "The service is overloaded or down: try again later.";
  }
  const place = keyFrom ? ` in ${keyFrom}` : "";
  return KINDS[kind][1].replace("MODEL", () => model).replace(" was rejected", () => `${place} was rejected`);
}

/** Describes a failure that the service reports inside a response that began as a success. */
export function createReportedFailure(error: unknown): ModelFailure {
  const detail = readDetail(error) || "no reason given";
  const record = isRecord(error) ? error : {};
  const told = [record.code, record.status, record.status_code, record.http_code].map(Number);
  const status = told.find((code) => code >= 400 && code <= 599);
  const retryAfterMs = findPause(JSON.stringify(error) ?? "");
  const read = readFailure({ status: status ?? 0, answer: error, retryAfterMs });
  const head = `The service reported an error in its reply: ${detail}`;
  // Leave out the model: the response does not name it.
  const advice = read.isPassing ? "" : KINDS[read.kind][1].replace(/ \(?"MODEL"\)?/, "");
  return createFailure(read, advice === "" ? head : `${endSentence(head)} ${advice}`, {
    status,
    retryAfterMs,
  });
}

/** Describes a network error. Names the host and port, and says what to check. */
export function createConnectionFailure(error: unknown, url: URL): ModelFailure {
  const { code, message } = findInnermostError(error);
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const place = `${url.hostname}:${port}`;
  const known = CODES.find(([codes]) => codes.test(code))?.[1].replace("PLACE", place);
  const fault = describeTlsFault({ code, message }, place);
  const secure = fault && endSentence(`No secure connection: ${fault}`);
  const advice = known ?? secure ?? endSentence(`The request to ${place} failed: ${shortenLine(message)}`);
  const failure = { type: "unreachable", message: code === "" ? advice : `${advice} (${code})` };
  return PASSING_CODES.test(code) ? { ...failure, isPassing: true } : failure;
}

const PASSING_CODES = /^E(?:CONN\w+|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|TIMEDOUT|PIPE)$/;
/** What network error codes mean, and what to do. `PLACE` stands for the host and port. */
const CODES: readonly (readonly [codes: RegExp, advice: string])[] = [
  [
    /^ECONNREFUSED$/,
    "Nothing answers at PLACE: is the model server started, and are host and port of the base URL right?",
  ],
  // A name server may not find any host while the network is still coming up.
  [/^ENOTFOUND$/, "The host of PLACE is not known: check the base URL for a typing error, and the network."],
  [
    /^EAI_AGAIN$/,
    "The host of PLACE could not be looked up: check that this machine is online, and the base URL.",
  ],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/,
    "PLACE cannot be reached: check the network, a proxy or firewall in between, and the base URL.",
  ],
  [
    /^(?:ECONNRESET|EPIPE)$/,
    "PLACE closed the connection before its reply was complete: check the log of the server, and that the base URL has the right scheme (http or https).",
  ],
  [/^HPE_/, "PLACE does not speak HTTP: check the port, and whether the base URL must start with https://."],
];

export function createSilenceFailure(url: URL, silenceMs: number): ModelFailure {
  const seconds = Math.round(silenceMs / 100) / 10;
  const message =
    `${formatUrl(url)} was silent for ${seconds} s, the limit: check its log, or raise ` +
    "model.timeoutSeconds in the settings.";
  return { type: "timeout", message, isPassing: true };
}

function endSentence(sentence: string): string {
  return /[.!?。！？]$/.test(sentence) ? sentence : `${sentence}.`;
}
