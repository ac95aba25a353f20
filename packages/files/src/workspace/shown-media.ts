import { ENDS_EARLY, mediaKind } from "./media-kind.ts";

/** What can be shown of an image or a document. */
export interface ShownMedia {
  readonly mimeType: string;
  readonly bytes: Buffer;
  /** What is missing. */
  readonly note?: string;
}

/** An image that is cut off gets an end, so that its beginning can be seen. Returns null for any other content. */
export async function shownMedia(
  bytes: Buffer,
): Promise<ShownMedia | { readonly mimeType: string; readonly fault: string } | null> {
  const kind = mediaKind(bytes);
  if (kind === null) return null;
  const { mimeType } = kind;
  const fault = kind.fault(bytes);
  if (fault === null) return { mimeType, bytes };
  const closed = fault === ENDS_EARLY ? (await import("./cut-image.ts")).closedImage(bytes, mimeType) : null;
  if (closed === null || kind.fault(closed) !== null) return { mimeType, fault };
  return { mimeType, bytes: closed, note: "The image is cut off: a part of it is missing." };
}
