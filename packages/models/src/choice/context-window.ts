/** The window, in tokens, that is assumed for an unknown model: smaller than that of most models that can use tools. */
const UNKNOWN_WINDOW = 32_768;

/** Windows in tokens by the start of the name; the first match counts. Settings and the service take precedence. */
const WINDOWS: readonly (readonly [RegExp, number])[] = [
  [/^claude-(?:[a-z]+-)?(?:3|4(?![.-][6-9]))/, 200_000],
  [/^claude-(?:fable|mythos|opus|sonnet|haiku)/, 1_000_000],
  [/^claude/, 200_000],
  [/^gemini/, 1_000_000],
  [/^gpt-oss/, 131_072],
  [/^gpt-(?:5[.-][4-9]|[6-9])(?!.*(?:mini|nano))/, 1_050_000],
  [/^gpt-[5-9]/, 272_000],
  [/^gpt-4[.-]1/, 1_000_000],
  [/^(?:gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-4[.-]5|gpt-4-\d{4}-preview|o1-mini|o1-preview)/, 128_000],
  [/^o[134](?:$|-)|^codex/, 200_000],
  [/^grok-2.*vision/, 32_768],
  [/^gpt-4/, 8192],
  [/^gpt-3\.5/, 16_385],
  [/^grok-4[.-][3-9]/, 500_000],
  [/^grok-(?:[4-9]|code)/, 256_000],
  [/^grok/, 131_072],
  [
    /^deepseek-(?:v[4-9]|flash|pro)|^kimi-k[3-9]|^glm-5[.-][2-9]|^minimax-(?:0|m[13])|^muse|^qwen-plus/,
    1_000_000,
  ],
  [/^qwen3-(?:coder|next|max)/, 262_144],
  [/^deepseek|^moonshot.*128k|^qwen-?3|^qvq|^qwen-turbo/, 128_000],
  [/^glm-(?:5[.-]1|5v?-turbo|4[.-]7)/, 200_000],
  [/^glm-5/, 80_000],
  [/^glm-4/, 65_536],
  [/^kimi|^minimax/, 128_000],
  [/^(?:mistral-(?:large|medium|small)|devstral|magistral|codestral|ministral|command-[ra])/, 128_000],
  [/^llama-?3[.-][123]|^llama-?[4-9]|^gemma-?[3-9]|^phi-?4-mini/, 128_000],
];

/** Returns how many tokens a request and its reply may have together. Ignores a maker's name before a slash. */
export function guessContextWindow(model: string): number {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return WINDOWS.find(([pattern]) => pattern.test(name))?.[1] ?? UNKNOWN_WINDOW;
}
