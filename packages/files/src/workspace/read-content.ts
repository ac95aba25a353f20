import {
  type FileContent,
  type LineRange,
  type TextLines,
  WorkspaceError,
} from "@burin/contract/machine/workspace";
import { decodeBytes } from "../encodings/encodings.ts";
import { formatOfHead, type TextFormat, textOf } from "../encodings/text-format.ts";
import { isNotebook } from "../parsing/notebook.ts";
import { isSvg, isWholeSvg, type MediaKind, mediaKind, SVG_MIME_TYPE } from "./media-kind.ts";
import { fill } from "./read-opened.ts";
import type { ShownLines } from "./read-record.ts";
import { shownMedia } from "./shown-media.ts";
import { readLines, type StartedFile } from "./text-file.ts";

/** Before base64, which adds a third. */
const MOST_MEDIA_BYTES = 9.9 * 1024 * 1024;
/** A file up to this size is read at once. */
const HEAD_BYTES = 64 * 1024;
const MOST_WHOLE_BYTES = 10 * 1024 * 1024;
/** Text of this size is rendered in a few milliseconds, whatever it contains. */
const MOST_INLINE_CHARACTERS = 64 * 1024;
const MEDIA_NAME = /\.(?:png|jpe?g|gif|webp|bmp|pdf)$/i;

export interface ContentRequest {
  readonly descriptor: number;
  /** The path as it was requested; only for messages. */
  readonly path: string;
  readonly size: number;
  readonly range: LineRange;
  readonly signal: AbortSignal;
}

export interface ContentRead {
  readonly content: FileContent;
  /** Which lines were shown in full; call it before the file is read again. */
  readonly shown: (() => ShownLines) | null;
  /** All bytes of the file, if all of it was shown. */
  readonly whole: Buffer | null;
}

/** Reads a file according to its first bytes. A file that cannot be shown is not read further. */
export async function readContent(request: ContentRequest): Promise<ContentRead> {
  const file = await begin(request);
  if (file.head.length === 0 && MEDIA_NAME.test(request.path))
    throw unusable(`${request.path} is empty (0 bytes), so there is nothing to show.`);
  const kind = mediaKind(file.head);
  if (kind !== null) return { content: await media(kind, file, request), shown: null, whole: null };
  const format = formatOfHead(file.head);
  if (format === null) return { content: { kind: "binary" }, shown: null, whole: null };
  const special = await specialText(file, format, request);
  if (special !== null) return special;
  const { lines, shown } = await readLines(file, format, request);
  return { content: lines, shown, whole: file.isWhole && isAll(lines) ? file.head : null };
}

function unusable(message: string): WorkspaceError {
  return new WorkspaceError("unusable_media", message);
}

async function begin({ descriptor, size }: ContentRequest): Promise<StartedFile> {
  const isSmall = size > 0 && size < HEAD_BYTES;
  const room = Buffer.allocUnsafe(isSmall ? size + 1 : HEAD_BYTES);
  const head = await fill(descriptor, room);
  return { descriptor, head, isWhole: head.length < room.length };
}

/** The first bytes and the rest. A file that is larger than the limit is not read. */
async function allOf({ descriptor, head, isWhole }: StartedFile, { size }: ContentRequest): Promise<Buffer> {
  if (isWhole) return head;
  const room = Buffer.allocUnsafe(Math.max(0, size - head.length));
  return Buffer.concat([head, await fill(descriptor, room, head.length)]);
}

async function media(kind: MediaKind, file: StartedFile, request: ContentRequest): Promise<FileContent> {
  const { path, size } = request;
  const { mimeType } = kind;
  if (size > MOST_MEDIA_BYTES) {
    const megabytes = (size / 1024 / 1024).toFixed(1);
    throw unusable(
      `${path} (${mimeType}) has ${megabytes} MB; at most 9.9 MB can be shown. Make it smaller first.`,
    );
  }
  const shown = await shownMedia(await allOf(file, request));
  if (shown === null || "fault" in shown) {
    const why = shown === null ? "it has changed" : shown.fault;
    throw unusable(`${path} is a damaged ${mimeType} file: ${why}. It cannot be shown.`);
  }
  const { bytes, note } = shown;
  const content = { kind: "media", mimeType, base64: bytes.toString("base64"), bytes: bytes.length } as const;
  return note === undefined ? content : { ...content, note };
}

type HeadFormat = TextFormat | "narrow";

/** Returns an SVG image or a notebook; null for ordinary text. */
async function specialText(
  file: StartedFile,
  format: HeadFormat,
  request: ContentRequest,
): Promise<ContentRead | null> {
  if (request.size > MOST_WHOLE_BYTES) return null;
  const start = headText(file, format);
  if (isSvg(start) && !request.range.svgAsText) return svg(await allOf(file, request));
  return isNotebook(start) ? notebook(await allOf(file, request), request) : null;
}

function headText({ head }: StartedFile, format: HeadFormat): string {
  if (format === "narrow") return head.toString("latin1");
  return decodeBytes(head.subarray(format.markBytes), format.encoding);
}

function svg(bytes: Buffer): ContentRead | null {
  const text = textOf(bytes);
  if (text === null || !isWholeSvg(text)) return null;
  const base64 = bytes.toString("base64");
  const content: FileContent = { kind: "media", mimeType: SVG_MIME_TYPE, base64, bytes: bytes.length };
  return { content, shown: null, whole: null };
}

async function notebook(bytes: Buffer, request: ContentRequest): Promise<ContentRead | null> {
  const rendered = await renderedNotebook(textOf(bytes) ?? "", request.signal);
  if (rendered === null) return null;
  const head = Buffer.from(rendered, "utf8");
  const format = { encoding: "utf-8", markBytes: 0 };
  const { lines } = await readLines({ descriptor: request.descriptor, head, isWhole: true }, format, request);
  return { content: lines, shown: null, whole: isAll(lines) ? bytes : null };
}

/** A notebook that takes too long or too much memory to render is shown as text. */
async function renderedNotebook(text: string, signal: AbortSignal): Promise<string | null> {
  if (text.length > MOST_INLINE_CHARACTERS) {
    const { canParseAside, parseAside } = await import("../parsing/parse-aside.ts");
    const rendering = canParseAside() && parseAside("notebook", text, { what: "The notebook", signal });
    if (rendering) return rendering.catch(() => null);
  }
  return (await import("../parsing/notebook.ts")).notebookText(text);
}

function isAll({ firstLine, lastLine, totalLines, linesCut }: TextLines): boolean {
  return firstLine === 1 && lastLine === totalLines && linesCut === 0;
}
