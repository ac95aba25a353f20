import type { Part } from "@burin/contract/messages/message";

/** The owner of a signature; the name is not valid base64, so it cannot be mistaken for a signature. */
type SignatureOwner =
  | "anthropic"
  | "anthropic-redacted"
  | "openai-responses"
  /** Fields of a message, of Responses. */
  | "openai-responses-message"
  /** Fields of a message or call, of chat completions. */
  | "chat";

/** What a provider wants back, marked as its own: it must not be sent to any other provider. */
export function tagSignature(owner: SignatureOwner, value: string): string {
  return `${owner}:${value}`;
}

/** What that provider once sent with the part, unchanged. */
export function readSignature(owner: SignatureOwner, part: Part): string | undefined {
  const { thoughtSignature: signature } = part;
  return signature?.startsWith(`${owner}:`) ? signature.slice(owner.length + 1) : undefined;
}

/** Gemini's signatures have no mark, as in @google/genai, whose parts these are. */
export function readGeminiSignature(part: Part): string | undefined {
  const { thoughtSignature: signature } = part;
  return !signature || signature.includes(":") ? undefined : signature;
}
