import { withFallback } from "@burin/contract/with-fallback";
import { decodeBytes } from "@burin/files/encodings/encodings";
import { detectFormat } from "@burin/files/encodings/text-format";
import type { PageFormat, RawPage, ShapedPage } from "@burin/files/parsing/parse-aside";
import { hasParseWorker, parseInWorker } from "@burin/files/parsing/parse-aside";
import { detectMediaKind, type MediaKind } from "@burin/files/workspace/media-kind";
import { WebError } from "@burin/net/web-error";
import type { WebResponse } from "./fetch-web.ts";

export interface Page {
  /** The URL after redirects. */
  readonly url: string;
  readonly status: number;
  readonly mimeType: string;
  readonly title: string;
  readonly text: string;
  /** An image or document that a model can read itself. */
  readonly media?: { readonly mimeType: string; readonly data: string };
  /** Notes for the reader about the text. */
  readonly notes: readonly string[];
}

/** Text up to this size is read in a few milliseconds, whatever it contains. */
const MAX_INLINE_CHARACTERS = 64 * 1024;

/** Converts a response to a form that a model can read. Throws a WebError if there is none. */
export async function readPage(answer: WebResponse, format: PageFormat, signal: AbortSignal): Promise<Page> {
  const contentType = answer.headers["content-type"] ?? "";
  // Names the media type of a response. It comes from the server and is shown outside the marks around untrusted text,
  // so only a valid media type is accepted.
  const mimeType = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,80})\s*(?:;|$)/.exec(contentType)?.[1]?.toLowerCase() ?? "";
  const { url, status } = answer;
  const base = { url: url.href, status, mimeType, title: "", text: "", notes: listNotes(answer) };
  const bytes = mimeType === "application/pdf" ? trimBeforePdf(answer.bytes) : answer.bytes;
  const kind = detectMediaKind(bytes);
  try {
    if (kind !== null) return { ...base, ...(await readMedia({ ...answer, bytes }, kind, signal)) };
    const raw = decodeText(bytes, contentType);
    if (raw === null) {
      const what = mimeType || "of unknown kind";
      throw new WebError(
        "unreadable",
        `${url.href} is ${what}, ${bytes.length} bytes, not text: it cannot be shown.`,
      );
    }
    const { notes, ...shaped } = await shapePageAside({ raw, url: url.href, mimeType, format }, signal);
    return { ...base, ...shaped, notes: [...notes, ...base.notes] };
  } catch (error) {
    // For an error response, the status matters more than its content.
    if (status >= 400 && error instanceof WebError) return base;
    throw error;
  }
}

/** Returns notes about missing content. */
function listNotes({ status, bytes, isCut, isBroken }: WebResponse): string[] {
  if (isBroken) return ["The connection broke off: this is what came before."];
  if (isCut) return [`Only the first ${formatMegabytes(bytes)} were read.`];
  if (bytes.length === 0) return ["The server sent no content."];
  return status === 206 ? ["The server sent only a part of it."] : [];
}

/** Removes what some servers write before a PDF: a mark, an empty line or a warning. */
function trimBeforePdf(bytes: Buffer): Buffer {
  return bytes.subarray(Math.max(0, bytes.subarray(0, 1024).indexOf("%PDF-")));
}

async function readMedia(
  { url, bytes, isCut, isBroken }: WebResponse,
  { mimeType, findFault }: MediaKind,
  signal: AbortSignal,
): Promise<Pick<Page, "mimeType" | "text" | "media">> {
  if (isCut && !isBroken)
    throw new WebError(
      "too_large",
      `${url.href} (${mimeType}) is larger than the limit of ${formatMegabytes(bytes)}.`,
    );
  const text = mimeType === "application/pdf" ? await tryExtractPdfText(bytes, url.href, signal) : "";
  if (text !== "") return { mimeType, text };
  const wrong = findFault(bytes);
  if (wrong !== null) throw new WebError("broken_content", `${url.href} (${mimeType}) is damaged: ${wrong}.`);
  return { mimeType, text, media: { mimeType, data: bytes.toString("base64") } };
}

async function shapePageAside(page: RawPage, signal: AbortSignal): Promise<ShapedPage> {
  if (page.raw.length > MAX_INLINE_CHARACTERS) {
    if (hasParseWorker()) return parseInWorker("page", page, { what: page.url, signal });
  }
  return (await import("./shape-page.ts")).shapePage(page);
}

/** Parses a PDF aside, because it may expand to any size. Returns "" for only images, or if that is impossible here. */
async function tryExtractPdfText(bytes: Buffer, url: string, signal: AbortSignal): Promise<string> {
  return hasParseWorker() ? parseInWorker("pdf", bytes, { what: `The PDF ${url}`, signal }) : "";
}

function formatMegabytes(bytes: Buffer): string {
  return `${Math.round(bytes.length / 1024 / 1024)} MB`;
}

/** How much of a page's beginning is searched for its encoding. */
const HEAD_BYTES = 4096;
const DECLARED_CHARSET =
  /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})|@charset\s+"([\w.:-]{2,40})"/i;
/** Encodings that servers name by default, whatever they send. */
const DEFAULT_CHARSETS = new Set(["windows-1252", "iso-8859-1"]);

/** Decodes text by its byte order mark, its declared encoding, or its bytes; null if it is not text. */
export function decodeText(bytes: Uint8Array, contentType: string): string | null {
  const seen = detectFormat(bytes);
  if (seen === null) return null;
  const isCertain = seen.markBytes > 0 || seen.encoding.startsWith("utf-16");
  const encoding = isCertain ? seen.encoding : chooseEncoding(bytes, contentType, seen.encoding);
  return decodeBytes(bytes.subarray(seen.markBytes), encoding);
}

/** Returns the declared encoding, unless the bytes show that it is impossible or it is only the server's default. */
function chooseEncoding(bytes: Uint8Array, contentType: string, seen: string): string {
  const served = normalizeEncoding(/charset\s*=\s*["']?([\w.:-]{2,40})/i.exec(contentType)?.[1]);
  const isVague = served === null || DEFAULT_CHARSETS.has(served) || (served === "utf-8" && seen !== served);
  const said = (isVague ? readDeclaredCharset(bytes) : null) ?? served;
  if (said === null || said.startsWith("utf-16") || said === "utf-8") return seen;
  if (!DEFAULT_CHARSETS.has(said)) return said;
  return seen === "utf-8" || isMostlyBeyondAscii(bytes) ? seen : said;
}

/** Whether most letters are beyond ASCII. Western text has only a few such letters. */
function isMostlyBeyondAscii(bytes: Uint8Array): boolean {
  let beyond = 0;
  let letters = 0;
  for (const byte of bytes) {
    if (byte >= 0x80) beyond += 1;
    else if ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) letters += 1;
  }
  return beyond > letters;
}

function readDeclaredCharset(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, HEAD_BYTES)).toString(
    "latin1",
  );
  const [, meta, xml, css] = DECLARED_CHARSET.exec(head) ?? [];
  return normalizeEncoding(meta ?? xml ?? css);
}

function normalizeEncoding(label: string | undefined): string | null {
  if (label === undefined) return null;
  return withFallback(null, () => new TextDecoder(label).encoding);
}
