import type { ModelProvider } from "@burin/contract/settings/settings";

/** First try without the longer cache time, then without caching. */
const CACHE = [
  ["no-cache-hour", /\bttl\b/i],
  ["no-cache-control", /cache_control|\bttl\b/i],
] as const;
const REASONING = /reasoning[_ ]?(content|details|text)|\bthinking\b.{0,500}(back|missing|required)/is;
const ENCRYPTED = /encrypted[_ ]content|\binclude\b/i;

/** The model does not have an option that the settings set. */
const OPTION = [
  "without:$1",
  /\b(temperature|top_?p|reasoning(?:[_.]?effort)?(?=['"`. ])|prompt_cache_retention|max_output_tokens)\b/i,
] as const;

/** Fields that only some services know. */
const EXTRAS =
  "(?:reasoning_details|extra_content|reasoning_opaque|thinking_blocks|provider_specific_fields)";

/**
 * The patterns of refusals, some with an example, and what each teaches, in the order in which each protocol checks
 * them. `$1` stands for the pattern's first group.
 */
export const ROWS = {
  openai: [
    ["no-stream-options", /stream_options|include_usage/i],
    // Use the older name of the output limit.
    ["old-output-limit", /max_completion_tokens/i],
    // Gemini checks the signatures of calls, even of those that another model made.
    ["signature-wanted", /missing (?:a |its )?\W?thought_?signature/i],
    ...CACHE,
    // Do not send back the fields that another service wanted back.
    [
      "no-extras",
      new RegExp(`${EXTRAS}[^\\n]{0,60}(?:not |un)(?:support|permit|allow|recogni|expect|known)`, "i"),
      "messages.1.reasoning_details: Extra inputs are not permitted",
    ],
    [
      "no-extras",
      new RegExp(`(?:unknown|unexpected|unrecognized|extra)[^\\n]{0,60}${EXTRAS}`, "i"),
      "messages.1: Unexpected field thinking_blocks",
    ],
    [
      "no-extras",
      /(?:invalid|unknown|unexpected|unsupported)[^\n]{0,60}['"`]reasoning['"`][^\n]{0,40}(?:expected|supported|text)/i,
      "Invalid value: 'reasoning'. Supported values are: 'text' and 'refusal'.",
    ],
    ["no-extras", /content\[\d+\]\.(?:reasoning|summary)\b/i, "messages[1].content[0].summary is wrong"],
    // Put the instructions at the start of the first message.
    [
      "no-system",
      /(?:system|developer)\b[^.\n]{0,40}(?:not |n't |un)(?:be )?(?:support|enabl|allow|accept)/i,
      "Developer instruction is not enabled for models/gemma-3-27b-it",
    ],
    [
      "no-system",
      /(?:not |n't |un)(?:support|allow|accept)[^.\n]{0,30}\b(?:the )?['"`]?(?:system|developer)/i,
      "This model does not support the 'system' role",
    ],
    ["no-system", /only user and assistant roles/i, "Only user and assistant roles are supported!"],
    [
      "no-system",
      /(?:invalid|unexpected|unknown) (?:message )?role:? ?['"`]?system/i,
      "invalid params, chat content has invalid message role: system (2013)",
    ],
    // Put a short reply of the model between tool results and the user's words.
    [
      "reply-before-user",
      /unexpected role '?user'? after role|message.?order/i,
      "Unexpected role 'user' after role 'tool'",
    ],
    [
      "reply-before-user",
      /roles? must alternate|roles should be alternating/i,
      "Conversation roles must alternate user/assistant/user/assistant/...",
    ],
    [
      "reply-before-user",
      /alternat\w+ (?:user|between|with assistant)/i,
      "expected alternating user and assistant messages",
    ],
    [
      "reply-before-user",
      /user[^\n]{0,40}(?:after|follow)[^\n]{0,20}tool/i,
      "a user message cannot follow a tool message",
    ],
    ["reply-before-user", /交替/, "messages 中 user（tool） 和 assistant 角色需交替出现"],
    // Use call ids of nine letters or digits, which every service accepts.
    [
      "nine-ids",
      /tool.?(?:call|use)(?:s?\[\d+\])?\W?_?id[^\n]{0,80}(?:must be|length|pattern|invalid|match|too long|characters)/i,
    ],
    // Send the tool's name with its result.
    ["named-answers", /function_response\.name\b|resolvable tool name/i],
    // Send no text in a message that makes calls.
    ["calls-alone", /content or tool_calls, but not both/i],
    [
      "content-wanted",
      /content\b[\s\S]{0,90}input_value=None/i,
      "content.str\n  Input should be a valid string [type=string_type, input_value=None]",
    ],
    ["content-wanted", /content[^\n]{0,60}不能为空/i, "content 不能为空"],
    [
      "content-wanted",
      /content[^\n]{0,60}(?:must|should|can)\s?not be (?:null|none|empty)/i,
      "messages[2].content: must not be null",
    ],
    [
      "content-wanted",
      /content[^\n]{0,60}(?:is (?:required|missing|empty)|null|none)/i,
      "Assistant message must have either content or tool_calls, but not none.",
    ],
    [
      "content-wanted",
      /content[^\n]{0,60}must be (?:a )?(?:non-?empty )?string/i,
      "messages.2.content must be a string",
    ],
    [
      "content-wanted",
      /must not be empty|must be non-?empty|must contain at least one/i,
      "messages: text content blocks must be non-empty",
    ],
    ["content-wanted", /non-?empty content|empty (?:message|content)/i, "messages[2]: empty message"],
    // Some services require that reasoning is sent back; others reject a request that contains it.
    ["reasoning-wanted", REASONING],
    ["reasoning-refused", REASONING],
    ["without:reasoning_effort", /not support thinking/i],
    OPTION,
  ],
  anthropic: [
    ...CACHE,
    // If nothing is signed, send the thoughts back anyway, even those of another model.
    ["thinking-wanted", /\bpassed back\b|reasoning_content is missing/i],
    // Set the amount of thinking as a word instead of tokens, or the other way round.
    ["no-budget", /\.enabled\W+ is not supported|thinking\.type\W+enabled\W+allowed/],
    ["no-adaptive", /adaptive|output_config|\beffort\b/i],
    ["no-thinking", /thinking|signature/i],
    OPTION,
  ],
  // Not every model reasons, and not every service accepts what another one produced.
  "openai-responses": [
    // OpenAI gives summaries only to organizations that it has verified.
    ["no-summary", /reasoning summar/i],
    // Send its own messages back without the phase.
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
    // Use the older name of the field for schemas.
    ["old-parameters", /parameters_?json_?schema/i],
    ["no-system", /(?:system|developer)[ _]?instruction\w* [^\n]{0,20}(?:not|n't) (?:enabled|supported)/i],
    ["signature-wanted", /^(?=[\s\S]*(?:missing|required|lacks|without))[\s\S]*thought_?\s?signature/i],
    // Vertex matches calls and results only by their order.
    ["no-call-ids", /unknown name \W*id\W+at\b/i],
    ["without:thinkingConfig", /thinking/i],
    OPTION,
  ],
} as const satisfies Record<
  ModelProvider,
  readonly (readonly [quirk: string, words: RegExp, example?: string])[]
>;

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
