import type { Part } from "@burin/core";
import { readMediaParts } from "@burin/core/internal";
import { UsageError } from "../../terminal/exit-code.ts";

const UTF16: readonly (readonly [mark: string, encoding: string])[] = [
  ["fffe", "utf-16le"],
  ["feff", "utf-16be"],
];

/** Converts piped bytes: an image or PDF to media, any text to a string. Throws UsageError for anything else. */
export async function readPipedFile(
  bytes: Buffer,
): Promise<{ readonly text: string; readonly files: readonly Part[] }> {
  const files = await readMediaParts(bytes).catch((error: Error) => {
    throw new UsageError(`stdin cannot be shown to the model: ${error.message}.`);
  });
  if (files !== null) return { text: "", files };
  const encoding = UTF16.find(([mark]) => bytes.toString("hex", 0, 2) === mark)?.[1];
  if (encoding === undefined && bytes.includes(0))
    throw new UsageError("stdin is neither text nor an image (PNG, JPEG, GIF, WebP, BMP) or a PDF.");
  return { text: new TextDecoder(encoding).decode(bytes), files: [] };
}
