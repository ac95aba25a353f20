import type { FunctionCall, FunctionResponse } from "./function-call.ts";

/** Bytes inside a message, as base64. */
export interface InlineData {
  mimeType?: string;
  data?: string;
}

/**
 * One piece of a message, structurally the same as the `Part` of @google/genai, so that content made for either
 * fits the other. Each part has one of the fields; `thought` marks text as reasoning. `thoughtSignature` belongs
 * to the provider that made the part: it is sent back unchanged, and to no other provider (see
 * `models/thought-signature.ts`).
 */
export interface Part {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: InlineData;
  functionCall?: Partial<FunctionCall>;
  functionResponse?: Partial<Omit<FunctionResponse, "response">> & { response?: Record<string, unknown> };
}

export type PartUnion = Part | string;
export type PartListUnion = PartUnion | PartUnion[];

/** Returns the same content as a list of parts in the same order, with strings as text parts. */
export function toParts(content: PartListUnion): Part[] {
  const list = Array.isArray(content) ? content : [content];
  return list.map((item) => (typeof item === "string" ? { text: item } : item));
}

export function isMedia({ inlineData }: Part): boolean {
  return typeof inlineData?.mimeType === "string" && typeof inlineData.data === "string";
}

/** All text of the content, joined by newlines; other parts are left out. */
export function textOf(content: PartListUnion): string {
  return toParts(content)
    .flatMap((part) => (part.text === undefined || part.thought ? [] : [part.text]))
    .join("\n");
}
