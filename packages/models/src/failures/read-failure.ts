import { once } from "@burin/contract/async/once";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { createWordSet } from "@burin/contract/text/words";
import { findJsonEnd } from "../calls/call-arguments.ts";
import { readLengthRefusal, type TooLongDetails } from "./context-length.ts";
import codeRows from "./failure-codes.json" with { type: "json" };
import wordRows from "./failure-words.json" with { type: "json" };

/** Why a service rejects a request or fails. */
export type FailureKind =
  /** Too many requests or tokens in a short time. */
  | "limit"
  /** No money is left, or the plan or the day's quota is used up. */
  | "quota"
  | "context"
  /** The model wrote a call that the service could not parse. */
  | "malformed_call"
  | "key"
  /** It is unclear whether the key or something else is the reason. */
  | "refused"
  /** The key is valid, but a region, a verification or a disabled API prevents the request. */
  | "permission"
  /** The account is locked, suspended or inactive, so no key helps. */
  | "account"
  | "model"
  /** There is no API at this address. */
  | "path"
  /** A gateway has no provider for the model. */
  | "channel"
  | "no_tools"
  | "protocol"
  /** The service's filter rejects the content. */
  | "filtered"
  /** The request is wrong, so repeating it does not help. */
  | "request"
  /** A service error that is likely to pass. */
  | "server"
  /** The model is not loaded at the moment. A local server loads it with the next request. */
  | "lost_model"
  /** A service error that will occur again, such as a chat template or a lack of memory. */
  | "unfit_server";

export interface ReadFailure {
  readonly kind: FailureKind;
  readonly isPassing: boolean;
  readonly tooLong?: TooLongDetails;
}

interface RefusedAnswer {
  readonly status: number;
  /** The whole response: its text, or the value parsed from it. */
  readonly answer: unknown;
  /** The pause that the service asks for. */
  readonly retryAfterMs: number | undefined;
  readonly shouldRetry?: boolean | undefined;
}

/** Kinds that services use for nearly everything, so the message tells more. */
const VAGUE: ReadonlySet<FailureKind | undefined> = new Set([undefined, "server", "request"]);

const NOT = "(?:not |n't |un|dis)(?:be )?(?:currently )?(?:support|enabl|allow|availab|accept|implement)";
/** An error about choosing a tool, or about a tool's name, is something else. */
const TOOLS =
  "(?:tools?|functions?)(?:[ _-](?:use|usage|call(?:s|ing)?|param))?(?!\\w|[ _-]?(?:choice|names?\\b))";

/** A phrase that services use, with its source and an example that a test checks. */
interface FailureRow {
  readonly kind: string;
  /** A regular expression. `{tools}` and `{not}` stand for the patterns above. */
  readonly says: string;
  readonly flags?: string;
}

export function compilePattern({ says, flags = "i" }: FailureRow): RegExp {
  return new RegExp(says.replaceAll("{tools}", TOOLS).replaceAll("{not}", NOT), flags);
}

type Pattern = readonly [FailureKind, RegExp];

/** Matches the codes, types and reasons of any service. */
const compileCodePatterns = once(() => codeRows.map((row) => [row.kind, compilePattern(row)] as Pattern));
/** Matches a service's message. A code takes precedence. */
const compileWordPatterns = once(() => wordRows.map((row) => [row.kind, compilePattern(row)] as Pattern));
/** Counts only if the service does not say when the limit ends. */
const SPENT = /(?:per[-_ ]?|\/ ?|By)(?:day|month)|daily|monthly|\b[RT]PD\b|tomorrow/i;
/** Counts only with a status that a limit per minute would not have. */
const USED_UP =
  /\b(?:quota|allowance)\b[^.\n]{0,40}\b(?:exhausted|used up|exceeded|reached|depleted)|exceeded[^.\n]{0,40}\bquota/i;
/** Reported as a limit with a retry hint: a model that the plan does not include, or spent money. */
const NO_SHARE =
  /\blimit(?: of|:| set to) 0\b|credits are depleted|(?:extra usage|usage credits are required)/i;
