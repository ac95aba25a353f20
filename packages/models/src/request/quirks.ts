import type { ModelProvider } from "@burin/contract/settings/settings";

/** First that it is not kept so long, then that it is not kept at all. */
const CACHE = [
  ["no-cache-hour", /\bttl\b/i],
  ["no-cache-control", /cache_control|\bttl\b/i],
] as const;
const REASONING = /reasoning[_ ]?(content|details|text)|\bthinking\b.{0,500}(back|missing|required)/is;
const ENCRYPTED = /encrypted[_ ]content|\binclude\b/i;

/** An option from the settings that the model does not have. */
const OPTION = [
  "without:$1",
  /\b(temperature|top_?p|reasoning(?:[_.]?effort)?(?=['"`. ])|prompt_cache_retention|max_output_tokens)\b/i,
] as const;

/** What refusals teach, for each protocol in the order in which it is looked for; `$1` is what a pattern found. */
const ROWS = {
  openai: [
    ["no-stream-options", /stream_options|include_usage/i],
    // The limit of output goes under its older name.
    ["old-output-limit", /max_completion_tokens/i],
    // Gemini checks the signatures of calls, also of those that another model made.
    ["signature-wanted", /missing (?:a |its )?\W?thought_?signature/i],
    ...CACHE,
    // Nothing goes back of what another service gave to get back.
    [
      "no-extras",
      /(?:reasoning_details|extra_content|reasoning_opaque|thinking_blocks|provider_specific_fields)[^\n]{0,60}(?:not |un)(?:support|permit|allow|recogni|expect|known)|(?:unknown|unexpected|unrecognized|extra)[^\n]{0,60}(?:reasoning_details|extra_content|reasoning_opaque|thinking_blocks|provider_specific_fields)|(?:invalid|unknown|unexpected|unsupported)[^\n]{0,60}['"`]reasoning['"`][^\n]{0,40}(?:expected|supported|text)|content\[\d+\]\.(?:reasoning|summary)\b/i,
    ],
    // Instructions stand at the start of the first message.
    [
      "no-system",
      /(?:system|developer)\b[^.\n]{0,40}(?:not |n't |un)(?:be )?(?:support|enabl|allow|accept)|(?:not |n't |un)(?:support|allow|accept)[^.\n]{0,30}\b(?:the )?['"`]?(?:system|developer)|only user and assistant roles|(?:invalid|unexpected|unknown) (?:message )?role:? ?['"`]?system/i,
    ],
    // A word of the model stands between the answers of tools and the user's words.
    [
      "reply-before-user",
      /unexpected role '?user'? after role|message.?order|roles? must alternate|alternat\w+ (?:user|between|with assistant)|roles should be alternating|user[^\n]{0,40}(?:after|follow)[^\n]{0,20}tool|交替/i,
    ],
    // Ids of calls have nine letters or digits, which every service takes.
    [
      "nine-ids",
      /tool.?(?:call|use)(?:s?\[\d+\])?\W?_?id[^\n]{0,80}(?:must be|length|pattern|invalid|match|too long|characters)/i,
    ],
    // The answer of a tool says its name, too.
    ["named-answers", /function_response\.name\b|resolvable tool name/i],
    // A message that makes calls says nothing beside.
    ["calls-alone", /content or tool_calls, but not both/i],
    [
      "content-wanted",
      /content\b[\s\S]{0,90}input_value=None|content[^\n]{0,60}(?:不能为空|(?:must|should|can)\s?not be (?:null|none|empty)|is (?:required|missing|empty)|null|none|must be (?:a )?(?:non-?empty )?string)|must not be empty|must be non-?empty|must contain at least one|non-?empty content|empty (?:message|content)/i,
    ],
    // Some demand that reasoning comes back, others refuse a request that holds it.
    ["reasoning-wanted", REASONING],
    ["reasoning-refused", REASONING],
    ["without:reasoning_effort", /not support thinking/i],
    OPTION,
  ],
  anthropic: [
    ...CACHE,
    // Where nothing is signed, what was thought goes back all the same, also that of another model.
    ["thinking-wanted", /\bpassed back\b|reasoning_content is missing/i],
    // How much to think is said in words, not in tokens, or the other way round.
    ["no-budget", /\.enabled\W+ is not supported|thinking\.type\W+enabled\W+allowed/],
    ["no-adaptive", /adaptive|output_config|\beffort\b/i],
    ["no-thinking", /thinking|signature/i],
    OPTION,
  ],
  // Not every model reasons, and not every service takes back what another one said.
  "openai-responses": [
    // OpenAI gives summaries only to organizations that it has verified.
    ["no-summary", /reasoning summar/i],
    // Of what it said it gets the words alone.
    ["no-phase", /\.phase\b/],
    [
      "no-reasoning",
      /invalid_encrypted_content|^[^\n]*\brequest blocked\.|could not be (?:verified|decrypted)|reasoning.{0,40}item|\brs_/is,
    ],
    ["no-include", ENCRYPTED],
    ["no-reasoning", ENCRYPTED],
    OPTION,
  ],
  gemini: [
    // Schemas go under their older name.
    ["old-parameters", /parameters_?json_?schema/i],
    ["no-system", /(?:system|developer)[ _]?instruction\w* [^\n]{0,20}(?:not|n't) (?:enabled|supported)/i],
    ["signature-wanted", /^(?=[\s\S]*(?:missing|required|lacks|without))[\s\S]*thought_?\s?signature/i],
    // Vertex knows calls and answers by their order alone.
    ["no-call-ids", /unknown name \W*id\W+at\b/i],
    ["without:thinkingConfig", /thinking/i],
    OPTION,
  ],
} as const satisfies Record<ModelProvider, readonly (readonly [string, RegExp])[]>;

export type Quirk = (typeof ROWS)[ModelProvider][number][0];
export type Quirks = ReadonlySet<Quirk>;

export function findQuirk(protocol: ModelProvider, refusal: string, known: Quirks): Quirk | undefined {
  for (const [quirk, pattern] of ROWS[protocol]) {
    const found = pattern.exec(refusal);
    const learned = quirk.replace("$1", found?.[1] ?? "") as Quirk;
    if (found && !known.has(learned)) return learned;
  }
  return undefined;
}
