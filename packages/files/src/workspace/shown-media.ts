import { detectMediaKind, TRUNCATED_FAULT } from "./media-kind.ts";

/** The part of an image or document that can be shown. */
export interface DisplayableMedia {
  readonly mimeType: string;
  readonly bytes: Buffer;
  /** What is missing of it, in words. */
  readonly note?: string;
}

/** An image that is cut off gets an end, so that its beginning can be seen. Returns null for any other content. */
export async function prepareMedia(
  bytes: Buffer,
): Promise<DisplayableMedia | { readonly mimeType: string; readonly fault: string } | null> {
  const kind = detectMediaKind(bytes);
  if (kind === null) return null;
  const { mimeType } = kind;
  const fault = kind.findFault(bytes);
  if (fault === null) return { mimeType, bytes };
  const closed =
    fault === TRUNCATED_FAULT ? (await import("./cut-image.ts")).closeImage(bytes, mimeType) : null;
  if (closed === null || kind.findFault(closed) !== null) return { mimeType, fault };
  return { mimeType, bytes: closed, note: "The image is cut off: a part of it is missing." };
}
