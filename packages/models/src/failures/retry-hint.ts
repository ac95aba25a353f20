import type { IncomingHttpHeaders } from "node:http";

export interface RetryHint {
  readonly retryAfterMs?: number;
  readonly shouldRetry?: boolean;
}

/** What the service says about another attempt, first in its headers, then in the response. */
export function retryHint(headers: IncomingHttpHeaders, answer: string): RetryHint {
  const asked = ofHeaders(headers) ?? hintIn(answer) ?? ofResets(headers);
  const should = String(headers["x-should-retry"] ?? "").toLowerCase();
  return {
    ...(asked === undefined ? {} : { retryAfterMs: asked }),
    ...(should === "true" || should === "false" ? { shouldRetry: should === "true" } : {}),
  };
}

/** A proxy may add a header with a shorter time: the longer pause is the right one. */
function ofHeaders(headers: IncomingHttpHeaders): number | undefined {
  const milliseconds = String(headers["retry-after-ms"] ?? "").trim();
  const times = [
    /^\d+(\.\d+)?$/.test(milliseconds) ? Number(milliseconds) : undefined,
    ofRetryAfter(String(headers["retry-after"] ?? "").trim()),
  ].filter((time) => time !== undefined);
  if (times.length > 0) return Math.max(...times);
  return untilReset(String(headers["x-ratelimit-reset"] ?? ""));
}

/** Each limit has headers of its own; the pause is that of the limits of which nothing remains. */
function ofResets(headers: IncomingHttpHeaders): number | undefined {
  const times = Object.entries(headers).flatMap(([name, moment]) => {
    const remaining = name.includes("ratelimit-") ? headers[name.replace("reset", "remaining")] : undefined;
    return remaining === "0" && name.includes("reset") ? (untilReset(String(moment)) ?? []) : [];
  });
  return times.length > 0 ? Math.max(...times) : undefined;
}

/** Seconds or milliseconds since 1970, a date, or a time from now; what is far off is the end of a daily quota. */
function untilReset(moment: string): number | undefined {
  const fromNow = () => Date.now() + (/[a-z]/i.test(moment) ? durationOf(moment) : Number(moment) * 1000);
  const since1970 = /^\d{10}(?:\d{3})?$/.test(moment) ? Number(moment.padEnd(13, "0")) : undefined;
  const left = (since1970 ?? (/^\d{4}-/.test(moment) ? Date.parse(moment) : fromNow())) - Date.now();
  return left > 0 && left <= MOST_TO_RESET_MS ? left : undefined;
}

function ofRetryAfter(after: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1000;
  if (!/[a-z]/i.test(after)) return undefined;
  const moment = Date.parse(after);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - Date.now());
}

const MOST_TO_RESET_MS = 120_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const TIME =
  "\\d+(?:\\.\\d+)?\\s*(?:ms|milliseconds?|d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\\b\\.?";
/** `11s`, `1m12.5s`, `2 minutes and 3 seconds`. */
const TIMES = new RegExp(
  `(?:try(?:ing)? again|retry(?:ing)?|wait|available|resets?)(?: \\w+){0,4}? (?:in|after|for|at least)? ?((?:${TIME.replace("\\b\\.?", "")}(?:,? (?:and )?)?)+)`,
  "i",
);
const FIELD = /"(?:retryDelay|retry_delay)"\s*:\s*"(\d+(?:\.\d+)?)s"/;
const RESET = /"x-ratelimit-reset"\s*:\s*"?(\d+)/i;
const SECONDS = /"retry_?after(?:_?seconds)?"\s*:\s*"?(\d+(?:\.\d+)?)"?\s*[,}]/i;

/** The pause that a response asks for: Google's RetryInfo, a field, or a sentence such as "try again in 11s". */
export function hintIn(answer: string): number | undefined {
  const field = FIELD.exec(answer)?.[1] ?? SECONDS.exec(answer)?.[1];
  if (field !== undefined) return Number(field) * 1000;
  const words = TIMES.exec(answer)?.[1];
  if (words === undefined) return untilReset(RESET.exec(answer)?.[1] ?? "");
  return durationOf(words);
}

function durationOf(words: string): number {
  const pieces = [...words.matchAll(/(\d+(?:\.\d+)?)\s*(ms|mil|[dhms])/gi)];
  const unitOf = (unit: string): number =>
    UNITS[unit.toLowerCase() === "mil" ? "ms" : unit.toLowerCase()] ?? 0;
  return Math.ceil(pieces.reduce((sum, [, count, unit = ""]) => sum + Number(count) * unitOf(unit), 0));
}
