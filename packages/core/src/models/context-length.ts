/** A request that was longer than the model's window. */
export interface TooLong {
  /** The window, where the service said how large it is. */
  readonly contextWindow?: number;
}

const WORDS =
  /context.?(?:length|window|size|limit)|(?:prompt|input)[^.]{0,20} too (?:long|large)|maximum (?:context|prompt|input)|too many (?:input )?tokens|token count[^.]{0,40}exceed|exceed[^.]{0,60}(?:maximum number of tokens|context)|reduce the length|request_too_large/i;
/** A limit of the reply alone; asking with less before it would change nothing. */
const OUTPUT_LIMIT = /max_(?:completion_|output_|new_)?tokens/i;
const STATUSES: ReadonlySet<number> = new Set([400, 413, 422, 500]);

/** In the order in which they are believed. */
const SIZES = [
  /"n_ctx"\s*:\s*(\d+)/,
  /(?:maximum|max) (?:context|prompt|input) length (?:is|of) (\d+)/i,
  /context (?:length|window|size) (?:is|of)(?: only)? (\d+)/i,
  /context limit: [\d +]+> (\d+)/i,
  /maximum number of tokens allowed \((\d+)\)/i,
  /(\d+) maximum/i,
  /exceeds the limit of (\d+)/i,
];

/** Whether a refusal means that the request is too long for the model; undefined when it means anything else. */
export function tooLongIn(status: number, answer: string): TooLong | undefined {
  if (!STATUSES.has(status)) return undefined;
  const means =
    status === 413 || (WORDS.test(answer) && (/context/i.test(answer) || !OUTPUT_LIMIT.test(answer)));
  if (!means) return undefined;
  for (const pattern of SIZES) {
    const size = Number(pattern.exec(answer)?.[1]);
    if (size >= 256) return { contextWindow: size };
  }
  return {};
}
