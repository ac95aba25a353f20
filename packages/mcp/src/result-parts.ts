import type { PartUnion } from "@burin/contract/messages/message";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import { withFallback } from "@burin/contract/with-fallback";
import { detectMediaKind, isSvg, SVG_MIME_TYPE } from "@burin/files/workspace/media-kind";

/** The maximum number of base64 characters of all media in one result. */
const MAX_MEDIA_CHARACTERS = 14_000_000;
const MAX_BLOCKS = 1000;
/** Media types that models accept. */
const MEDIA = /^(?:image|audio|video)\/[\w.+-]+$|^application\/pdf$/;
/** Media types whose content is checked: a service that gets a broken file rejects the whole conversation. */
const CHECKED = /^(?:image\/|application\/pdf)/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Reads a result of `tools/call` in order. It may have any shape, whatever the protocol says. */
export function readCallResult(result: unknown) {
  if (!isRecord(result)) return { parts: ["(the server answered nothing)"], isError: true };
  const { content, structuredContent: structured, isError, _meta, ...others } = result;
  const blocks = readContentBlocks(content);
  if (structured !== undefined && !blocks.some((part) => typeof part === "string")) {
    blocks.unshift(formatJson(structured, 2));
  }
  if (blocks.length === 0)
    blocks.push(Object.keys(others).length === 0 ? "(no content)" : formatJson(others, 2));
  return { parts: joinTexts(blocks), isError: Boolean(isError) && isError !== "false" };
}

/** Converts content blocks of results, prompts and resources to parts. */
export function readContentBlocks(content: unknown): PartUnion[] {
  const given = Array.isArray(content) ? content : content === undefined ? [] : [content];
  let mediaLeft = MAX_MEDIA_CHARACTERS;
  const parts = given.slice(0, MAX_BLOCKS).map((block): PartUnion => {
    const part = readBlockPart(block);
    if (typeof part === "string") return part;
    const size = part.inlineData?.data?.length ?? 0;
    if (size > mediaLeft)
      return `[${part.inlineData?.mimeType}, ${countBytes(size)} bytes: left out, too large]`;
    mediaLeft -= size;
    return part;
  });
  if (given.length > MAX_BLOCKS) parts.push(`[${given.length - MAX_BLOCKS} more blocks were left out]`);
  return parts;
}

function readBlockPart(block: unknown): PartUnion {
  if (!isRecord(block)) return toText(block);
  switch (block.type) {
    case "text":
      return toText(block.text);
    case "image":
    case "audio":
      return readMedia(block.mimeType, block.data, "");
    case "resource":
      return readResourcePart(block.resource);
    case "resource_link":
      return formatLink(block);
    default:
      return keepHeadAndTail(formatJson(block), 2000, "of a block of unknown type");
  }
}

/** Converts a resource: its text after its address, or its bytes if models accept them. */
export function readResourcePart(resource: unknown): PartUnion {
  if (!isRecord(resource)) return toText(resource);
  const uri = toText(resource.uri);
  if (typeof resource.text === "string") return `[resource ${uri}]\n${resource.text}`;
  return readMedia(resource.mimeType, resource.blob, ` ${uri}`);
}

function readMedia(mimeType: unknown, data: unknown, where: string): PartUnion {
  const type = toText(mimeType) || "data";
  if (typeof data !== "string" || data === "") return `[${type}${where}: no content]`;
  if (!MEDIA.test(type)) return `[${type}${where}, ${countBytes(data.length)} bytes: not shown]`;
  if (!BASE64.test(data)) return `[${type}${where}: not valid base64]`;
  if (!CHECKED.test(type)) return { inlineData: { mimeType: type, data } };
  const bytes = Buffer.from(data, "base64");
  const kind = detectMediaKind(bytes);
  if (kind === null && type === SVG_MIME_TYPE && isSvg(bytes.toString())) return bytes.toString();
  const fault = kind === null ? "its content is of another kind" : kind.findFault(bytes);
  if (kind === null || fault !== null) return `[${type}${where}: damaged, ${fault}]`;
  return { inlineData: { mimeType: kind.mimeType, data } };
}

function formatLink({ uri, name, title, description, mimeType }: Record<string, unknown>): string {
  const label = toText(title) || toText(name);
  const type = mimeType === undefined ? "" : ` (${toText(mimeType)})`;
  const about = description === undefined ? "" : `: ${toText(description)}`;
  return `[resource ${label} ${toText(uri)}${type}]${about}`;
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "" : keepHeadAndTail(formatJson(value), 2000, "not a text");
}

/** Formats a value as JSON. Parsed JSON can be serialized again, unless it is nested too deeply. */
function formatJson(value: unknown, indent = 0): string {
  return withFallback(
    "(a value nested too deeply to be shown)",
    () => JSON.stringify(value, null, indent) ?? "",
  );
}

function countBytes(base64Characters: number): number {
  return Math.floor((base64Characters * 3) / 4);
}

/** Joins neighboring texts, so that a long result is cut only once. */
function joinTexts(parts: readonly PartUnion[]): PartUnion[] {
  const joined: PartUnion[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = `${last}\n${part}`;
    else joined.push(part);
  }
  return joined;
}