/** A link that sounds like a quota, but with which a service means tokens per minute. */
const PASSING_QUOTA = /error-code#token-limit/;
const OF_KEYS = /\bkey|token|credential|authenti|header|bearer|\blog.?in\b|password/i;
/** This single request exceeds what may be sent in a minute. */
const OVER_A_LIMIT =
  /request too large|(?:requested|input) tokens?[^.\n]{0,40}exceeds?[^.\n]{0,40}\bper.min/i;

/** The only place that decides what a failure is: first by codes and types, then by words, then by the status. */
export function readFailure(told: RefusedAnswer): ReadFailure {
  const { retryAfterMs = FAR_MS, shouldRetry } = told;
  const { codes, words } = collectWords(told.answer);
  const status = resolveStatus(told.status, words);
  // If the pause is very long, the limit is one of a day or a plan.
  const hasHint = retryAfterMs < FAR_MS;
  const coded = matchFailureKind(compileCodePatterns(), codes);
  // A used-up allowance, unlike money, comes back by itself.
  const isSoonOver =
    coded === "quota" && hasHint && codes.some((code) => /usage|quota_exhausted/i.test(code));
  const named = NO_SHARE.test(words) ? "quota" : isSoonOver || PASSING_QUOTA.test(words) ? "limit" : coded;
  const tooLong = readContextOverflow({ ...told, status }, named, words);
  if (tooLong) return { kind: "context", isPassing: false, tooLong };
  const kind = named === "quota" ? "quota" : classifyFailure(status, named, { words, hasHint });
  const passes = PASSING.has(kind) && (kind !== "server" || isTemporaryStatus(status));
  const isFinal = kind === "quota" || kind === "malformed_call";
  return { kind, isPassing: isFinal ? passes : (shouldRetry ?? passes) };
}

