/** Words of a refusal, with an example that a test checks. */
type Row = readonly [words: RegExp, example: string];

/** The signature of a thought, or the encrypted reasoning, comes from another service. */
export const FOREIGN_SIGNATURES: readonly Row[] = [
  [/(?:invalid|corrupted)\W+(?:thought_?\s?)?signature/i, "Invalid `signature` in `thinking` block"],
  [/invalid\W+data\W+in\W+redacted_thinking/i, "Invalid `data` in `redacted_thinking` block"],
  [/thought_?\s?signature is (?:not |in)valid/i, "Thought signature is not valid."],
  [/thought_?\s?signature[^\n]{0,40}base64/i, "thought_signature' (TYPE_BYTES), Base64 decoding failed"],
  [
    /encrypted[_ ]content\b[^\n]{0,60}(?:could not be|not issued)/i,
    "The encrypted content for item rs_078 could not be verified.",
  ],
  [/produced under a different model/i, "encrypted reasoning that was produced under a different model"],
  [/thinking\W+blocks[^\n]{0,60}cannot be modified/i, "`thinking` blocks in the message cannot be modified"],
  [/decode the compaction blob/i, "Could not decode the compaction blob."],
  [/item with id 'rs_/i, "Item with id 'rs_0496' not found."],
];

export const TOO_MANY_MEDIA: readonly Row[] = [
  [
    /too (?:many|much) [^\n]{0,20}(?:images|media|documents|files)/i,
    "too many images and documents: 104 > 100",
  ],
  [
    /\d+ (?:images|documents|files)\b[^\n]{0,20}exceed/i,
    "Request contains 4 images, exceeding the limit of 3.",
  ],
  [/at most \d+ (?:image|document|file)/i, "At most 3 image(s) may be provided in one request."],
  [/many-image/i, "image dimensions exceed max allowed size for many-image requests: 2000 pixels"],
];

export function matchesAny(rows: readonly Row[], text: string): boolean {
  return rows.some(([words]) => words.test(text));
}

/** What precedes the largest number of tokens that a reply may have, each with a message and that number. */
export const OUTPUT_LIMITS: readonly (readonly [words: string, example: string, limit: number])[] = [
  [">(?!=)", "max_tokens: 100000 > 64000, which is the maximum allowed number", 64_000],
  ["at most", "max_tokens is too large: 32000. This model supports at most 8192 completion tokens", 8192],
  ["less than or equal to", "`max_completion_tokens` must be less than or equal to `16384`", 16_384],
  ["<=", "max_tokens must be <= 8192", 8192],
  ["limited to", "max_tokens is limited to 4096", 4096],
  ["max_\\w*=", "max_tokens is too large, max_output=8192", 8192],
  ["\\[\\d+,", "Range of max_tokens should be [1, 8192]", 8192],
  ["not exceed", "max_tokens (10000) cannot exceed 8192.", 8192],
  ["(?:exceeds?|greater than) the (?:[\\w']+ ){1,3}of", "max_tokens exceeds the model's limit of 4096", 4096],
  ["between \\d+ and", "max_tokens must be between 1 and 8192", 8192],
  ["\\(inclusive\\) to", "max_tokens: from 1 (inclusive) to 65537 (exclusive)", 65_536],
];
const MAX_TOKENS = `max_?(?:completion_?|output_?)?tokens[^\\n]{0,120}?(?:${OUTPUT_LIMITS.map(([words]) => words).join("|")})`;
const MAX_OUTPUT = new RegExp(
  `(?:${MAX_TOKENS}\\D{0,20}?|maximum tokens you requested exceeds? the model limit of )(\\d+)( \\(exclusive)?`,
  "i",
);

/** The largest number of tokens that a reply may have, according to a refusal; NaN if it says nothing about that. */
export function readOutputLimit(reason: string): number {
  const [, max, isBeyond] = MAX_OUTPUT.exec(reason) ?? [];
  return Number(max) - (isBeyond ? 1 : 0);
}
