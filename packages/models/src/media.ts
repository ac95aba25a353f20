import type { InlineData } from "@burin/contract/messages/parts";

/** The image types that vision services agree on; another one would make them refuse the whole request. */
const SHOWN_IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function isShownImage(mimeType: string | undefined): boolean {
  return mimeType !== undefined && SHOWN_IMAGES.has(mimeType);
}

/** What the model reads in the place of media that it cannot be shown. `origin` is the tool it came from. */
export function mediaNote(
  { mimeType = "application/octet-stream", data = "" }: InlineData,
  origin: string,
): string {
  const from = origin === "" ? "" : ` from ${origin}`;
  const size = Math.floor((data.replace(/=+$/, "").length * 3) / 4);
  return `[A file${from} of type ${mimeType}, ${size} bytes, stood here; this connection cannot carry it.]`;
}
