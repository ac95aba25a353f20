import type { Part } from "@burin/contract/messages/parts";

/** The owner of a signature; a name that is no base64, so that it cannot be taken for a signature. */
type SignatureOwner =
  | "anthropic"
  | "anthropic-redacted"
  | "openai-responses"
  /** Fields of a message that says what was said, of Responses. */
  | "openai-responses-message"
  /** Fields of a message or call, of chat completions. */
  | "chat";

/** What a provider wants back, marked as its own: no other provider must be sent it. */
export function ownedSignature(owner: SignatureOwner, value: string): string {
  return `${owner}:${value}`;
}

/** What that provider once gave with the part, as it gave it. */
export function signatureOf(owner: SignatureOwner, part: Part): string | undefined {
  const { thoughtSignature: signature } = part;
  return signature?.startsWith(`${owner}:`) ? signature.slice(owner.length + 1) : undefined;
}

/** Gemini's signatures stand bare, as in @google/genai, whose parts are these parts. */
export function geminiSignatureOf(part: Part): string | undefined {
  const { thoughtSignature: signature } = part;
  return signature === undefined || signature.includes(":") ? undefined : signature;
}
