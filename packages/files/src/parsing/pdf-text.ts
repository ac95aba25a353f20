import { describeError } from "@burin/contract/text/error-message";
import { removeInvisible } from "@burin/contract/text/untrusted-text";
import { WebError } from "@burin/net/web-error";

/** A page takes some milliseconds; a document may have thousands. */
const MAX_MS = 20_000;

/**
 * Returns the text page by page; empty when the pages are images. Throws a WebError when the document cannot be read.
 */
export async function extractPdfText(bytes: Uint8Array): Promise<string> {
  const { getDocumentProxy } = await import("unpdf");
  // The reader takes ownership of the bytes.
  const document = await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 }).catch(
    (error: unknown) => {
      const why = describeError(error);
      throw new WebError("broken_content", `The PDF cannot be read: ${why.slice(0, 200)}`);
    },
  );
  try {
    const until = performance.now() + MAX_MS;
    const pages: string[] = [];
    let hasText = false;
    for (let number = 1; number <= document.numPages; number += 1) {
      const text = await extractPageText(await document.getPage(number));
      hasText ||= text !== "";
      pages.push(`[Page ${number} of ${document.numPages}]\n${text}`);
      if (performance.now() < until || number === document.numPages) continue;
      pages.push(`[The pages after ${number} were not read: that took too long]`);
      break;
    }
    return hasText ? removeInvisible(pages.join("\n\n")) : "";
  } finally {
    await document.loadingTask.destroy();
  }
}

type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof import("unpdf").getDocumentProxy>>["getPage"]>>;

async function extractPageText(page: PdfPage): Promise<string> {
  const { items } = await page.getTextContent();
  let text = "";
  for (const item of items) if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
  return text.trim();
}
