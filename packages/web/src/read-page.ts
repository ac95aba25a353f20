import { WebError } from "@burin/machine/http/web-error";
import type { PageFormat, RawPage, ShapedPage } from "@burin/machine/parsing/parse-order";
import { decodeText, type TextReader } from "./decode-text.ts";
import type { WebAnswer } from "./fetch-web.ts";

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

/** So little is read in a few milliseconds, whatever it holds. */
const MOST_INLINE_CHARACTERS = 64 * 1024;

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
        `${url.href} (${kind.mimeType}) is larger than the limit of ${inMb(bytes)}.`,
      );
    const text = kind.mimeType === "application/pdf" ? await pdfText(bytes, url.href, signal) : "";
    if (text !== "") return { ...base, text };
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
      `${url.href} is ${what}, ${bytes.length} bytes, not text: it cannot be shown.`,
    );
  }
  const { notes, ...shaped } = await shapedText({ raw, url: url.href, mimeType, format }, signal);
  const cut = isCut ? [`Only the first ${inMb(bytes)} were read.`] : [];
  return { ...base, ...shaped, notes: [...notes, ...cut] };
}

async function shapedText(page: RawPage, signal: AbortSignal): Promise<ShapedPage> {
  if (page.raw.length > MOST_INLINE_CHARACTERS) {
    const { canParseAside, parseAside } = await import("@burin/machine/parsing/parse-aside");
    if (canParseAside()) return parseAside("page", page, { what: page.url, signal });
  }
  return (await import("./shape-page.ts")).shapePage(page);
}

/** Also a short one may unpack to anything. Empty where it holds pictures, or nobody can read it here. */
async function pdfText(bytes: Buffer, url: string, signal: AbortSignal): Promise<string> {
  const { canParseAside, parseAside } = await import("@burin/machine/parsing/parse-aside");
  return canParseAside() ? parseAside("pdf", bytes, { what: `The PDF ${url}`, signal }) : "";
}

function inMb(bytes: Buffer): string {
  return `${Math.round(bytes.length / 1024 / 1024)} MB`;
}