const FAR_MS = 3_600_000;
/** How a gateway reports that the service behind it rejected the request, which would be rejected again. */
const BEHIND =
  /(?:"(?:code|status)\w*\W{1,4}|\b(?:status(?: code)?|client error|error code)\W{1,3}|": |<|\b\w+ (?=\d+: \{))(400|413|422|429|40[134](?= - |: \{))\b/i;

/** How a gateway reports, with the status of a rejected request, that the service behind it failed. */
const FAULT_BEHIND = /\[server_error\]|upstream request failed: (?:model|endpoint) is unavailable/i;

function resolveStatus(status: number, words: string): number {
  if ((status === 400 || status === 403) && FAULT_BEHIND.test(words)) return 502;
  if (status === 404 && /\b(?:item|response) with id\b/i.test(words)) return 400;
  if (status !== 424 && status < 500) return status;
  return /API_KEY is not set/.test(words) ? 401 : Number(BEHIND.exec(words)?.[1] ?? status);
}

const PASSING: ReadonlySet<FailureKind> = new Set(["limit", "lost_model", "malformed_call", "server"]);

function classifyFailure(
  status: number,
  named: FailureKind | undefined,
  { words, hasHint }: { readonly words: string; readonly hasHint: boolean },
): FailureKind {
  const said = matchFailureKind(compileWordPatterns(), [words]);
  const beats =
    said !== undefined &&
    said !== "limit" &&
    (VAGUE.has(named) || BETTER_KNOWN[said]?.includes(named ?? "server"));
  if (beats && isPlausibleKind(said, status, hasHint)) return said;
  if (status === 402 ? !hasHint : [401, 403].includes(status) && USED_UP.test(words)) return "quota";
  if (named === "account") return "account";
  if (named === "limit" || isRateLimit(status, said, hasHint))
    return !hasHint && SPENT.test(words) ? "quota" : "limit";
  if (named !== undefined && isPlausibleKind(named, status, hasHint)) return named;
  // The service refuses in its own words, and not because of the key.
  if (status === 403 && /(?:\w+\W+){4}\w/.test(words) && !OF_KEYS.test(words)) return "permission";
  return classifyStatus(status);
}

function isRateLimit(status: number, said: FailureKind | undefined, hasHint: boolean): boolean {
  // With other statuses, such words may only be advice.
  const isSaid = said === "limit" ? [0, 400, 403, 503].includes(status) : said === "quota" && hasHint;
  return isSaid || status === 402 || status === 429;
}

/** Kinds for which the message is more reliable than certain codes. */
const BETTER_KNOWN: Partial<Record<FailureKind, readonly FailureKind[]>> = {
  protocol: ["model", "path"],
  no_tools: ["model", "path"],
  model: ["path"],
  account: ["model", "path", "key", "permission", "limit"],
  permission: ["model", "path", "key", "permission"],
  quota: ["permission", "account", "limit"],
  filtered: ["permission"],
  key: ["permission", "path"],
};

function isPlausibleKind(kind: FailureKind, status: number, hasHint: boolean): boolean {
  // A temporary limit mentions the billing page, too.
  if (kind === "quota") return !hasHint;
  if (kind === "path" && status === 401) return false;
  if (["key", "model", "path", "permission"].includes(kind))
    return status < 500 && status !== 402 && status !== 429;
  if (["unfit_server", "lost_model", "no_tools", "protocol"].includes(kind))
    return status !== 429 && status !== 401;
  // A service may use one name for all refusals.
  if (kind === "server") return status >= 500 || status === 0;
  if (kind === "request")
    return status === 0 || (![401, 403, 404].includes(status) && !isTemporaryStatus(status));
  return true;
}

function classifyStatus(status: number): FailureKind {
  if (status === 401) return "key";
  // A proxy or network that wants its own login also uses these statuses.
  if ([403, 407, 511].includes(status)) return "refused";
  if (status === 410) return "model";
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) return "path";
  return isTemporaryStatus(status) || status >= 500 ? "server" : "request";
}

function isTemporaryStatus(status: number): boolean {
  if ([0, 408, 409, 424, 425, 498, 499].includes(status)) return true;
  return status >= 500 && status !== 501 && status !== 505;
}

function readContextOverflow(
  { status, answer }: RefusedAnswer,
  named: FailureKind | undefined,
  words: string,
) {
  const whole = typeof answer === "string" ? answer : `${JSON.stringify(answer)} ${words}`;
  if (named === "context") return readLengthRefusal(400, `${whole} context_length_exceeded`);
  if (OVER_A_LIMIT.test(words) && [0, 413, 429].includes(status)) {
    const limit = Number(/\blimit:? (\d+)/i.exec(words)?.[1]);
    return limit > 0 ? { contextWindow: limit } : {};
  }
  return VAGUE.has(named) ? readLengthRefusal(status || 400, whole) : undefined;
}

function matchFailureKind(table: readonly Pattern[], texts: readonly string[]): FailureKind | undefined {
  return table.find(([, pattern]) => texts.some((text) => pattern.test(text)))?.[0];
}

const CODE_KEYS = createWordSet("code Code type status reason quotaId error error_code errorCode error_type");
const MAX_NODES = 500;

/** Collects short names and sentences in a response, at any depth, also those of a service behind the service. */
function collectWords(answer: unknown): { readonly codes: readonly string[]; readonly words: string } {
  const codes: string[] = [];
  const words: string[] = [];
  const open: (readonly [string, unknown])[] = [["", answer]];
  for (let seen = 0; open.length > 0 && seen < MAX_NODES; seen += 1) {
    const [key, value] = open.shift() ?? ["", undefined];
    const inner = typeof value === "string" && /^\s*[[{]/.test(value) ? (parseJson(value) ?? value) : value;
    if (Array.isArray(inner)) open.push(...inner.map((item) => [key, item] as const));
    else if (isRecord(inner)) open.push(...Object.entries(inner));
    else if (typeof inner === "string" || typeof inner === "number") {
      const text = String(inner);
      open.push(["", findJson(text)?.value]);
      if (CODE_KEYS.has(key) && /^[\w.-]{1,80}$/.test(text)) codes.push(text);
      else words.push(text);
    }
  }
  return { codes, words: words.join("\n") };
}

/** Finds the JSON answer of a service behind the service within a sentence. */
export function findJson(text: string) {
  const start = text.search(/\{\s*"/);
  const end = start === -1 ? undefined : findJsonEnd(text.slice(start));
  const value = end === undefined ? undefined : parseJson(text.slice(start, start + end));
  return isRecord(value) && end !== undefined ? { start, end: start + end, value } : undefined;
}
