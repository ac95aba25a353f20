export interface TooLongDetails {
  readonly contextWindow?: number;
}

/**
 * The three parts of a message about a request that is too long: what was sent, that it was too much, and the unit.
 * Each service words them differently.
 */
const SENT = "(?:prompts?|inputs?|requests?|messages|conversation|tokens?|token count|sequence)";
/** Each with a message that a test reads. */
export const EXCESSES: readonly (readonly [words: string, example: string])[] = [
  ["too (?:long|large|many)", "the prompt is too long for this model"],
  ["(?:longer|larger|greater|more) than", "the input is longer than the context"],
  ["exceed(?:s|ed|ing)?", "the request exceeds the maximum of tokens"],
  ["over the", "the messages are over the limit"],
  ["must (?:be|have) (?:<=?|less|fewer|at most)", "inputs must have less than 4096 tokens"],
  ["only supports", "the conversation is long, and the model only supports 8192 tokens"],
  ["is not possible", "a sequence of 9000 tokens is not possible with this model"],
];
const TOO_MUCH = `(?:${EXCESSES.map(([words]) => words).join("|")})`;
const MEASURE = "(?:token|context|length|window|model|max|limit)";
const WORDS = new RegExp(
  [
    "context.?(?:length|window|size|limit|overflow)|>= n_ctx",
    `\\b${SENT}\\b[^\\n]{0,80}?\\b${TOO_MUCH}[^\\n]{0,80}${MEASURE}`,
    "(?:prompt|input)[^.]{0,20} too (?:long|large)",
    `\\b(?:prompt|input) (?:tokens?|length)\\b[^\\n]{0,40}?\\b${TOO_MUCH}`,
    "max(?:imum)? (?:supported )?(?:context|prompt|input|sequence)",
    "range of input length",
    "too many (?:input )?tokens",
    "exceed[^.\\n]{0,60}(?:maximum number of tokens|context|token limit)",
    "reduce (?:the length|your (?:prompt|message|input))",
    "request_too_large",
    // A negative space for the reply means that the request was too long.
    "max_tokens must be at least 1, got -",
    "payload size exceeds",
    "(?:输入|上下文|提示词|对话|消息)[^\\n]{0,20}(?:过长|超过|超出|超限)",
    "слишком длинн",
    "(?:超过|超出)[^\\n]{0,20}(?:上下文|最大长度|长度限制|token)",
  ].join("|"),
  "i",
);
/** Messages about the limit for the reply alone, which a shorter request would not change. */
const OUTPUT_LIMIT =
  /max_(?:completion_|output_)?tokens(?! must be at least 1, got -)|maximum tokens you requested/i;
const OUTPUT_ALONE =
  /max_(?:completion_|output_)?tokens[`'"]* (?:must|should|can ?not|can't) be (?:less|lower|smaller|<|at most)/i;
const INPUT = /\b(?:prompt|input|messages)\b/i;
const OTHER_MEASURE =
  /per[- ](?:minute|second|hour|day)|rate.?limit|throttl|\b(?:id|name)'?: string|quota|\bimages?\b|\btools?\b[^.\n]{0,20}\b\d+/i;
/** Statuses that are about the key, money or the rate, never about the length. */
const OTHER_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 429]);
/** If this matches, a number in the message does not count tokens. */
const NO_TOKENS = /\bstring too long|\b(?:characters|bytes|message size)\b/i;

/** Patterns for the size of the window. The first match counts. */
const SIZES = [
  /n_ctx"?\W{1,3}(\d+)/,
  /\d(?: tokens)? > (\d+)/,
  /\bmax(?:imum)?[ _](?:[a-z]+[ _]){0,3}?(?:length|len|size|tokens allowed|message tokens)(?: of [^\s\d]\S*)?(?: is| of)?(?: just| only)?:? ?\(?(\d+)/i,
  /context (?:length|window|size)(?: limit)?(?: is| of|:)?(?: only)? \(?(\d+)/i,
  /length should be \[\d+, ?(\d+)\]/i,
  /\b(\d+) maximum/i,
  /(?:less|fewer) than [a-z_ ]+\((\d+)\)/i,
  /(?:limit(?: of| is| ?:)?|supports up to|(?:less|fewer) than|<=|maximum(?: of| is)|cannot exceed|at most) \(?(\d+)/i,
];

/** Says whether a refusal means that the request is too long for the model; undefined if it means something else. */
export function readLengthRefusal(status: number, answer: string): TooLongDetails | undefined {
  if (OTHER_STATUSES.has(status) && !(status === 403 && /context length/i.test(answer))) return undefined;
  if (status !== 413 && !isAboutLength(answer)) return undefined;
  if (NO_TOKENS.test(answer)) return {};
  // Also read numbers such as 1,048,576.
  const plain = answer.replace(/(\d),(?=\d{3}\b)/g, "$1");
  for (const pattern of SIZES) {
    const size = Number(pattern.exec(plain)?.[1]);
    // MiniMax ends its messages with a code: "invalid params, context window exceeds limit (2013)".
    const isCode = new RegExp(`(?:code"\\s*:\\s*"?|invalid params, [^"\\n]*\\()${size}\\b`).test(plain);
    if (size >= 256 && !isCode) return { contextWindow: size };
  }
  return {};
}

function isAboutLength(said: string): boolean {
  // Compare field names too, because they may name the limit. A link only points to documentation.
  const answer = said.replace(/\b(prompt|input)_tokens\b/g, "$1 tokens").replace(/https?:\S+/g, "");
  if (!WORDS.test(answer) || OUTPUT_ALONE.test(answer)) return false;
  return (
    /context|range of input length|tokens of image and text/i.test(answer) ||
    !((OUTPUT_LIMIT.test(answer) && !INPUT.test(answer)) || OTHER_MEASURE.test(answer))
  );
}
