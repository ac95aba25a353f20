import type { IncomingHttpHeaders } from "node:http";
import type { HttpResponse } from "@burin/net/http-request";

export interface RetryHint {
  readonly retryAfterMs?: number;
  readonly shouldRetry?: boolean;
}

type ResponseHead = Pick<HttpResponse, "status" | "headers">;

/** Reads what the service says about another attempt, first from its headers, then from the response. */
export function readRetryHint({ status, headers }: ResponseHead, answer: string): RetryHint {
  const asked = readHeaderPause(headers) ?? findPause(answer) ?? readResetPause(headers, status === 429);
  const should = String(headers["x-should-retry"] ?? "").toLowerCase();
  return {
    ...(asked === undefined ? {} : { retryAfterMs: asked }),
    ...(should === "true" || should === "false" ? { shouldRetry: should === "true" } : {}),
  };
}

/** Returns the longest pause that the headers ask for: a proxy may add a header with a shorter one. */
function readHeaderPause(headers: IncomingHttpHeaders): number | undefined {
  const named = Object.entries(headers).map(([name, value]) => [name, String(value).trim()] as const);
  const asked = named.flatMap(([name, value]) => {
    const [found, unit = "s"] = /retry-after(?:-(ms))?$/.exec(name) ?? [];
    return found === undefined ? [] : (parsePause(value, unit) ?? []);
  });
  if (asked.length > 0) return Math.max(...asked);
  return parseResetPause(String(headers["x-ratelimit-reset"] ?? ""));
}

/** Matches a used-up limit in the IETF's format or an older one: `"default";r=0;t=30`, `remaining=0, reset=30`. */
const SPENT_LIMIT = /\b(?:r|remaining)=0\b[^"]*?\b(?:t|reset)=(\d+)/;

/** Returns the pause of the used-up limits, each of which has its own headers, or else of those for tokens. */
function readResetPause(headers: IncomingHttpHeaders, isLimited: boolean): number | undefined {
  const resets = Object.keys(headers).filter((name) => /ratelimit-.*reset/.test(name));
  const spent = resets.filter((name) => Number(headers[name.replace("reset", "remaining")] ?? 1) <= 0);
  const short = isLimited && spent.length === 0 ? resets.filter((name) => name.includes("token")) : spent;
  const policies = SPENT_LIMIT.exec(String(headers.ratelimit))?.slice(1) ?? [];
  const told = [...policies, ...short.map((name) => String(headers[name]))];
  const times = told.flatMap((moment) => parseResetPause(moment) ?? []);
  return times.length > 0 ? Math.max(...times) : undefined;
}

/** Returns the time until a reset. A distant one ends a daily quota, which says nothing about another limit. */
function parseResetPause(moment: string): number | undefined {
  const left = parsePause(moment) ?? 0;
  return left > 0 && left <= MAX_TO_RESET_MS ? left : undefined;
}

const MAX_TO_RESET_MS = 120_000;
const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 1, mil: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 },
  ...{ 秒: 1000, 分: 60_000, 小: 3_600_000 },
};
const COUNT = "(?:\\d+(?:\\.\\d+)?|\\ban?\\b|\\bone\\b)";
const TIME = `${COUNT}\\s*(?:ms|milliseconds?|d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])\\.?`;
const AGAIN =
  "(?:try(?:ing)? again|retry(?:ing)?|wait|available|resets?)(?: \\w+){0,4}? (?:in|after|for|at least)?";
/** Matches times such as `11s`, `1m12.5s`, `2 minutes and 3 seconds`, `30 秒后`. */
const TIMES = new RegExp(
  `${AGAIN} ?((?:${TIME}(?:,? (?:and )?)?)+)|(\\d+\\s*(?:秒|分钟?|小时))[^\\n]{0,3}后`,
  "i",
);
const DATE =
  /(?:again|retry|resets?|access|available)\b[^.\n]{0,40}?(\d{4}-\d\d-\d\d)(?:[T ]| at )(\d\d:\d\d\S{0,8}?) ?(?:Z|UTC|GMT)\b/i;
/** Fields such as `retryDelay`, `retry_after_ms`, `resets_in_seconds`, `resets_at`, `X-RateLimit-Reset`. */
const FIELD =
  /"(?:x-ratelimit-|quota_?)?(?:retry|resets?)[-_]?(?:after|delay|in|at|time(?:stamp)?)?[-_]?(ms|seconds)?"\s*:\s*"?([\w:.+-]+)/gi;

/** Returns the pause that a response asks for, in a field or in a sentence such as "try again in 11s". */
export function findPause(answer: string): number | undefined {
  for (const [, unit, value = ""] of answer.matchAll(FIELD)) {
    const pause = parsePause(value, unit?.toLowerCase() === "ms" ? "ms" : "s");
    if (pause) return pause;
  }
  const [, english, chinese] = TIMES.exec(answer) ?? [];
  const [, day, time] = DATE.exec(answer) ?? [];
  // A time in the past says nothing.
  return parsePause(english ?? chinese ?? (day ? `${day}T${time}Z` : "")) || undefined;
}

/** Parses a time: seconds or milliseconds since 1970, a date, a duration such as `1m12s`, or a number of units. */
function parsePause(value: string, unit = "s"): number | undefined {
  if (/^\d{10}(?:\d{3})?$/.test(value)) return computePause(Number(value.padEnd(13, "0")));
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * (UNITS[unit] ?? 1);
  if (/^(?:\d{4}-|[a-z]{3},? )/i.test(value)) return computePause(Date.parse(value));
  const pieces = [...value.matchAll(/(\d+(?:\.\d+)?|\ban?\b|\bone\b)\s*(ms|mil|[dhms秒分小])/gi)];
  const lengths = pieces.map(
    ([, count, of = ""]) =>
      (Number.isNaN(Number(count)) ? 1 : Number(count)) * (UNITS[of.toLowerCase()] ?? 0),
  );
  return pieces.length > 0 ? Math.ceil(lengths.reduce((sum, one) => sum + one)) : undefined;
}

function computePause(moment: number): number | undefined {
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - Date.now());
}
