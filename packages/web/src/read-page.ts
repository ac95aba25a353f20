import { mediaKind } from "@burin/machine/files/media-kind";
import { WebError } from "@burin/machine/http/web-error";
import type { PageFormat, RawPage, ShapedPage } from "@burin/machine/parsing/parse-order";
import { decodeText } from "./decode-text.ts";
import type { WebAnswer } from "./fetch-web.ts";

export interface Page {
  /** The address after redirects. */
  readonly url: string;
  readonly status: number;
  readonly mimeType: string;
  readonly title: string;
  readonly text: string;
  /** An image or document that a model can read itself. */
  readonly media?: { readonly mimeType: string; readonly data: string };
  /** What the reader should know about the text. */
  readonly notes: readonly string[];
}

/** Text of this size is read in a few milliseconds, whatever it contains. */
const MOST_INLINE_CHARACTERS = 64 * 1024;

/** The content of a response in a form that a model can read. Throws a WebError when there is none. */
export async function readPage(answer: WebAnswer, format: PageFormat, signal: AbortSignal): Promise<Page> {
  const contentType = answer.headers["content-type"] ?? "";
  // From the server, and outside the marks around untrusted text, so only a media type is accepted.
  const mimeType = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,80})\s*(?:;|$)/.exec(contentType)?.[1]?.toLowerCase() ?? "";
  const { url, status, bytes, isCut } = answer;
  const kind = mediaKind(bytes);
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
  const raw = decodeText(bytes, contentType);
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

/** Even a short PDF may expand to any size. Empty when it contains only images, or cannot be read here. */
async function pdfText(bytes: Buffer, url: string, signal: AbortSignal): Promise<string> {
  const { canParseAside, parseAside } = await import("@burin/machine/parsing/parse-aside");
  return canParseAside() ? parseAside("pdf", bytes, { what: `The PDF ${url}`, signal }) : "";
}

function inMb(bytes: Buffer): string {
  return `${Math.round(bytes.length / 1024 / 1024)} MB`;
}
