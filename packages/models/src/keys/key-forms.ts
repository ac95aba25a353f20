import type { ServiceName } from "@burin/contract/settings/settings";

/** A form of keys that one or several services give out. The example is not a real key. */
export interface KeyForm {
  readonly form: RegExp;
  readonly services: readonly ServiceName[];
  readonly example: string;
}

/** The forms of keys, the most specific ones first: the first match counts. */
export const KEY_FORMS: readonly KeyForm[] = [
  { form: /^sk-ant-[\w-]{16,}$/, services: ["anthropic"], example: "sk-ant-api03-AAAAAAAAAAAAAAAAAAAA" },
  { form: /^sk-or-[\w-]{16,}$/, services: ["openrouter"], example: "sk-or-v1-0000000000000000000000" },
  {
    form: /^sk-(?:proj|svcacct|admin)-[\w-]{16,}$/,
    services: ["openai"],
    example: "sk-proj-AAAAAAAAAAAAAAAAAAAAAAAA",
  },
  {
    form: /^(?:AIza|AQ\.)[\w-]{20,}$/,
    services: ["gemini"],
    example: "AIzaAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  },
  { form: /^gsk_\w{20,}$/, services: ["groq"], example: "gsk_AAAAAAAAAAAAAAAAAAAAAAAA" },
  { form: /^xai-[\w-]{20,}$/, services: ["xai"], example: "xai-AAAAAAAAAAAAAAAAAAAAAAAA" },
  {
    form: /^sk-[\w-]{20,}$/,
    services: ["openai", "deepseek", "moonshot", "dashscope"],
    example: "sk-0123456789abcdef0123456789abcdef",
  },
  { form: /^[A-Za-z0-9]{32}$/, services: ["mistral"], example: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" },
];

/** Returns the services that may have given out a key, the likeliest first; none when it looks like no key. */
export function guessServices(key: string): readonly ServiceName[] {
  return KEY_FORMS.find(({ form }) => form.test(key.trim()))?.services ?? [];
}
