import type { ChatQuirk } from "./chat-completions-request.ts";

/** In the order in which they are looked for. */
const QUIRKS: readonly (readonly [ChatQuirk, RegExp])[] = [
  ["no-stream-options", /stream_options|include_usage/i],
  ["old-output-limit", /max_completion_tokens/i],
  ["signature-wanted", /missing (?:a |its )?thought_?signature/i],
  ["no-cache-hour", /\bttl\b/i],
  ["no-cache-control", /cache_control/i],
  [
    "no-extras",
    /(?:reasoning_details|extra_content)[^\n]{0,60}(?:not |un)(?:support|permit|allow|recogni|expect|known)|(?:unknown|unexpected|unrecognized|extra)[^\n]{0,60}(?:reasoning_details|extra_content)|(?:corrupted|invalid) thought_?\s?signature/i,
  ],
  [
    "no-system",
    /(?:system|developer)\b[^.\n]{0,40}(?:not |n't |un)(?:be )?(?:support|enabl|allow|accept)|(?:not |n't |un)(?:support|allow|accept)[^.\n]{0,30}\b(?:the )?['"`]?(?:system|developer)|only user and assistant roles|(?:invalid|unexpected|unknown) (?:message )?role:? ?['"`]?system/i,
  ],
  [
    "reply-before-user",
    /unexpected role '?user'? after role|message.?order|roles? must alternate|alternat\w+ (?:user|between|with assistant)|roles should be alternating|user[^\n]{0,40}(?:after|follow)[^\n]{0,20}tool|交替/i,
  ],
  ["nine-ids", /tool.?call.?id[^\n]{0,80}(?:must be|length|pattern|invalid|match|too long|characters)/i],
  ["calls-alone", /content or tool_calls, but not both/i],
  [
    "content-wanted",
    /content[^\n]{0,60}(?:(?:must|should|can)\s?not be (?:null|none|empty)|is (?:required|missing|empty)|null|none|must be (?:a )?(?:non-?empty )?string)|must not be empty|must contain at least one|non-?empty content|empty (?:message|content)/i,
  ],
];
const REASONING = /reasoning[_ ]?(content|details|text)|\bthinking\b.*(back|missing|required)/is;

/** What a refusal teaches of a service that speaks chat completions; undefined when nothing. */
export function chatQuirk(refusal: string, quirks: ReadonlySet<string>): ChatQuirk | undefined {
  const found = QUIRKS.find(([quirk, pattern]) => !quirks.has(quirk) && pattern.test(refusal));
  if (found) return found[0];
  // Some demand that reasoning comes back, others refuse a request that holds it.
  if (!REASONING.test(refusal)) return undefined;
  return quirks.has("reasoning-wanted") ? "reasoning-refused" : "reasoning-wanted";
}
