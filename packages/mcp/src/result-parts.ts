import type { PartUnion } from "@burin/contract/messages/message";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { orElse } from "@burin/contract/or-else";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import { isSvg, mediaKind, SVG_MIME_TYPE } from "@burin/files/workspace/media-kind";

/** Base64 characters of all media of one result together. */
const MOST_MEDIA_CHARACTERS = 14_000_000;
const MOST_BLOCKS = 1000;
/** Media types that models accept. */
const MEDIA = /^(?:image|audio|video)\/[\w.+-]+$|^application\/pdf$/;
/** A service that gets a broken one refuses the whole conversation. */
const CHECKED = /^(?:image\/|application\/pdf)/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Reads a result of `tools/call`, in its order. It may have any shape, whatever the protocol says. */
export function readCallResult(result: unknown) {
  if (!isRecord(result)) return { parts: ["(the server answered nothing)"], isError: true };
  const { content, structuredContent: structured, isError, _meta, ...others } = result;
  const blocks = contentBlocks(content);
  if (structured !== undefined && !blocks.some((part) => typeof part === "string")) {
    blocks.unshift(jsonText(structured, 2));
  }
  if (blocks.length === 0)
    blocks.push(Object.keys(others).length === 0 ? "(no content)" : jsonText(others, 2));
  return { parts: joinedTexts(blocks), isError: Boolean(isError) && isError !== "false" };
}

/** The parts of content blocks in results, prompts and resources. */
export function contentBlocks(content: unknown): PartUnion[] {
  const given = Array.isArray(content) ? content : content === undefined ? [] : [content];
  let mediaLeft = MOST_MEDIA_CHARACTERS;
  const parts = given.slice(0, MOST_BLOCKS).map((block): PartUnion => {
    const part = blockPart(block);
    if (typeof part === "string") return part;
    const size = part.inlineData?.data?.length ?? 0;
    if (size > mediaLeft)
      return `[${part.inlineData?.mimeType}, ${bytesOf(size)} bytes: left out, too large]`;
    mediaLeft -= size;
    return part;
  });
  if (given.length > MOST_BLOCKS) parts.push(`[${given.length - MOST_BLOCKS} more blocks were left out]`);
  return parts;
}

function blockPart(block: unknown): PartUnion {
  if (!isRecord(block)) return textFrom(block);
  switch (block.type) {
    case "text":
      return textFrom(block.text);
    case "image":
    case "audio":
      return media(block.mimeType, block.data, "");
    case "resource":
      return resourcePart(block.resource);
    case "resource_link":
      return linkText(block);
    default:
      return keepHeadAndTail(jsonText(block), 2000, "of a block of unknown type");
  }
}

/** The content of one resource: its text after its address, or its bytes if models accept them. */
export function resourcePart(resource: unknown): PartUnion {
  if (!isRecord(resource)) return textFrom(resource);
  const uri = textFrom(resource.uri);
  if (typeof resource.text === "string") return `[resource ${uri}]\n${resource.text}`;
  return media(resource.mimeType, resource.blob, ` ${uri}`);
}

function media(mimeType: unknown, data: unknown, where: string): PartUnion {
  const type = textFrom(mimeType) || "data";
  if (typeof data !== "string" || data === "") return `[${type}${where}: no content]`;
  if (!MEDIA.test(type)) return `[${type}${where}, ${bytesOf(data.length)} bytes: not shown]`;
  if (!BASE64.test(data)) return `[${type}${where}: not valid base64]`;
  if (!CHECKED.test(type)) return { inlineData: { mimeType: type, data } };
  const bytes = Buffer.from(data, "base64");
  const kind = mediaKind(bytes);
  if (kind === null && type === SVG_MIME_TYPE && isSvg(bytes.toString())) return bytes.toString();
  const fault = kind === null ? "its content is of another kind" : kind.fault(bytes);
  if (kind === null || fault !== null) return `[${type}${where}: damaged, ${fault}]`;
  return { inlineData: { mimeType: kind.mimeType, data } };
}

function linkText({ uri, name, title, description, mimeType }: Record<string, unknown>): string {
  const label = textFrom(title) || textFrom(name);
  const type = mimeType === undefined ? "" : ` (${textFrom(mimeType)})`;
  const about = description === undefined ? "" : `: ${textFrom(description)}`;
  return `[resource ${label} ${textFrom(uri)}${type}]${about}`;
}

function textFrom(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "" : keepHeadAndTail(jsonText(value), 2000, "not a text");
}

/** Parsed JSON can be serialized again, unless its nesting is too deep. */
function jsonText(value: unknown, indent = 0): string {
  return orElse("(a value nested too deeply to be shown)", () => JSON.stringify(value, null, indent) ?? "");
}

function bytesOf(base64Characters: number): number {
  return Math.floor((base64Characters * 3) / 4);
}

/** One text for neighbors, so that a long result is cut once. */
function joinedTexts(parts: readonly PartUnion[]): PartUnion[] {
  const joined: PartUnion[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = `${last}\n${part}`;
    else joined.push(part);
  }
  return joined;
}
