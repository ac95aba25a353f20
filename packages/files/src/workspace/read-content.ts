import {
  type FileContent,
  type LineRange,
  type TextLines,
  WorkspaceError,
} from "@burin/contract/machine/workspace";
import { decodeBytes } from "../encodings/encodings.ts";
import { decodeFile, detectHeadFormat, type TextFormat } from "../encodings/text-format.ts";
import { mayBeNotebook, renderNotebook } from "../parsing/documents.ts";
import {
  detectMediaKind,
  isSvg,
  isWholeSvg,
  type MediaKind,
  prepareMedia,
  SVG_MIME_TYPE,
} from "./media-kind.ts";
import { fillBuffer } from "./read-opened.ts";
import type { ShownLines } from "./read-record.ts";
import { readLines, type StartedFile } from "./text-file.ts";

/** The maximum number of bytes of a media file, before base64 adds a third. */
const MAX_MEDIA_BYTES = 9.9 * 1024 * 1024;
/** A file up to this size is read at once. */
const HEAD_BYTES = 64 * 1024;
const MAX_WHOLE_BYTES = 10 * 1024 * 1024;
/** Text of this size is rendered in a few milliseconds, whatever it contains. */
const MAX_INLINE_CHARACTERS = 64 * 1024;
const MEDIA_NAME = /\.(?:png|jpe?g|gif|webp|bmp|pdf)$/i;

export interface ContentRequest {
  readonly descriptor: number;
  /** The path as it was requested; only for messages. */
  readonly path: string;
  readonly size: number;
  readonly range: LineRange;
  readonly signal: AbortSignal;
}

export interface ReadContent {
  readonly content: FileContent;
  /** Returns which lines were shown in full. Call it before the file is read again. */
  readonly shown: (() => ShownLines) | null;
  /** All bytes of the file, if all of it was shown. */
  readonly whole: Buffer | null;
}

/** Reads a file according to its first bytes. A file that cannot be shown is not read further. */
export async function readContent(request: ContentRequest): Promise<ReadContent> {
  return readByKind(await readFileHead(request), request);
}

/** Returns the content of bytes that are in memory, as `readContent` does for a file. */
export function readBytesContent(
  bytes: Buffer,
  request: Pick<ContentRequest, "path" | "range" | "signal">,
): Promise<ReadContent> {
  const file = { descriptor: -1, head: bytes, isWhole: true };
  return readByKind(file, { ...request, descriptor: -1, size: bytes.length });
}

async function readByKind(file: StartedFile, request: ContentRequest): Promise<ReadContent> {
  if (file.head.length === 0 && MEDIA_NAME.test(request.path))
    throw createUnusableError(`${request.path} is empty (0 bytes), so there is nothing to show.`);
  const kind = detectMediaKind(file.head);
  if (kind !== null) return { content: await readMedia(kind, file, request), shown: null, whole: null };
  const format = detectHeadFormat(file.head);
  if (format === null) return { content: { kind: "binary" }, shown: null, whole: null };
  const special = await readSvgOrNotebook(file, format, request);
  if (special !== null) return special;
  const { lines, shown } = await readLines(file, format, request);
  return { content: lines, shown, whole: file.isWhole && isWholeFile(lines) ? file.head : null };
}

function createUnusableError(message: string): WorkspaceError {
  return new WorkspaceError("unusable_media", message);
}

async function readFileHead({ descriptor, size }: ContentRequest): Promise<StartedFile> {
  const isSmall = size > 0 && size < HEAD_BYTES;
  const room = Buffer.allocUnsafe(isSmall ? size + 1 : HEAD_BYTES);
  const head = await fillBuffer(descriptor, room);
  return { descriptor, head, isWhole: head.length < room.length };
}

/** Returns the first bytes and the rest. A file that is larger than the limit is not read. */
async function readWholeFile(
  { descriptor, head, isWhole }: StartedFile,
  { size }: ContentRequest,
): Promise<Buffer> {
  if (isWhole) return head;
  const room = Buffer.allocUnsafe(Math.max(0, size - head.length));
  return Buffer.concat([head, await fillBuffer(descriptor, room, head.length)]);
}

async function readMedia(kind: MediaKind, file: StartedFile, request: ContentRequest): Promise<FileContent> {
  const { path, size } = request;
  const { mimeType } = kind;
  if (size > MAX_MEDIA_BYTES) {
    const megabytes = (size / 1024 / 1024).toFixed(1);
    throw createUnusableError(
      `${path} (${mimeType}) has ${megabytes} MB; at most 9.9 MB can be shown. Make it smaller first.`,
    );
  }
  const shown = await prepareMedia(await readWholeFile(file, request));
  if (shown === null || "fault" in shown) {
    const why = shown === null ? "it has changed" : shown.fault;
    throw createUnusableError(`${path} is a damaged ${mimeType} file: ${why}. It cannot be shown.`);
  }
  const { bytes, note } = shown;
  const content = { kind: "media", mimeType, base64: bytes.toString("base64"), bytes: bytes.length } as const;
  return note === undefined ? content : { ...content, note };
}

type HeadFormat = TextFormat | "narrow";

/** Returns an SVG image or a notebook; null for ordinary text. */
async function readSvgOrNotebook(
  file: StartedFile,
  format: HeadFormat,
  request: ContentRequest,
): Promise<ReadContent | null> {
  if (request.size > MAX_WHOLE_BYTES) return null;
  const start = decodeHead(file, format);
  if (isSvg(start) && !request.range.svgAsText) return readSvg(await readWholeFile(file, request));
  return mayBeNotebook(start) ? readNotebookFile(await readWholeFile(file, request), request) : null;
}

function decodeHead({ head }: StartedFile, format: HeadFormat): string {
  if (format === "narrow") return head.toString("latin1");
  return decodeBytes(head.subarray(format.markBytes), format.encoding);
}

function readSvg(bytes: Buffer): ReadContent | null {
  const text = decodeFile(bytes);
  if (text === null || !isWholeSvg(text)) return null;
  const base64 = bytes.toString("base64");
  const content: FileContent = { kind: "media", mimeType: SVG_MIME_TYPE, base64, bytes: bytes.length };
  return { content, shown: null, whole: null };
}

async function readNotebookFile(bytes: Buffer, request: ContentRequest): Promise<ReadContent | null> {
  const rendered = await tryRenderNotebook(decodeFile(bytes) ?? "", request.signal);
  if (rendered === null) return null;
  const head = Buffer.from(rendered, "utf8");
  const format = { encoding: "utf-8", markBytes: 0 };
  const { lines } = await readLines({ descriptor: request.descriptor, head, isWhole: true }, format, request);
  return { content: lines, shown: null, whole: isWholeFile(lines) ? bytes : null };
}

/** A notebook that takes too long or too much memory to render is shown as text. */
async function tryRenderNotebook(text: string, signal: AbortSignal): Promise<string | null> {
  if (text.length > MAX_INLINE_CHARACTERS) {
    const { hasParseWorker, parseInWorker } = await import("../parsing/parse-aside.ts");
    const rendering = hasParseWorker() && parseInWorker("notebook", text, { what: "The notebook", signal });
    if (rendering) return rendering.catch(() => null);
  }
  return renderNotebook(text);
}

function isWholeFile({ firstLine, lastLine, totalLines, linesCut }: TextLines): boolean {
  return firstLine === 1 && lastLine === totalLines && linesCut === 0;
}
