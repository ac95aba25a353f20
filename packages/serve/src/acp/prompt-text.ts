import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";

const OWN_ALONE = 0o700;
const MINE = 0o600;

/** Before what is not part of the words of the user. */
const ATTACHED = "\n\nWhat the editor has attached:\n\n";

/** A prompt as the model gets it: files by their paths, what is attached behind the words. */
export async function promptText(blocks: readonly ContentBlock[], home: string): Promise<string> {
  const attached: string[] = [];
  const words: string[] = [];
  for (const block of blocks) {
    if (block.type === "text") words.push(block.text);
    else if (block.type === "resource_link") words.push(nameOf(block.uri));
    else if (block.type !== "resource") words.push(await kept(block.data, block.mimeType, home));
    else if ("text" in block.resource) {
      const name = nameOf(block.resource.uri);
      words.push(name);
      attached.push(`--- ${name} ---\n${block.resource.text}`);
    } else words.push(await kept(block.resource.blob, block.resource.mimeType ?? "", home));
  }
  return words.join("") + (attached.length === 0 ? "" : ATTACHED + attached.join("\n\n"));
}

function nameOf(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}

/** Puts bytes where the model may read them, as it would any other image or document. */
async function kept(data: string, mimeType: string, home: string): Promise<string> {
  const folder = join(home, "output");
  await mkdir(folder, { recursive: true, mode: OWN_ALONE });
  const [, ending = "bin"] = /^[^/]+\/([a-z0-9]+)/.exec(mimeType) ?? [];
  const path = join(folder, `${randomUUID()}.${ending}`);
  await writeFile(path, Buffer.from(data, "base64"), { mode: MINE });
  return ` [attached ${mimeType}: ${path} - read it with read_file] `;
}
