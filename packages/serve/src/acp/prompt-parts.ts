import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { Part } from "@burin/core";

/** Separates attachments from the user's own text. */
const ATTACHED = "\n\nWhat the editor has attached:\n\n";

/** A prompt for the model: files by their paths, attachments after the text, images and documents as media. */
export function promptParts(blocks: readonly ContentBlock[]): Part[] {
  const attached: string[] = [];
  const media: Part[] = [];
  const words: string[] = [];
  for (const block of blocks) {
    if (block.type === "text") words.push(block.text);
    else if (block.type === "resource_link") words.push(nameOf(block.uri));
    else if (block.type !== "resource") media.push(mediaPart(block.mimeType, block.data));
    else if ("text" in block.resource) {
      const name = nameOf(block.resource.uri);
      words.push(name);
      attached.push(`--- ${name} ---\n${block.resource.text}`);
    } else media.push(mediaPart(block.resource.mimeType, block.resource.blob));
  }
  const text = words.join("") + (attached.length === 0 ? "" : ATTACHED + attached.join("\n\n"));
  return [{ text }, ...media];
}

function nameOf(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}

function mediaPart(mimeType: string | null | undefined, data: string): Part {
  return { inlineData: { mimeType: mimeType ?? "application/octet-stream", data } };
}
