import { withoutUnseen } from "../text/untrusted-text.ts";
import { decodeText, type TextReader } from "./decode-text.ts";
import type { WebAnswer } from "./fetch-web.ts";
import { indentJson } from "./indent-json.ts";
import { WebError } from "./web-error.ts";

export type PageFormat = "markdown" | "text" | "html";

export interface Page {
  /** Where it came from, after redirects. */
  readonly url: string;
  readonly status: number;
  readonly mimeType: string;
  readonly title: string;
  readonly text: string;
  /** What a model can look at itself. */
  readonly media?: { readonly mimeType: string; readonly data: string };
  /** What the reader should know of the text. */
  readonly notes: readonly string[];
}

export interface PageReader extends TextReader {
  /** The kind of an image or a document by its bytes, with what is wrong with it, or null. */
  readonly mediaKind: (
    bytes: Buffer,
  ) => { readonly mimeType: string; fault(bytes: Buffer): string | null } | null;
}

const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json$/;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;
const HTML_START = /^\ufeff?\s*(?:<!--[^>]{0,2000}-->\s*)*<(?:!doctype html|html|head|body)[\s>]/i;

/** The content of an answer as a model can read it. Throws a WebError for what nobody can read. */
export async function readPage(
  { answer, format }: { readonly answer: WebAnswer; readonly format: PageFormat },
  reader: PageReader,
  signal: AbortSignal,
): Promise<Page> {
  const contentType = answer.headers["content-type"] ?? "";
  // Said by the server, and told outside the marks of what is not to be obeyed: nothing but a type may stand there.
  const mimeType = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,80})\s*(?:;|$)/.exec(contentType)?.[1]?.toLowerCase() ?? "";
  const { url, status, bytes, isCut } = answer;
  const kind = reader.mediaKind(bytes);
  const base = { url: url.href, status, mimeType: kind?.mimeType ?? mimeType, title: "", notes: [] };
  if (kind !== null) {
    if (isCut)
      throw new WebError(
        "too_large",
        `${url.href} (${kind.mimeType}) is larger than ${inMb(bytes)}, the limit.`,
      );
    const text =
      kind.mimeType === "application/pdf" ? await (await import("./pdf-text.ts")).pdfText(bytes, signal) : "";
    if (text !== "") return { ...base, text: withoutUnseen(text) };
    const fault = kind.fault(bytes);
    if (fault !== null)
      throw new WebError("broken_content", `${url.href} (${kind.mimeType}) is damaged: ${fault}.`);
    return { ...base, text, media: { mimeType: kind.mimeType, data: bytes.toString("base64") } };
  }
  const raw = decodeText(bytes, contentType, reader);
  if (raw === null) {
    const what = mimeType || "of unknown kind";
    throw new WebError(
      "unreadable",
      `${url.href} is ${what}, ${bytes.length} bytes, and no text: it cannot be shown.`,
    );
  }
  const { title, text, notes } = await shapedText(raw, { url, mimeType, format });
  const cut = isCut ? [`Only the first ${inMb(bytes)} were read.`] : [];
  return {
    ...base,
    title: withoutUnseen(title),
    text: withoutUnseen(text).trim(),
    notes: [...notes, ...cut],
  };
}

async function shapedText(
  raw: string,
  { url, mimeType, format }: { readonly url: URL; readonly mimeType: string; readonly format: PageFormat },
): Promise<{ title: string; text: string; notes: string[] }> {
  if (format === "html") return { title: "", text: raw, notes: [] };
  if (JSON_TYPE.test(mimeType)) return { title: "", text: indentJson(raw), notes: [] };
  const mayBeHtml =
    HTML_TYPE.test(mimeType) || ((mimeType === "" || mimeType === "text/plain") && HTML_START.test(raw));
  if (!mayBeHtml) return { title: "", text: raw, notes: [] };
  const { readHtmlPage } = await import("./html/html-to-markdown.ts");
  const { title, text, isMainPart } = readHtmlPage(raw, url, format === "text");
  const notes = isMainPart
    ? ['Navigation and the like were left out; "format": "html" gives all of it.']
    : [];
  if (text === "") notes.push("The page holds no text; it may be made by a script in a browser.");
  return { title, text, notes };
}

function inMb(bytes: Buffer): string {
  return `${Math.round(bytes.length / 1024 / 1024)} MB`;
}
