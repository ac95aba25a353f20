/** A request that was longer than the model's window. */
export interface TooLong {
  /** The window, where the service said how large it is. */
  readonly contextWindow?: number;
}

/** What was sent, that it was too much, and in which measure: each service has its own sentence of the three. */
const SENT = "(?:prompts?|inputs?|requests?|messages|conversation|tokens?|token count|sequence)";
const TOO_MUCH =
  "(?:too (?:long|large|many)|longer than|larger than|greater than|exceed(?:s|ed|ing)?|more than|over the|must (?:be|have) (?:<=?|less|fewer|at most)|cannot exceed|is not possible)";
const MEASURE = "(?:token|context|length|window|model|max|limit)";
const WORDS = new RegExp(
  [
    "context.?(?:length|window|size|limit)",
    `\\b${SENT}\\b[^\\n]{0,80}?\\b${TOO_MUCH}[^\\n]{0,80}${MEASURE}`,
    "(?:prompt|input)[^.]{0,20} too (?:long|large)",
    `\\b(?:prompt|input) (?:tokens?|length)\\b[^\\n]{0,40}?\\b${TOO_MUCH}`,
    "maximum (?:supported )?(?:context|prompt|input|sequence)",
    "range of input length",
    "too many (?:input )?tokens",
    "exceed[^.\\n]{0,60}(?:maximum number of tokens|context|token limit)",
    "reduce (?:the length|your (?:prompt|message|input))",
    "request_too_large",
    // What is left for the reply, reckoned from what was sent.
    "max_tokens must be at least 1, got -",
    "payload size exceeds",
    "(?:输入|上下文|提示词|对话|消息)[^\\n]{0,20}(?:过长|超过|超出|超限)",
    "(?:超过|超出)[^\\n]{0,20}(?:上下文|最大长度|长度限制|token)",
  ].join("|"),
  "i",
);
/** A limit of the reply alone; asking with less before it would change nothing. */
const OUTPUT_LIMIT =
  /max_(?:completion_|output_)?tokens(?! must be at least 1, got -)|maximum tokens you requested/i;
const OUTPUT_ALONE =
  /max_(?:completion_|output_)?tokens[`'"]* (?:must|should|can ?not|can't) be (?:less|lower|smaller|<|at most)/i;
const INPUT = /\b(?:prompt|input|messages)\b/i;
/** Too much of something else. */
const OTHER_MEASURE =
  /per[- ](?:minute|second|hour|day)|rate.?limit|quota|\bimages?\b|\btools?\b[^.\n]{0,20}\b\d+/i;
const STATUSES: ReadonlySet<number> = new Set([400, 404, 413, 422, 500, 503]);

/** In the order in which they are believed. */
const SIZES = [
  /"n_ctx"\s*:\s*(\d+)/,
  /n_ctx:? (\d+)/,
  /(?:maximum|max) (?:supported )?(?:context|prompt|input|sequence|model) length(?: of [^\s\d]\S*)?(?: is| of)?(?: just| only)? \(?(\d+)/i,
  /context (?:length|window|size)(?: is| of|:)?(?: only)? \(?(\d+)/i,
  /context limit: [\d +]+> (\d+)/i,
  /length should be \[\d+, ?(\d+)\]/i,
  /token limit ?:? ?(\d+)/i,
  /(?:maximum number of tokens allowed|max message tokens) \(?(\d+)/i,
  /max size:? (\d+) tokens/i,
  /(\d+) maximum/i,
  /(?:less|fewer) than [a-z_ ]+\((\d+)\)/i,
  /(?:limit (?:of|is)|(?:less|fewer) than|<=|maximum length(?: of| is)?|maximum of|cannot exceed) (\d+)/i,
];

/** Whether a refusal means that the request is too long for the model; undefined when it means anything else. */
export function tooLongIn(status: number, answer: string): TooLong | undefined {
  if (!STATUSES.has(status)) return undefined;
  if (status !== 413 && !isAboutLength(answer)) return undefined;
  // 1,048,576 is a number as well.
  const plain = answer.replace(/(\d),(?=\d{3}\b)/g, "$1");
  for (const pattern of SIZES) {
    const size = Number(pattern.exec(plain)?.[1]);
    if (size >= 256) return { contextWindow: size };
  }
  return {};
}

function isAboutLength(said: string): boolean {
  // The name of a field says it as well as words do.
  const answer = said.replace(/\b(prompt|input)_tokens\b/g, "$1 tokens");
  if (!WORDS.test(answer) || OUTPUT_ALONE.test(answer)) return false;
  return (
    /context|range of input length|tokens of image and text/i.test(answer) ||
    !((OUTPUT_LIMIT.test(answer) && !INPUT.test(answer)) || OTHER_MEASURE.test(answer))
  );
}
