import type { Part } from "@burin/contract/messages/message";

/** The owner of a signature. The marked name is not valid base64, so it cannot be mistaken for a signature. */
type SignatureOwner =
  | "anthropic"
  | "anthropic-redacted"
  | "openai-responses"
  /** Fields of a message in Responses. */
  | "openai-responses-message"
  /** Fields of a message or call in chat completions. */
  | "chat";

/** Marks a value with the provider that wants it back. It must not be sent to any other provider. */
export function tagSignature(owner: SignatureOwner, value: string): string {
  return `${owner}:${value}`;
}

/** Returns the value that this provider once sent with the part, unchanged; undefined if it sent none. */
export function readSignature(owner: SignatureOwner, part: Part): string | undefined {
  const { thoughtSignature: signature } = part;
  return signature?.startsWith(`${owner}:`) ? signature.slice(owner.length + 1) : undefined;
}

/** Returns Gemini's signature. It has no mark, as in @google/genai, whose parts these are. */
export function readGeminiSignature(part: Part): string | undefined {
  const { thoughtSignature: signature } = part;
  return !signature || signature.includes(":") ? undefined : signature;
}
